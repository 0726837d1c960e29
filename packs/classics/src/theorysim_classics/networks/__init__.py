"""Laws of learning dynamics that courses teach."""

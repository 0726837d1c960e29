"""Phase diagrams drawn by sweeps, each beside what theory says of its borders."""

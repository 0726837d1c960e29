"""The theorems, one package per paper and one module per statement; the registry finds them."""

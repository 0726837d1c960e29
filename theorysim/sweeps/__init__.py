"""Pure functions evaluated over a grid, tile by tile, into memory or a store."""

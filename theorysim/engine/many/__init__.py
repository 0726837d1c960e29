"""Verifying many statements: in this process, or on the machines of a Dask cluster."""

"""Tasks on workers: here or on the machines of a Dask cluster, with the same results."""

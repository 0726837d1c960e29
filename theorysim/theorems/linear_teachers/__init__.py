"""Shachaf, Brutzkus, Globerson: A Theoretical Analysis of Fine-tuning with Linear Teachers."""

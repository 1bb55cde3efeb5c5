"""Requests waiting for a model: jobs, their order, and batches of them."""

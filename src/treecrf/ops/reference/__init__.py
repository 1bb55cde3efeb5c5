"""Shared parts of the torch versions of all operations: semirings and back-propagation."""

"""What the torch versions of all operations share: semirings and back-propagation."""

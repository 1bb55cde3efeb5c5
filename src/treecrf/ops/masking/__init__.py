"""Masking of arc scores: -inf where no tree may use an arc."""

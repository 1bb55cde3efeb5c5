"""Scores of parses: attachment, CoNLL 2018, significance, calibration."""

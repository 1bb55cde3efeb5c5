"""Neural modules of parsers and segmenters."""

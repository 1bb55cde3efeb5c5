"""The service: parsers behind HTTP, for programs and for the page."""

"""The REST interface of UDPipe: `/models` and `/process`."""

"""From file to file: streams, and worker processes beside the device."""

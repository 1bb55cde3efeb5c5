"""Int8 arithmetic for networks: layers, conversion, and the kernels below them."""

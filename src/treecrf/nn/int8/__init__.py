"""How networks run on int8: layers, their conversion, and the kernels below them."""

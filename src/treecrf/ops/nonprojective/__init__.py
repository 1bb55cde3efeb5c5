"""Non-projective trees: the matrix-tree theorem and maximum spanning trees."""

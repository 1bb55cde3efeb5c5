"""From a treebank to a model: the loop, its optimiser, its files, several processes."""

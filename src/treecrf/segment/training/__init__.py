"""From a treebank's text to a segmenter: the text, windows of it, the loop, its scores."""

"""A small grammar of English with dependency trees, from which treebank.generator draws."""

"""Reading and writing: CoNLL-U, CoNLL-X and CoNLL-09, text, JSON lines, documents."""

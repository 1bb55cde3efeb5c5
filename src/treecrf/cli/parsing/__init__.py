"""Commands that read texts and write sentences: parse, segment, tag."""

"""From a batch of sentences to scores: readers, pretrained encoders, the scorer and its losses."""

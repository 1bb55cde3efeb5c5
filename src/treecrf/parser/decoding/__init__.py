"""From scores to trees: MBR, Viterbi, spanning trees, probabilities."""

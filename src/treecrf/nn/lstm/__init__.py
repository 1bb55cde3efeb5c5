"""LSTM layers with masked states: all steps in one CUDA kernel, or step by step in torch."""

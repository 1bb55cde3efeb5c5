"""The LSTM layers beside `nn.LSTM`: all steps in one CUDA kernel, or step by step in torch."""

"""Export of scorers to ONNX graphs, checked against torch, and parsing by onnxruntime."""

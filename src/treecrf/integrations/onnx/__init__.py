"""Scorers as ONNX graphs: written, checked against torch, and run by onnxruntime."""

__all__: list[str] = []

"""Transformer encoders: BERT, its wordpieces, and any encoder of Hugging Face."""

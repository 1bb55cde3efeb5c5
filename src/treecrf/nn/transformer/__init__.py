"""Transformer encoders: our BERT, its wordpieces, and those of Hugging Face."""

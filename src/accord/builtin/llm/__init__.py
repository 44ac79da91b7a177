"""The brain that asks a language model.

`brain.py` is light; everything else here imports pydantic-ai and is loaded with the first model.
"""

"""Which models there are, how they are reached, and the keys for them.

Nothing here imports a model library when it is loaded; `model_loader.py` does so when it is called.
"""

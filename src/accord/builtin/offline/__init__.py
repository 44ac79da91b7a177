"""The brain that needs no model: what was typed is matched, looked up in the code, and done.

What always holds
    * The same project and the same sentence give the same turn.
    * It says what it found or did, and where; what it does not know it does not say.
"""

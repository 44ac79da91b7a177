"""The protocol rules that a recording can break, and the validator that finds them."""

"""Repairs of JavaScript.  Pure, but for `node_check.py`, which asks node whether a text parses."""

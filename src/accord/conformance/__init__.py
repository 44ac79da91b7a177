"""The conformance kit: it judges agents and clients rule by rule, from outside.

Must not know: the code that it could be judging.  It speaks to a program through its own small
peer (`frames/raw_peer.py`), and reads messages with `accord.schema` and the standard library's
JSON only.
"""

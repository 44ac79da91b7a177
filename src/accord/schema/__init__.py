"""The wire types of ACP v1, v2 and the 2026-02 draft, and how they are read.

Must not know: when a message may be sent, who sends it, or how it travels.
"""

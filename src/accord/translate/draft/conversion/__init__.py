"""Conversions for both bridges to the 2026-02 draft: one file for each thing with two forms."""

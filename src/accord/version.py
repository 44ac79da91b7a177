"""The version, where everybody may read it without loading the package."""

__version__ = "0.1.0"

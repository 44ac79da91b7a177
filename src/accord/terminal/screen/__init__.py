"""The full screen, made with Textual."""

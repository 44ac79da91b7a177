"""Output of the line mode: printers, Markdown and text wrapping."""

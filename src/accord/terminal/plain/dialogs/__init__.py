"""Questions, forms and numbered lists of the line mode."""

"""The tool `fetch`, and the plain text of a web page."""

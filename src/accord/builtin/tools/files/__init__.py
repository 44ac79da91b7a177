"""The tools that read and change files, and the text operations that they use."""

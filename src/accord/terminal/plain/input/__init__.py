"""Keyboard and scripted input of the line mode."""

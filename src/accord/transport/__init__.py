"""How frames travel: memory, stdio, subprocess, and over a network."""

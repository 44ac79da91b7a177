"""How frames travel: memory, stdio and subprocess.  Bytes only; nothing here knows a message."""

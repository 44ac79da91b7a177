"""The agent's file changes: what is known about them, and how to keep or undo them."""

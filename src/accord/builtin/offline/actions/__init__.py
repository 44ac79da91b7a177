"""What the offline brain does for each intent: look up, edit, run, test, repair, help."""

"""What the agent changed in files: what is known of it, and how it is kept or taken back."""

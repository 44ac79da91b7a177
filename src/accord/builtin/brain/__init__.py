"""What decides what the built-in agent does next: a program, or a language model."""

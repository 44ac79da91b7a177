"""What only ACP v1 rules: the stop reasons of its prompts."""

"""Permission requests and rules as text, and the options offered to the user."""

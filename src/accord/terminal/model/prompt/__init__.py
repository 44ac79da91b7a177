"""What a user is about to say: words, what goes along with them, what was said before."""

"""The early form of version 2, which clients of that time still speak."""

"""Generic widgets that several screens use."""

"""Files beneath allowed directories, opened by handle so that a link cannot lead outside."""

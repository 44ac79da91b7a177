"""Reports of a run: a terminal table, JSON, JUnit XML, and a page of HTML."""

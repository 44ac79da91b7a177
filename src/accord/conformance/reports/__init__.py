"""What a run found, as a terminal table, as JSON, as JUnit XML and as one page of HTML."""

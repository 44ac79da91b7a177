"""Sessions of an agent: their state, record, tasks and turns."""

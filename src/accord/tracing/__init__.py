"""Records the messages between two programs, shows, validates and replays them.

`recorder/` makes a recording, `recording_file.py` is its format, `frames.py` classifies frames;
`display/` shows a recording, `validation/` finds broken rules and `replay.py` plays one side.
"""

"""Looking: what two programs said to each other, recorded, shown, judged and played again.

`recorder/` stands between them, `recording_file.py` is the file, `frames.py` says what each frame
is; on these stand the rows that people see (`display/`), the rules that were broken
(`validation/`) and the replay (`replay.py`).
"""

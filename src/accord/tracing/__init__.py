"""Looking: what two programs said to each other, recorded, shown, judged and played again.

`recorder.py` stands between them, `recording.py` is the file, `frames.py` says what each frame is;
on these stand the rows that people see (`rows.py`, `page.py`, `text.py`), the rules that were
broken (`validation.py`) and the replay (`replay.py`).
"""

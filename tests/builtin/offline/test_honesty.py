"""The offline brain says nothing that is not so, and shows no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builtin.offline.talk import talking, write


async def test_of_a_huge_file_nobody_claims_to_know_the_length(tmp_path: Path) -> None:
    """Issue: a file of 1 GB; never an invention.  It is read by windows and never counted."""
    (tmp_path / "huge.txt").write_text("a line of text\n" * 400_000)
    async with talking(tmp_path) as talk:
        assert "… and at least 1," in await talk.say("show huge.txt")
        assert "too large for me to read whole" in await talk.say("explain huge.txt")
        answer = await talk.say("find line of")
        assert "Not searched, for they have more than 4.2 MB: huge.txt." in answer


async def test_a_long_line_is_cut_and_that_is_said(tmp_path: Path) -> None:
    """Issue: every result capped, and says so."""
    (tmp_path / "long.txt").write_text("a" * 100_000)
    async with talking(tmp_path) as talk:
        answer = await talk.say("show long.txt")
        assert len(answer) < 1_000
        assert "Lines are cut after 500 characters." in answer


async def test_what_is_quoted_from_files_has_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: secrets never in output, also where the brain words it and not a tool."""
    monkeypatch.setenv("SOME_API_KEY", "sk-1234567890abcdef")
    write(tmp_path, {".env": "KEY=sk-1234567890abcdef\n", "a.py": 'key = "sk-1234567890abcdef"\n'})
    async with talking(tmp_path) as talk:
        for typed in ("show .env", "find sk-1234", "explain .env", "where is key", "explain key"):
            answer = await talk.say(typed)
            assert "sk-1234567890abcdef" not in answer
            assert "[secret]" in answer
        shown = "".join(call.text for call in talk.session.transcript.tool_calls)
        assert "sk-1234567890abcdef" not in shown

"""Diffs: v2's changes and patch as v1's two texts, or as a line of text without texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accord.translate.diffs import lines_of, quoted
from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, keep, take
from accord.translate.v2_agent.client_features import TranslationContext

VERBS: Final = {"add": "added", "delete": "deleted", "modify": "modified"}
PAIRS: Final = {"move": "moved", "copy": "copied"}
HEADER: Final = "diff --git "
# The lines of context of git and difflib; fewer of them after a change mean the file's end.
CONTEXT_LINES: Final = 3


@dataclass(slots=True)
class Hunk:
    """A part of a file, before and after the change."""

    old_start: int
    new_start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    trailing: int = 0
    """How many unchanged lines it ends with."""


def hunks_of(patch: str, path: str, *, only: bool) -> list[Hunk]:
    """Return the hunks of one file; with `only`, the patch must not have other files."""
    sections = _sections(patch)
    for name in (quoted(path), quoted(f"a{path}"), quoted(f"a/{path}")):
        if name in sections:
            return _hunks(sections[name])
    return _hunks(next(iter(sections.values()))) if only and len(sections) == 1 else []


def texts(
    hunks: Sequence[Hunk], path: str, read_text: Callable[[str], str | None]
) -> tuple[str, str] | None:
    """Return a file before and after the change; None if the texts are not known completely.

    The file may be there as it was or as it became.
    """
    if len(hunks) == 1:
        [hunk] = hunks
        if hunk.old_start <= 1 and hunk.new_start <= 1 and hunk.trailing < CONTEXT_LINES:
            return "".join(hunk.old), "".join(hunk.new)
    there = read_text(path) if hunks else None
    if there is None:
        return None
    lines = lines_of(there)
    after = _applied(lines, [(hunk.old_start, hunk.old, hunk.new) for hunk in hunks])
    if after is not None:
        return there, after
    before = _applied(lines, [(hunk.new_start, hunk.new, hunk.old) for hunk in hunks])
    return None if before is None else (before, there)


def _applied(lines: list[str], hunks: list[tuple[int, list[str], list[str]]]) -> str | None:
    found: list[str] = []
    at = 0
    for start, old, new in hunks:
        # An empty side names the line before it.
        begin = start - 1 if old else start
        if begin < at or lines[begin : begin + len(old)] != old:
            return None
        found += lines[at:begin]
        found += new
        at = begin + len(old)
    return "".join(found + lines[at:])


def _sections(patch: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in lines_of(patch):
        if line.startswith(HEADER):
            names = line[len(HEADER) :].rstrip("\n")
            lines = sections[names[: len(names) // 2]] = []
        else:
            lines.append(line)
    return sections


def _hunks(lines: Sequence[str]) -> list[Hunk]:
    found: list[Hunk] = []
    previous = ""
    for line in lines:
        mark = line[:1]
        if line.startswith("@@ "):
            starts = _starts(line)
            if starts is None:
                return []
            found.append(Hunk(*starts))
        elif not found:
            continue
        elif mark == "\\":
            _cut_end(found[-1], previous)
        elif mark in (" ", "-", "+"):
            _add(found[-1], mark, line[1:])
            previous = mark
    return found


def _starts(line: str) -> tuple[int, int] | None:
    words = line.split(" ")
    numbers = [word[1:].split(",")[0] for word in words[1:3]]
    if len(numbers) < 2 or not all(number.isdecimal() for number in numbers):
        return None
    return int(numbers[0]), int(numbers[1])


def _add(hunk: Hunk, mark: str, line: str) -> None:
    hunk.trailing = hunk.trailing + 1 if mark == " " else 0
    if mark != "+":
        hunk.old.append(line)
    if mark != "-":
        hunk.new.append(line)


def _cut_end(hunk: Hunk, previous: str) -> None:
    """Remove the newline of the last line."""
    if previous in (" ", "-") and hunk.old:
        hunk.old[-1] = hunk.old[-1].removesuffix("\n")
    if previous in (" ", "+") and hunk.new:
        hunk.new[-1] = hunk.new[-1].removesuffix("\n")


def diff_to_v1(diff: Json, context: TranslationContext) -> list[Json]:
    """Convert a diff to content of v1."""
    # The early drafts of v2 have the form of v1.
    early: Json = {name: diff[name] for name in ("path", "oldText", "newText") if name in diff}
    kept: Json = {**early, **take(diff, OFFICIAL)}
    exact = _kept_texts(diff, kept)
    if exact is not None:
        return [exact]
    changes: list[Json] = diff.get("changes") or []
    patch = _patch_text(diff)
    said = [_change_to_v1(one, patch, len(changes) == 1, context) for one in changes]
    if any(one["type"] == "content" for one in said):
        if patch is not None and not any(one["type"] == "diff" for one in said):
            # No file has texts: the patch shows more than a line for each file.
            said = [text_item(patch)]
        context.lost("diff")
    if not said:
        said = [text_item(patch or "no changes")]
    first, *others = said
    if first["type"] == "content":
        keep(first, OFFICIAL, "raw", diff)
    else:
        if isinstance(diff.get("_meta"), dict):
            first["_meta"] = diff["_meta"]
        keep(first, OFFICIAL, "changes", changes)
        if "patch" in diff:
            keep(first, OFFICIAL, "patch", diff["patch"])
    for other in others:
        keep(other, OFFICIAL, "continues", True)
    return said


def text_item(text: str) -> Json:
    """Make the content of a tool call from a text."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def _kept_texts(diff: Json, kept: Json) -> Json | None:
    """Return both texts of a diff that was v1's before."""
    path = kept.get("path", _only_path(diff))
    new_text = kept.get("newText")
    if not isinstance(path, str) or not isinstance(new_text, str):
        return None
    said: Json = {"type": "diff", "path": path, "newText": new_text}
    if isinstance(kept.get("oldText"), str) or ("oldText" in kept and kept["oldText"] is None):
        said["oldText"] = kept["oldText"]
    if "_meta" in diff:
        said["_meta"] = diff["_meta"]
    return said


def _only_path(diff: Json) -> Any:
    changes: list[Json] = diff.get("changes") or []
    return changes[0].get("path") if len(changes) == 1 else None


def _patch_text(diff: Json) -> str | None:
    patch = diff.get("patch")
    return patch["text"] if isinstance(patch, dict) and patch["format"] == "git_patch" else None


def _change_to_v1(change: Json, patch: str | None, only: bool, context: TranslationContext) -> Json:
    operation, path = change["operation"], change.get("path")
    if operation in PAIRS:
        return text_item(f"{PAIRS[operation]} {change['oldPath']} -> {path}")
    if operation not in VERBS:
        return text_item(f"{operation} {path or ''}".rstrip())
    assert isinstance(path, str)
    hunks = hunks_of(patch, path, only=only) if patch is not None else []
    found = _texts(
        operation, path, hunks, is_empty=patch is not None and not hunks, context=context
    )
    if found is None:
        return text_item(f"{VERBS[operation]} {path}")
    old_text, new_text = found
    said: Json = {"type": "diff", "path": path, "newText": new_text}
    if old_text is not None:
        said["oldText"] = old_text
    return said


def _texts(
    operation: str, path: str, hunks: list[Hunk], *, is_empty: bool, context: TranslationContext
) -> tuple[str | None, str] | None:
    read_text = context.around.read_text
    if operation == "delete":
        context.lost("deleted file")
        old = "".join(line for hunk in hunks for line in hunk.old) if hunks else read_text(path)
        return old or "", ""
    if operation == "add":
        if not hunks and not is_empty:
            return None
        return None, "".join(line for hunk in hunks for line in hunk.new)
    return texts(hunks, path, read_text)

"""The elements that editors put around what a person wrote, and what each of them holds.

Some editors send more than the message: avante repeats earlier ones, CodeCompanion and agentic.nvim
add files and selections as text, others tell about the machine.  All of it comes as elements with
known names; a name that is not in the table is a part of the text.

What always holds
    * Every character of a text is in exactly one piece, but for the tags themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

PieceKind = Literal["said", "asked", "earlier", "reply", "attached", "context"]

# `asked` is what the person wrote now, `said` is text that no element is around.
_KINDS: dict[PieceKind, str] = {
    "asked": "user_query user_request userrequest user_prompt user_message user_input "
    "current_user_message new_user_prompt new_user_message",
    "earlier": "previous_user_message",
    "reply": "previous_assistant_message",
    "attached": "attachment selected_code selection context file document code_snippet buffer",
    "context": "system_context system-context system_reminder system-reminder system_prompt "
    "environment_info environment_details environment_context environment workspace_info "
    "editor_context editorcontext open_files open_tabs recently_viewed_files diagnostics "
    "diagnostic memory memories rules project_rules user_rules reminderinstructions git_status "
    "cursor_position",
}
TAGS: dict[str, PieceKind] = {tag: kind for kind, tags in _KINDS.items() for tag in tags.split()}

_OPENING = re.compile(
    rf"^[ \t]*<(?P<tag>{'|'.join(sorted(TAGS, key=len, reverse=True))})(?P<attributes>\s[^<>]*)?>",
    re.MULTILINE | re.IGNORECASE,
)
_CLOSING = {tag: re.compile(rf"</{tag}>[ \t]*$", re.MULTILINE | re.IGNORECASE) for tag in TAGS}
_MESSAGES = ("asked", "earlier", "reply")
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_FENCED = re.compile(
    r"\A.*?^(?P<fence>```+)[^\n]*\n(?P<code>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE
)
_NUMBERED = re.compile(r"^Line \d+: ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text block.  A name and a line are those of an attached text."""

    kind: PieceKind
    text: str
    name: str = ""
    first_line: int | None = None


def pieces_of(text: str) -> Iterator[Piece]:
    """The pieces of one text block, in order."""
    whole = re.fullmatch(r"\s*<(?P<tag>[\w-]+)>(?P<body>.*)</(?P=tag)>\s*", text, re.DOTALL)
    kind = None if whole is None else TAGS.get(whole["tag"].lower())
    if whole is not None and kind in _MESSAGES and not _is_several(whole["body"], whole["tag"]):
        # The message inside may have such elements of its own; nothing of it is ours to take apart.
        yield Piece(kind, whole["body"].strip())
        return
    place = 0
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(text):
        tag = opening["tag"].lower()
        if opening.start() < place or tag in unclosed:
            continue
        closing = _CLOSING[tag].search(text, opening.end())
        if closing is None:
            # Nor will one that begins later be closed.
            unclosed.add(tag)
            continue
        if text[place : opening.start()].strip():
            yield Piece("said", text[place : opening.start()])
        yield _element(tag, opening["attributes"] or "", text[opening.end() : closing.start()])
        place = closing.end()
    if text[place:].strip():
        yield Piece("said", text[place:])


def _is_several(body: str, tag: str) -> bool:
    """Whether it is what stands between the first and the last tag of several elements."""
    return re.search(rf"</{tag}>\s*\n\s*<{tag}>", body) is not None


def _element(tag: str, given: str, body: str) -> Piece:
    kind = TAGS[tag]
    if kind != "attached":
        return Piece(kind, body.strip())
    attributes = {
        name.lower(): first or second for name, first, second in _ATTRIBUTE.findall(given)
    }
    named = next((attributes[key] for key in ("filepath", "path", "ref", "uri", "name", "src")
                  if attributes.get(key)), "") or _inner(body, "path")  # fmt: skip
    if not named and not _inner(body, "snippet"):
        return Piece("context", body.strip())
    line = _inner(body, "line_start")
    return Piece("attached", _code(body), named, int(line) if line.isdecimal() else None)


def _inner(body: str, tag: str) -> str:
    """What an element within an attached one holds."""
    match = re.search(rf"<{tag}>(.*?)</{tag}>", body, re.DOTALL)
    return "" if match is None else match[1].strip()


def _code(body: str) -> str:
    """The text itself, without the sentence and the fence around it."""
    snippet = re.search(r"<snippet>\n?(.*?)\n?</snippet>", body, re.DOTALL)
    if snippet is not None:
        return _NUMBERED.sub("", snippet[1])
    fenced = _FENCED.search(body)
    return fenced["code"] if fenced is not None else body.strip("\n")

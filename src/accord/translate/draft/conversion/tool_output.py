"""The output of a tool call: one value in the draft, a list of content in v1.

A diff of the draft has hunks alone, so the texts that v1 needs are read from the file, before or
after the change; where that cannot be done the diff is shown as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from accord.schema import draft, v1
from accord.translate.draft.conversion.content import is_block, placeholder
from accord.translate.draft.conversion.diff_hunks import (
    applied,
    hunks_of,
    patch_of,
    taken_back,
    unified,
)
from accord.translate.draft.conversion.meta_restore import fits, fits_openly, keep_all, tags
from accord.translate.draft.conversion.paths import resolved
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, kept

_TAGS = tags(v1.ToolCallContent)


class Surfaces(NamedTuple):
    """The files and terminals that an output refers to."""

    folder: str
    read_text: Callable[[str], str | None]
    has_terminal: Callable[[str], bool]
    # Whether this is for our own client, which reads hunks and streams in `_meta`.
    details: bool = False


def text_content(text: str) -> Json:
    """Make a content item of v1 from a text."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def contents_of(output: Json, surfaces: Surfaces, *, done: bool) -> list[Json]:
    """Convert an output to contents of v1; `done`: the change was already made."""
    kind = output.get("type")
    if kind == "text":
        return [text_content(output["text"])]
    if kind == "diff":
        return [_diff(output, surfaces, done=done)]
    if kind == "terminal":
        return _terminal(output, surfaces)
    return []


def _diff(output: Json, surfaces: Surfaces, *, done: bool) -> Json:
    path, hunks = resolved(output["path"], surfaces.folder), output["hunks"]
    if surfaces.details:
        made: Json = {"type": "diff", "path": path, "newText": ""}
        keep_all(made, {"patch": patch_of(hunks)})
        return made
    texts = _texts(surfaces.read_text(path), hunks, done=done)
    if texts is None:
        made = text_content(unified(output["path"], hunks))
    else:
        made = {"type": "diff", "path": path, "oldText": texts[0], "newText": texts[1]}
    keep_all(made, {"hunks": hunks})
    return made


def _texts(now: str | None, hunks: list[Json], *, done: bool) -> tuple[str, str] | None:
    if now is None:
        return None
    after, before = applied(now, hunks), taken_back(now, hunks)
    if before is not None and (done or after is None):
        return before, now
    return None if after is None else (now, after)


def _terminal(output: Json, surfaces: Surfaces) -> list[Json]:
    terminal_id = output["terminalId"]
    contents: list[Json] = []
    if surfaces.details:
        return [{"type": "terminal", "terminalId": terminal_id}]
    if surfaces.has_terminal(terminal_id):
        contents.append({"type": "terminal", "terminalId": terminal_id})
    text = "".join(output.get(stream) or "" for stream in ("stdout", "stderr"))
    if not contents and output.get("command") is not None:
        text = f"$ {output['command']}\n{text}"
    if text:
        contents.append(text_content(text))
    return contents


def output_of(contents: list[Json], raw_output: Any) -> Json | None:
    """Return the most informative output: the first diff, or a terminal, or all text."""
    for kind, build in (("diff", _diff_output), ("terminal", _terminal_output)):
        for content in contents:
            if content.get("type") == kind:
                return build(content)
    for content in contents:
        about = kept(content, DRAFT).get("terminal")
        if content.get("type") == "content" and isinstance(about, dict):
            output = _printed_output(about, content["content"].get("text", ""))
            if is_output(output):
                return output
    text = "\n".join(_shown(content) for content in contents)
    if text:
        return {"type": "text", "text": text}
    if isinstance(raw_output, str) and raw_output:
        return {"type": "text", "text": raw_output}
    return None


def _diff_output(content: Json) -> Json:
    made: Json = {
        "type": "diff",
        "path": content["path"],
        "hunks": hunks_of(content.get("oldText"), content["newText"]),
    }
    return made


def _terminal_output(content: Json) -> Json:
    return {"type": "terminal", "terminalId": content["terminalId"]}


def _printed_output(about: Json, text: str) -> Json:
    """Return the output of a command of our own agent, which v1 has as a text."""
    named = {name: about[name] for name in ("command",) if about.get(name) is not None}
    return {
        "type": "terminal",
        "terminalId": about.get("terminalId"),
        **named,
        "exitCode": about.get("exitCode"),
        "stdout": text,
        "stderr": "",
    }


def _shown(content: Json) -> str:
    if content.get("type") != "content":
        return f"[{content.get('type')}]"
    block = content["content"]
    return block["text"] if block["type"] == "text" else placeholder(block)


def says_all(output: Json | None, contents: list[Json] | None) -> bool:
    """Whether the contents can be restored from the output alone, on any machine."""
    return output is not None and contents == [text_content(output.get("text", ""))]


def is_output(value: Any) -> bool:
    """Whether a value is an output of the draft."""
    return isinstance(value, dict) and fits(draft.ToolCallOutput, value)


def are_contents(value: Any) -> bool:
    """Whether a value is a list of contents of v1."""
    return isinstance(value, list) and all(_is_content(one) for one in value)


def _is_content(value: Any) -> bool:
    if isinstance(value, dict) and value.get("type") == "content":
        return is_block(value.get("content"))
    return fits_openly(v1.ToolCallContent, value, "type", _TAGS)

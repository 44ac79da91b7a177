"""What a plain English request asks a coding agent to do."""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
_FILE = re.compile(r"(?<![\w/.])((?:\.{0,2}/)?[\w.\-/]*\w\.[A-Za-z]\w{0,4})(?!\w)")
_SLOW = re.compile(
    r"\b(slow|slowly|long|essay|story|poem|count|one by one|numbers from|paragraphs|minute)\b"
)
_COMMAND = re.compile(
    r"\b(?:run|execute|start)\b(?:\s+(?:the|this|a|following|shell|terminal|command|program)\b)*"
    r"\s*:?\s*(.+)",
    re.I | re.S,
)

_REPLACE = re.compile(
    r"\b(?:replace|change|swap)\b(?:\s+the)?(?:\s+words?|\s+text)?\s+"
    r"(\".+?\"|'.+?'|`.+?`|\S+)\s+(?:with|by|to|for|into)(?:\s+the)?(?:\s+words?|\s+text)?\s+"
    r"(\".+?\"|'.+?'|`.+?`|\S+)\s+in\b",
    re.I,
)
_QUOTES = "\"'`"


@dataclass(frozen=True)
class Request:
    """One wish: `kind` is say, slow, read, edit, replace, rename, run, plan, mode, recall, help."""

    kind: str
    path: str = ""
    text: str = ""
    other: str = ""


def read_request(prompt: str) -> Request:
    """The best guess at what the text asks for."""
    words = prompt.strip()
    low = words.lower()
    if words.startswith("/"):
        name, _, rest = words[1:].partition(" ")
        return Request(name if name in ("plan", "help") else "say", text=rest)
    quoted = [next(part for part in found if part) for found in _QUOTED.findall(words)]
    files = [each for each in quoted if _FILE.fullmatch(each)] or _FILE.findall(words)
    texts = [each for each in quoted if each not in files]
    if re.search(r"\b(make|write|give)\b.*\bplan\b", low):
        return Request("plan", text=words)
    if re.search(r"\brename\b|\bmove\b", low) and len(files) > 1:
        return Request("rename", files[0], other=files[1])
    if re.search(r"\brecall\b|\bmcp\b", low):
        return Request("recall")
    if re.search(r"\b(switch|change|set|go)\b.*\bmode\b", low):
        return Request("mode", text=low)
    found = _COMMAND.search(words)
    if found and re.search(r"\b(run|execute|command|terminal|shell)\b", low):
        return Request("run", text=texts[0] if texts else _bare_command(found.group(1)))
    return _read_file_request(words, low, files, texts)


def _read_file_request(words: str, low: str, files: list[str], texts: list[str]) -> Request:
    if files:
        path = files[0]
        if found := _REPLACE.search(words):
            return Request(
                "replace", path, found.group(1).strip(_QUOTES), found.group(2).strip(_QUOTES)
            )
        if re.search(r"\b(create|write|make|put|save|edit|add|append|change|set|update)\b", low):
            said = re.search(
                r"(?:the\s+)?(?:text|content|contents|containing|saying|line|word|words)\b"
                r"(?:\s+is|\s+of)?\s*:?\s*([^\n]+)",
                re.sub(re.escape(path), "", words),
                re.I,
            )
            text = texts[0] if texts else said.group(1).strip(" .") if said else "hello"
            text = re.sub(r"\s+(?:in|into|to)(?:\s+the)?(?:\s+file)?$", "", text)
            return Request("edit", path, text)
        if re.search(r"\b(read|show|open|print|look|tell|what|contents?|summari[sz]e)\b", low):
            return Request("read", path)
    if _SLOW.search(low):
        return Request("slow", text=words)
    return Request("say", text=words)


def _bare_command(rest: str) -> str:
    line = rest.strip().splitlines()[0]
    line = line.split(": ", 1)[-1]
    line = re.split(r"\s+(?:and (?:tell|show|say|report|give|then)|then|in the terminal)\b", line)[
        0
    ]
    return line.strip().strip(".,;`\"'")

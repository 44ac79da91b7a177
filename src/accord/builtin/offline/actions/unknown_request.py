"""Answers requests that the offline brain does not understand by searching for their words.

It never invents an answer: it says what it found, where, and what to type instead.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict

from accord.builtin.offline.answer_format import bullets, counted, listed
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.known_programs import PROGRAMS
from accord.builtin.offline.source_code.project_texts import Project
from accord.builtin.offline.source_code.references import definitions_of
from accord.builtin.offline.source_code.symbols import language_of
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.search.glob_grep import Match

FILES_SHOWN_MAX = 8

NEAR = 0.7
"""The similarity from which a name is suggested."""

NAMES_MAX = 5_000
"""Names of the project that one is compared with."""

_DEFINITION = re.compile(
    r"^[ \t]*(?:export |pub |async |static |public )*"
    r"(?:def|class|function|fn|func|interface|struct|enum|const|let|var) +(\w+)",
    re.MULTILINE,
)

NO_MODEL = (
    "No language model is in use, so I only do what I can look up or work out exactly. "
    "`/model` explains how to use one; `/help` shows what I understand."
)


async def unknown(work: Work, intent: Intent) -> None:
    """Answer a sentence that no pattern matches."""
    words = intent.get("words") or ""
    await search_words(work, words, "I do not understand that without a model.")


async def half_understood(work: Work, intent: Intent) -> None:
    """Answer a sentence of which only one part is understood."""
    await work.say(
        f"I understood “{intent['understood']}”, but not “{intent['missed']}”, so I have done "
        f"nothing yet. Type `{intent['understood']}` for that part alone.",
        *_what_else(work),
    )


async def search_words(work: Work, words: str, head: str) -> None:
    """Search for words, and say what was found and what to do next."""
    every = [word for word in re.split(r"[\s]+", words) if word]
    if not every:
        await work.say(head, *_what_else(work))
        return
    project = await work.project()
    pattern = "|".join(_pattern(word) for word in every)
    result = await work.tools.grep(pattern, ignore_case=True)
    data = result.data if result.ok and isinstance(result.data, list) else []
    matches = [one for one in data if isinstance(one, Match)]
    defined = [
        one
        for word in every
        for one in await work.compute(definitions_of, dict(project.files), word)
    ]
    found = ""
    quoted = ", ".join(f"“{word}”" for word in every)
    if defined:
        lines = bullets(
            f"`{one.place}` `{one.symbol.signature}`" for one in defined[:FILES_SHOWN_MAX]
        )
        found = f"Defined here:\n\n{lines}"
    named = list(dict.fromkeys(path for word in every for path in project.find(word)))
    if named:
        lines = bullets((f"`{path}`" for path in named), FILES_SHOWN_MAX)
        found = f"{found}\n\nFiles with that name:\n\n{lines}".strip()
    files = _by_file(project, matches, every)
    listing = ""
    if files:
        # Notes mean that the search was incomplete.
        least = "at least " if result.notes else ""
        number = f"{least}{counted(len(files), 'file')} {'has' if len(files) == 1 else 'have'}"
        what = "it" if len(every) == 1 else "at least one of them"
        listing = f"I searched for {quoted}; {number} {what}:\n\n{bullets(files, FILES_SHOWN_MAX)}"
    elif not found:
        near = await near_to(work, project, every[0]) if len(every) == 1 else ""
        listing = f"I searched for {quoted} and found nothing. {near}".strip()
    await work.say(head, found, listing, *_what_else(work))


def _what_else(work: Work) -> tuple[str, ...]:
    """Advice for a request that was not understood."""
    if work.model is not None:
        return (f"Write it without the slash, and `{work.model}` answers.",)
    return (_hints(work.message.text), NO_MODEL)


async def near_to(work: Work, project: Project, name: str) -> str:
    """A sentence with similar names and files of the project, if any."""
    names = await work.compute(_defined, project)
    files = {path.rpartition("/")[2]: path for path in reversed(project.paths)}
    last = re.split(r"[./:#]", name)[-1] if "." not in name else name
    near = difflib.get_close_matches(last, names, n=3, cutoff=NEAR)
    near += [files[one] for one in difflib.get_close_matches(name, files, n=2, cutoff=NEAR)]
    return f"Similar names: {listed(near)}." if near else ""


def _defined(project: Project) -> list[str]:
    found = {
        name: None
        for path, text in project.files.items()
        if language_of(path) is not None
        for name in _DEFINITION.findall(text)
    }
    return list(found)[:NAMES_MAX]


def _pattern(word: str) -> str:
    """A pattern for a word; a short one must be a whole word."""
    return re.escape(word) if len(word) > 2 else rf"\b{re.escape(word)}\b"


def _by_file(project: Project, matches: list[Match], words: list[str]) -> list[str]:
    """A line for each file, those with most of the words first."""
    lines: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        path = match.path
        for root in project.roots:
            path = path.removeprefix(root.rstrip("/") + "/")
        lines[path].append(match)

    def rank(path: str) -> tuple[int, int, str]:
        text = "\n".join(match.text.lower() for match in lines[path])
        return (-sum(word.lower() in text for word in words), -len(lines[path]), path)

    return [
        f"`{path}:{lines[path][0].line}`: `{lines[path][0].text.strip()[:160]}`"
        + (
            f" and {counted(len(lines[path]) - 1, 'more line', 'more lines')}"
            if len(lines[path]) > 1
            else ""
        )
        for path in sorted(lines, key=rank)
    ]


def _hints(text: str) -> str:
    """A hint what to type instead, by the words of the sentence."""
    lowered = text.lower()
    line = re.sub(r"^(?:please |can you |could you )*(?:run|execute) ", "", lowered)
    if line.partition(" ")[0] in PROGRAMS and "\n" not in text.strip():
        start = len(lowered) - len(line)
        return f"If it is a command, put a `$` before it: `$ {text[start:].strip()[:200]}`."
    if re.search(r"\b(add|write|create|implement|build|make|support|refactor|improve)\b", lowered):
        first = " ".join(text.split())[:120]
        return f"For a change that needs thought I can draw up a plan to tick off: `/plan {first}`."
    if re.search(r"\b(bug|error|fail|broken|crash|wrong)", lowered):
        return "If something fails: `run the tests`, then `fix it`."
    return (
        "Things that work: `what is this project?`, `explain NAME`, `who calls NAME`, `find TEXT`."
    )

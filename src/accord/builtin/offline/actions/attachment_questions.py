"""Answers questions about attachments, the contents of a file, and the words of a question."""

from __future__ import annotations

from accord.builtin.offline.actions import code_questions
from accord.builtin.offline.actions.unknown_request import search_words
from accord.builtin.offline.answer_format import bullets, first_sentence
from accord.builtin.offline.prompt.arguments import looks_like_path
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.source_code.word_search import Finding, about, telling, words_in
from accord.builtin.offline.turn_context import Place, Work


def is_about_this(intent: Intent) -> bool:
    """Whether a sentence asks about something that it does not name."""
    return intent.name == "explain" and intent["target"].lower() in code_questions.THIS


async def contents(work: Work, intent: Intent) -> None:
    """Show the contents of a file, a folder or a symbol."""
    target = intent["path"]
    if target.lower() in code_questions.THIS and work.message.attached:
        attached = work.message.attached[0]
        target = work.path_of(attached)
    project = await work.project()
    if looks_like_path(target) and not project.below(target) and not target.endswith("/"):
        await code_questions.show_file(work, Intent("show", {"path": target}))
    else:
        await code_questions.explain(work, Intent("explain", {"target": target}))


async def about_words(work: Work, intent: Intent) -> None:
    """List definitions that match the words of a question."""
    words = telling(list(dict.fromkeys(words_in(intent["words"]))))
    project = await work.project()
    found, is_all = await work.compute(about, project.files, words)
    quoted = " and ".join(f"“{word}”" for word in words)
    if not found:
        read = "that I read here" if is_all and not project.is_cut else "in the files that I read"
        which = f"all of {quoted}, or similar words," if len(words) > 1 else f"{quoted}"
        head = f"No function or class {read} has {which} in its name, its docstring or its code."
        await search_words(work, intent["words"], head)
        return
    places: list[Place] = [(one.definition.path, one.definition.symbol.line) for one in found]
    lines = "\n".join(f"{one.definition.place}: {one.definition.symbol.signature}" for one in found)
    await work.looked(f"Look for {' and '.join(words)}", "symbols", {"words": words}, places, lines)
    named = [one for one in found if one.is_named_so]
    others = [one for one in found if not one.is_named_so]
    cut = "The project is larger than the part that I read." if project.is_cut or not is_all else ""
    await work.say(
        f"By their names and docstrings, these are about {quoted}:\n\n{_listed(named, words)}"
        if named
        else "",
        f"The code of these contains {quoted}, or similar words:\n\n{_listed(others, words)}"
        if others
        else "",
        cut,
        "I compared words only; `explain NAME` shows what one of them does.",
    )


def _listed(found: list[Finding], words: list[str]) -> str:
    return bullets(_line(one, words) for one in found)


def _line(one: Finding, words: list[str]) -> str:
    symbol = one.definition.symbol
    said = f": {first_sentence(symbol.doc)}" if symbol.doc else ""
    own = [word for name in words for word in words_in(name)]
    # Name the matching words that differ from those of the question.
    other = [word for word in one.words if not any(word[:4] == mine[:4] for mine in own)]
    meant = f" (matches {', '.join(f'“{word}”' for word in other)})" if other else ""
    return f"`{one.definition.place}` `{symbol.signature}`{meant}{said}"

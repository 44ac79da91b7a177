"""Actions that answer questions about the code and attachments.  Nothing here changes a file."""

from __future__ import annotations

import re

from accord.builtin.offline.actions.unknown_request import near_to, search_words
from accord.builtin.offline.answer_format import (
    as_sentence,
    bullets,
    counted,
    fenced,
    first_sentence,
    listed,
)
from accord.builtin.offline.prompt.arguments import looks_like_path
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.message import Attached
from accord.builtin.offline.source_code.descriptions import (
    describe_file,
    describe_part,
    describe_symbol,
)
from accord.builtin.offline.source_code.project_overview import NO_FILES, overview
from accord.builtin.offline.source_code.project_texts import Project
from accord.builtin.offline.source_code.references import (
    Definition,
    Use,
    definitions_of,
    is_test,
    uses_of,
)
from accord.builtin.offline.source_code.symbols import language_of
from accord.builtin.offline.source_code.word_search import Finding, about, telling, words_in
from accord.builtin.offline.turn_context import Place, Work
from accord.builtin.tools.files.read import lines_in
from accord.builtin.tools.search.glob_grep import Match

SHOWN_LINES_MAX = 200
"""Lines of a file that an answer shows."""

PART_LINES = 40
"""Lines that are read of a part without a known end."""

ATTACHED_MAX = 5
"""Things that came with a prompt that one answer explains."""

SHOWN_CHARACTERS_MAX = 500
"""Characters that it shows of one line."""


async def show_map(work: Work, intent: Intent) -> None:
    """Describe the project and its largest modules."""
    await work.turn.think("I look at the files, then at what they define.")
    plan = await work.turn.plan("List the files", "Read what they define", "Sum it up")
    await plan.start(0)
    listing = await work.tools.glob("**")
    await plan.complete(0)
    await plan.start(1)
    project = await work.project()
    if any(path.lower().startswith("readme") for path in project.paths):
        await work.tools.read(next(p for p in project.paths if p.lower().startswith("readme")))
    await plan.complete(1)
    await plan.start(2)
    command = await work.test_command()
    name = project.root.rstrip("/").rpartition("/")[2] or project.root
    line = None if command is None else command.line
    text = await work.compute(overview, name, project.paths, project.files, line)
    await plan.complete(2)
    cut = "The project is larger than I read; this covers the first part." if project.is_cut else ""
    tips = "Ask me to `explain` a file or a name, to `run the tests`, or `help`."
    await work.say(text if listing.ok else listing.text, cut, tips)


async def show_files(work: Work, intent: Intent) -> None:
    """List the project's files."""
    await work.tools.glob("**")
    project = await work.project()
    if not project.paths:
        await work.say(NO_FILES)
        return
    await work.say(
        f"{counted(len(project.paths), 'file')}:", bullets(f"`{p}`" for p in project.paths)
    )


async def show_file(work: Work, intent: Intent) -> None:
    """Show a file, from a line on if one is named."""
    target = intent["path"]
    texts = work.embedded()
    project = await work.project()
    found = project.find(target)
    if len(found) > 1:
        chosen = await work.choose(f"Which {target}?", found[:ITEMS])
        if chosen is None:
            await work.say(f"Several files match: {listed(found)}. Name one with its folder.")
            return
        found = (chosen,)
    path = found[0] if found else target
    line = int(intent["line"]) if intent.get("line") else None
    text = texts.get(path)
    notes: tuple[str, ...] = ()
    if text is None:
        result = await work.tools.read(path, line)
        if not result.ok or not isinstance(result.data, str):
            await work.say(result.text, await _near(work, project, path, result.text))
            return
        text, notes = result.data, result.notes
    lines = text.split("\n")
    shown = "\n".join(line[:SHOWN_CHARACTERS_MAX] for line in lines[:SHOWN_LINES_MAX])
    rest = lines_in(text) - SHOWN_LINES_MAX
    # Only a part may have been read; then the number of the rest is unknown.
    at_least = "at least " if any("continue with" in note for note in notes) else ""
    more = f"… and {at_least}{counted(rest, 'more line', 'more lines')}" if rest > 0 else ""
    if any(len(line) > SHOWN_CHARACTERS_MAX for line in lines[:SHOWN_LINES_MAX]):
        more = f"{more}\n\nLines are cut after {SHOWN_CHARACTERS_MAX} characters.".strip()
    await work.say(f"`{path}`:", fenced(shown, (language_of(path) or "").lower()), more)


ITEMS = 20

THIS = frozenset(
    """this it that these code file function method class module snippet selection part lines line
    block text symbol""".split()  # noqa: SIM905
)
"""Words that refer to what came with the prompt."""


async def explain(work: Work, intent: Intent) -> None:
    """Explain a file, a folder or a symbol."""
    target = intent["target"]
    project = await work.project(target)
    if target.lower() in THIS and work.message.attached:
        await _explain_attached(work, project)
    elif target.lower() in ("this", "it", "that", "these"):
        await work.say(
            "Explain what? Name a file or a symbol (`explain calc.py`), or attach one with `@`."
        )
    else:
        await _explain_named(work, project, target)


async def _explain_attached(work: Work, project: Project) -> None:
    """Everything that came with the prompt, within a bound."""
    every = work.message.attached
    for attached in every[:ATTACHED_MAX]:
        path = work.path_of(attached)
        if attached.is_part and (attached.first_line is not None or not project.find(path)):
            await _explain_part(work, project, attached)
        elif attached.text is None and "://" in path:
            await work.say(f"`{path}` came as a link without its text, and it is not a file here.")
        else:
            await _explain_named(work, project, path)
    if len(every) > ATTACHED_MAX:
        await work.say(f"These are the first {ATTACHED_MAX} of {len(every)} that you attached.")


async def _explain_named(work: Work, project: Project, target: str) -> None:
    """A file, a folder or a symbol, whichever has the name."""
    paths = project.find(target)
    if len(paths) == 1:
        await _explain_file(work, project, paths[0])
        return
    if len(paths) > 1:
        chosen = await work.choose(f"Which {target}?", paths[:ITEMS])
        if chosen is not None:
            await _explain_file(work, project, chosen)
        else:
            await work.say(f"Several files match: {listed(paths)}. Name one with its folder.")
        return
    inside = project.below(target)
    if inside:
        await _explain_folder(work, project, target, inside)
        return
    if looks_like_path(target):
        # The tool explains why a missing file cannot be read.
        result = await work.tools.read(target)
        data = result.data
        if result.ok and isinstance(data, str):
            await _explain_file(work, project.with_texts({target: data}), target)
        else:
            await work.say(result.text, await _near(work, project, target, result.text))
        return
    stems = project.by_stem(target)
    if len(stems) == 1 and not await work.compute(definitions_of, dict(project.files), target):
        await _explain_file(work, project, stems[0])
        return
    definition = await one_definition(work, project, target)
    if definition is not None:
        await _explain_symbol(work, project, definition)


async def _explain_part(work: Work, project: Project, attached: Attached) -> None:
    """Some lines of a file, or a text of no file."""
    path, text, first = work.path_of(attached), attached.text, attached.first_line
    if text is None:
        last = attached.last_line
        number = PART_LINES if first is None or last is None else max(last - first + 1, 1)
        result = await work.tools.read(path, first, number)
        if not result.ok or not isinstance(result.data, str):
            await work.say(result.text)
            return
        text = result.data
    await work.say(await work.compute(describe_part, path, text, first, dict(project.files)))


async def _near(work: Work, project: Project, target: str, said: str) -> str:
    """Suggest similar files for a missing one, unless the tool has done so."""
    if not said.startswith("There is no file") or "Similar names" in said:
        return ""
    return await near_to(work, project, target.rpartition("/")[2])


async def _explain_file(work: Work, project: Project, path: str) -> None:
    text = project.files.get(path)
    if path not in work.embedded():
        result = await work.tools.read(path)
        if not result.ok:
            await work.say(result.text)
            return
        # The client's unsaved text counts, not the text on disk.
        text = await work.tools.text(path) or text
        if text is None:
            await work.say(
                f"`{path}` is too large for me to read whole. `show {path}` shows its first "
                f"lines, `show {path}:1000` the lines from 1000 on."
            )
            return
    project = project.with_texts({path: text or ""})
    await work.say(await work.compute(describe_file, path, dict(project.files)))


async def _explain_folder(
    work: Work, project: Project, folder: str, inside: tuple[str, ...]
) -> None:
    await work.tools.glob(f"{folder.strip('/')}/**")
    texts = {path: project.files[path] for path in inside if path in project.files}
    await work.say(await work.compute(overview, folder.strip("/"), inside, texts, None))


async def _explain_symbol(work: Work, project: Project, definition: Definition) -> None:
    symbol = definition.symbol
    length = min(symbol.end_line - symbol.line + 1, SHOWN_LINES_MAX)
    if definition.path not in work.embedded():
        await work.tools.read(definition.path, symbol.line, length)
    uses = await work.compute(all_uses, project, symbol.name)
    await work.say(describe_symbol(definition, project.files[definition.path], uses))


async def one_definition(work: Work, project: Project, name: str) -> Definition | None:
    """The definition that is meant; if there are several, the user is asked or sees them all."""
    found = await work.compute(definitions_of, dict(project.files), name)
    places: list[Place] = [(one.path, one.symbol.line) for one in found]
    lines = "\n".join(f"{one.place}: {one.symbol.signature}" for one in found[:ITEMS])
    title = f"Look up {name}"
    await work.looked(title, "symbols", {"name": name}, places, lines or "no definition found")
    if len(found) == 1:
        return found[0]
    if not found:
        await search_words(work, name, f"I found no definition of `{name}` in this project.")
        return None
    plain = [one for one in found if not is_test(one.path)]
    if len(plain) == 1:
        return plain[0]
    labels = {f"{one.symbol.qualified} ({one.place})": one for one in found[:ITEMS]}
    chosen = await work.choose(f"{name} is defined {len(found)} times.", list(labels))
    if chosen is not None:
        return labels[chosen]
    await work.say(
        f"`{name}` is defined {len(found)} times:",
        bullets(f"`{one.place}` `{one.symbol.qualified}`" for one in found),
        f"Use the full name, such as `{found[0].symbol.qualified}` "
        f"or `{found[0].path.rpartition('.')[0].replace('/', '.')}.{found[0].symbol.qualified}`.",
    )
    return None


async def where(work: Work, intent: Intent) -> None:
    """Show where a name is defined."""
    name = intent["name"]
    project = await work.project(name)
    paths = project.find(name)
    found = await work.compute(definitions_of, dict(project.files), name)
    if paths and not found:
        await work.looked(f"Find {name}", "glob", {"name": name}, [(p, 1) for p in paths], name)
        await work.say(f"It is {listed(paths)}.")
        return
    if not found and project.below(name):
        inside = project.below(name)
        await work.tools.glob(f"{name.strip('/')}/**")
        await work.say(
            f"`{name}/` is a folder with {counted(len(inside), 'file')}:", bullets(inside)
        )
        return
    if not found:
        await search_words(work, name, f"I found no definition of `{name}` in this project.")
        return
    places: list[Place] = [(one.path, one.symbol.line) for one in found]
    lines = "\n".join(f"{one.place}: {one.symbol.signature}" for one in found[:ITEMS])
    await work.looked(f"Find where {name} is defined", "symbols", {"name": name}, places, lines)
    if len(found) == 1:
        one = found[0]
        text = project.files[one.path].split("\n")
        code = "\n".join(text[one.symbol.line - 1 : min(one.symbol.end_line, one.symbol.line + 11)])
        language = (language_of(one.path) or "").lower()
        await work.say(
            f"`{one.symbol.qualified}` is defined in `{one.place}`:", fenced(code, language)
        )
        return
    await work.say(
        f"`{name}` is defined in {counted(len(found), 'place')}:",
        bullets(f"`{one.place}` `{one.symbol.signature}`" for one in found),
    )


def all_uses(project: Project, name: str) -> list[tuple[str, Use]]:
    """Every use of a plain name, code before its tests."""
    plain = re.split(r"\.|::|#", name)[-1]
    found = [
        (path, use)
        for path, text in project.files.items()
        if _has_symbols(path)
        for use in uses_of(path, text, plain)
    ]
    return sorted(found, key=lambda one: (is_test(one[0]), one[0], one[1].line))


def _has_symbols(path: str) -> bool:
    return language_of(path) not in (None, "Markdown", "reStructuredText", "TOML", "YAML", "JSON")


async def callers(work: Work, intent: Intent) -> None:
    """List the places that call or use a name."""
    name = intent["name"]
    project = await work.project(name)
    every = await work.compute(all_uses, project, name)
    uses = [(path, use) for path, use in every if use.kind != "definition"]
    calls = [(path, use) for path, use in uses if use.kind == "call"]
    shown = calls or uses
    places: list[Place] = [(path, use.line) for path, use in shown]
    lines = "\n".join(f"{path}:{use.line}: {use.text}" for path, use in shown[:ITEMS])
    title = f"Find uses of {name}"
    await work.looked(title, "references", {"name": name}, places, lines or "no uses found")
    if not uses:
        if definitions_of(dict(project.files), name):
            await work.say(
                f"`{name}` is defined, but I found nothing in this project that uses it."
            )
        else:
            await search_words(work, name, f"I found no use of `{name}` in this project.")
        return
    files = {path for path, _ in shown}
    word = "called" if calls else "used"
    others = len(uses) - len(calls)
    more = f"It is also named in {counted(others, 'other place')}." if calls and others else ""
    await work.say(
        f"`{name}` is {word} in {counted(len(shown), 'place')} in {counted(len(files), 'file')}:",
        bullets(
            f"`{path}:{use.line}`{f' in `{use.inside}`' if use.inside else ''}: `{use.text}`"
            for path, use in shown
        ),
        more,
    )


async def find(work: Work, intent: Intent) -> None:
    """Search all files for a text."""
    text = intent["text"]
    result = await work.tools.grep(re.escape(text))
    if not result.ok:
        await work.say(result.text)
        return
    found = result.data if isinstance(result.data, list) else []
    if not found:
        result = await work.tools.grep(re.escape(text), ignore_case=True)
        found = result.data if isinstance(result.data, list) else []
    matches = [one for one in found if isinstance(one, Match)]
    notes = "\n".join(as_sentence(note) for note in result.notes)
    if not matches:
        await work.say(f"No file that I searched contains “{text}”.", notes)
        return
    project = await work.project()
    files = {one.path for one in matches}
    await work.say(
        f"“{text}” is in {counted(len(matches), 'line')} in {counted(len(files), 'file')}:",
        bullets(
            f"`{shorter(project, one.path)}:{one.line}`: `{one.text.strip()}`" for one in matches
        ),
        notes,
    )


def shorter(project: Project, path: str) -> str:
    """A path relative to the project."""
    for root in project.roots:
        path = path.removeprefix(root.rstrip("/") + "/")
    return path


def is_about_this(intent: Intent) -> bool:
    """Whether a sentence asks about something that it does not name."""
    return intent.name == "explain" and intent["target"].lower() in THIS


async def contents(work: Work, intent: Intent) -> None:
    """Show the contents of a file, a folder or a symbol."""
    target = intent["path"]
    if target.lower() in THIS and work.message.attached:
        attached = work.message.attached[0]
        target = work.path_of(attached)
    project = await work.project()
    if looks_like_path(target) and not project.below(target) and not target.endswith("/"):
        await show_file(work, Intent("show", {"path": target}))
    else:
        await explain(work, Intent("explain", {"target": target}))


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

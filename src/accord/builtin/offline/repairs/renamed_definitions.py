"""A definition that was renamed while its uses were not.

If the old name is used and the new one is not, the definition is renamed back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from accord.builtin.offline.repairs.name_replacements import Repair, with_words
from accord.builtin.offline.repairs.similar_names import likeness
from accord.builtin.offline.source_code.references import definitions_of, is_test, uses_of
from accord.builtin.offline.source_code.symbols import parsed

# An unused name may differ more from the name that is missing.
UNUSED_NEARNESS_MIN = 0.35

CANDIDATES_MAX = 2


def renamed_back(files: Mapping[str, str], wrong: str, names: Iterable[str]) -> Iterator[Repair]:
    """The repairs that give one of these names the name back that its users have."""
    count = _users(files, wrong)
    if count < 2:
        return
    ranked = sorted(
        ((likeness(wrong, name), name) for name in set(names) if not _is_special(name)),
        reverse=True,
    )
    found = 0
    for alike, name in ranked:
        if alike < UNUSED_NEARNESS_MIN or found == CANDIDATES_MAX:
            return
        repair = _renamed(files, wrong, name, count, alike)
        if repair is not None:
            found += 1
            yield repair


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _renamed(
    files: Mapping[str, str], wrong: str, name: str, count: int, alike: float
) -> Repair | None:
    homes = [
        one
        for one in definitions_of(dict(files), name)
        if one.path.endswith(".py") and not is_test(one.path)
    ]
    paths = {one.path for one in homes}
    if len(paths) != 1 or any(one.symbol.name == wrong for one in homes):
        return None
    path = paths.pop()
    places = _uses(files, name)
    inside = [place for place in places if place[0] == path]
    if len(inside) < len(places) or len(inside) >= count:
        return None
    changed = with_words(files[path], name, wrong)
    if changed is None or not isinstance(parsed(changed), ast.Module):
        return None
    nobody = "nothing else uses" if not inside else "nothing outside its file uses"
    why = f"{count} places use `{wrong}`, which is not defined; {nobody} `{name}`, "
    why += "so it gets that name back."
    return Repair(path, changed, homes[0].symbol.line, why, 0.75 + 0.2 * alike)


def _uses(files: Mapping[str, str], name: str) -> set[tuple[str, int, bool]]:
    """Where a name is used and whether that imports it, without its definitions."""
    return {
        (path, use.line, use.kind == "import")
        for path, text in files.items()
        if path.endswith(".py")
        for use in uses_of(path, text, name)
        if use.kind != "definition"
    }


def _users(files: Mapping[str, str], name: str) -> int:
    """How many places would have to change: one that imports it and uses it is one."""
    places = _uses(files, name)
    importing = {path for path, _line, imports in places if imports}
    return sum(not imports for _path, _line, imports in places) + max(len(importing) - 1, 0)

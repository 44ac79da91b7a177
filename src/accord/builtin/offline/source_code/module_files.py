"""Which file of a project an import means.

Pure: it knows the paths of the project's files, relative and with slashes, and no disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from accord.builtin.offline.source_code.references import is_test

# Folders that projects put their packages in.
SOURCE_FOLDERS = ("", "src", "lib", "python")


def file_of(paths: Collection[str], importer: str, module: str, level: int = 0) -> str | None:
    """The file that `module` is, as imported by a file; None when it is none of the project's."""
    parts = [part for part in module.split(".") if part]
    folder = importer.rpartition("/")[0]
    if level:
        base = folder.split("/") if folder else []
        if level - 1 > len(base):
            return None
        return _at(paths, [*base[: len(base) - (level - 1)], *parts])
    if not parts:
        return None
    for root in dict.fromkeys((folder, *SOURCE_FOLDERS)):
        found = _at(paths, [*(root.split("/") if root else []), *parts])
        if found is not None:
            return found
    ends = [path for path in paths if _parts(path)[-len(parts) :] == parts]
    return ends[0] if len(ends) == 1 else None


def _at(paths: Collection[str], parts: list[str]) -> str | None:
    whole = "/".join(parts)
    for path in (f"{whole}.py", f"{whole}/__init__.py" if whole else "__init__.py"):
        if path in paths:
            return path
    return None


def _parts(path: str) -> list[str]:
    """The names that a file may be imported by: the last of these, up to all of them."""
    stem = path.removesuffix(".py").removesuffix("/__init__")
    return stem.split("/") if path.endswith(".py") else []


def module_name(path: str, paths: Collection[str] = (), beside: str = "") -> str:
    """How a file is imported from the project's root, or from its folder of sources.

    A folder that is a package itself, as the other paths show, is not a folder of sources.  A test
    imports what lies beside it, outside of packages, by the last name alone: pytest puts the
    folder on the path, and only `python -m pytest` the root as well.
    """
    parts = _parts(path)
    folder = path.rpartition("/")[0]
    is_beside = folder == beside.rpartition("/")[0] and is_test(beside)
    if is_beside and f"{folder}/__init__.py" not in paths:
        return parts[-1] if parts else ""
    if len(parts) > 1 and parts[0] in SOURCE_FOLDERS and f"{parts[0]}/__init__.py" not in paths:
        parts = parts[1:]
    return ".".join(parts)


def module_names(paths: Collection[str], beside: str = "") -> Iterator[tuple[str, str]]:
    """The dotted name and the path of every module, and of every folder of modules."""
    for path in paths:
        name = module_name(path, paths, beside)
        if name:
            yield name, path

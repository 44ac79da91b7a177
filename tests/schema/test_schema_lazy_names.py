"""The packages of the versions load a module when a name of it is first used."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

from accord.schema import draft, v1, v2


def defined_in(body: list[ast.stmt]) -> Iterator[str]:
    """The classes, functions and values that the statements of a module define."""
    for node in body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name):
                yield name
            case ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]):
                yield name
            case ast.If(orelse=orelse):
                yield from defined_in(orelse)


@pytest.mark.parametrize("version", [draft, v1, v2])
def test_every_name_is_found_where_the_table_says(version: ModuleType) -> None:
    """Ours: a name that is missing from the table would be missing from the package."""
    listed = {module: names.split() for module, names in version._NAMES.items()}
    for module, names in listed.items():
        place = import_module(f"{version.__name__}.{module}")
        assert set(names) == {
            name for name in defined_in(ast.parse(inspect.getsource(place)).body) if name[0] != "_"
        }, module
        assert all(getattr(version, name) is getattr(place, name) for name in names)
    assert version.__all__ == [name for names in listed.values() for name in names]


@pytest.mark.parametrize("version", [draft, v1, v2])
def test_a_name_that_nobody_has_is_told_as_such(version: ModuleType) -> None:
    """Python: a module without a name raises AttributeError."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        version.Nothing  # noqa: B018

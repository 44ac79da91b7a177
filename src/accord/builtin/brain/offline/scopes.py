"""Which names of a Python file mean what the file itself has at its top, and which are local.

Pure, on syntax trees.  It follows the language's rules for functions, lambdas, comprehensions,
classes, `global` and `nonlocal`; it does not follow `exec` or the other doors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def bound_in(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that statements bind in their own scope, not in scopes inside of it."""
    names: set[str] = set()
    outer: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        names.update(_binds(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, Comprehension):
            # Only what is assigned with := comes out of one.
            names.update(
                inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)
            )
            continue
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(names - outer)


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name is not None:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters of a function, in order."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    extra = (arguments.vararg, arguments.kwarg)
    return [*found, *(one for one in extra if one is not None)]


Visit = Callable[[ast.AST, bool], None]


class Walker:
    """Goes through a tree and tells, for every node that may be the name, whether it is global."""

    def __init__(self, name: str, visit: Visit) -> None:
        self._name = name
        self._visit = visit

    def walk(self, tree: ast.Module) -> None:
        """Visit the whole file."""
        for node in tree.body:
            self._node(node, local=False)

    def _all(self, nodes: Iterable[ast.AST | None], local: bool) -> None:
        for node in nodes:
            if node is not None:
                self._node(node, local)

    def _node(self, node: ast.AST, local: bool) -> None:
        self._visit(node, not local)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self._function(node, local)
        elif isinstance(node, ast.ClassDef):
            self._all([*node.decorator_list, *node.bases, *node.keywords], local)
            # What a class binds is an attribute inside it, and hidden from its methods.
            bound = self._name in bound_in(node.body)
            for inner in node.body:
                self._in_class(inner, local, bound)
        elif isinstance(node, Comprehension):
            self._comprehension(node, local)
        else:
            self._all(ast.iter_child_nodes(node), local)

    def _in_class(self, node: ast.AST, local: bool, bound: bool) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # Its own name is an attribute of the class; what is in it does not see the class.
            if node.name != self._name:
                self._visit(node, not (local or bound))
            if isinstance(node, ast.ClassDef):
                inner_bound = self._name in bound_in(node.body)
                for inner in node.body:
                    self._in_class(inner, local, inner_bound)
            else:
                self._function(node, local)
        else:
            self._node(node, local or bound)

    def _function(self, node: Function, local: bool) -> None:
        # Defaults, decorators and annotations belong to the scope around the function.
        arguments = node.args
        self._all([*arguments.defaults, *arguments.kw_defaults], local)
        every = parameters(arguments)
        self._all([one.annotation for one in every], local)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        if not isinstance(node, ast.Lambda):
            self._all([*node.decorator_list, node.returns], local)
        bound = bound_in(body) | {one.arg for one in every}
        inner = self._name in bound or (local and not _says_global(body, self._name))
        for one in every:
            self._visit(one, False)
        self._all(body, inner)

    def _comprehension(self, node: Comprehension, local: bool) -> None:
        first = node.generators[0]
        # The first iterable is evaluated outside.
        self._node(first.iter, local)
        targets = bound_in(generator.target for generator in node.generators)
        inner = local or self._name in targets
        for generator in node.generators:
            self._node(generator.target, inner)
            if generator is not first:
                self._node(generator.iter, inner)
            self._all(generator.ifs, inner)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._all(parts, inner)


def _says_global(body: list[ast.AST], name: str) -> bool:
    return any(
        isinstance(node, ast.Global) and name in node.names
        for statement in body
        for node in ast.walk(statement)
    )

"""Which names of a Python file mean what the file itself has at its top, and which are local.

Pure, on syntax trees.  It follows the language's rules for functions, lambdas, comprehensions,
classes, `global` and `nonlocal`; it does not follow `exec` or the other doors.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Set

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Scope = Function | ast.ClassDef | Comprehension


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope: those of scopes inside of it are left out, but not their heads."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, Scope):
            stack.extend(ast.iter_child_nodes(node))


def bound_in(nodes: Iterable[ast.AST], ignored: Set[ast.AST] = frozenset()) -> frozenset[str]:
    """The names that statements bind in their own scope, not in scopes inside of it."""
    names: set[str] = set()
    outer: set[str] = set()
    for node in own_nodes(nodes):
        if node in ignored:
            continue
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
        names.update(binds(node))
        if isinstance(node, Comprehension):
            # Only what is assigned with := comes out of one.
            names.update(
                inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)
            )
    return frozenset(names - outer)


def binds(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
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
    """Goes through a tree and tells, for every node, whether the name would mean the symbol there.

    `imports` are the imports of the symbol itself, also those in functions; `at_top` says whether
    the file's own name of that spelling is the symbol.
    """

    def __init__(self, name: str, visit: Visit, imports: Set[ast.AST], *, at_top: bool) -> None:
        self._name = name
        self._visit = visit
        self._imports = imports
        self._at_top = at_top

    def walk(self, tree: ast.Module) -> None:
        """Visit the whole file."""
        for node in tree.body:
            self._node(node, local=not self._at_top)

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
        inner = self._is_other(body, every, local)
        for one in every:
            self._visit(one, False)
        self._all(body, inner)

    def _is_other(self, body: list[ast.AST], every: list[ast.arg], local: bool) -> bool:
        """Whether the name in a function is something else than the symbol."""
        bound = bound_in(body, self._imports) | {one.arg for one in every}
        if self._name in bound:
            return True
        own = list(own_nodes(body))
        if any(node in self._imports for node in own):
            return False
        if any(isinstance(node, ast.Global) and self._name in node.names for node in own):
            return not self._at_top
        return local

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

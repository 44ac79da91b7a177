"""The simple commands that tree-sitter-bash finds in a line."""

from __future__ import annotations

from collections import Counter

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))
_REDIRECTIONS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_LISTS = frozenset({"list", "pipeline", "negated_command", "redirected_statement"})


def tree_sitter_commands(line: str) -> Counter[tuple[str, ...]] | None:
    """Every command with its words as they are written; None where it sees an error."""
    root = _PARSER.parse(line.encode()).root_node
    if root.has_error:
        return None
    commands: dict[int, list[str]] = {}
    redirected: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type == "command":
            commands[node.id] = _words(node)
        elif node.type == "redirected_statement":
            redirected.append(node)
    # Inner ones first: their words stand before those of the outer ones.
    for node in reversed(redirected):
        last = _last_command(node.child_by_field_name("body"))
        if last is not None:
            commands[last.id] += [
                _text(word)
                for child in node.children
                if child.type in _REDIRECTIONS
                for word in _behind(child)
            ]
    return Counter(tuple(words) for words in commands.values())


def _words(node: Node) -> list[str]:
    """The words of a command; those behind a redirection are children of the redirection."""
    words: list[str] = []
    for part in node.children:
        if part.type in _REDIRECTIONS:
            words += [_text(child) for child in _behind(part)]
        elif part.type != "variable_assignment":
            words.append(_text(part))
    return words


def _last_command(node: Node | None) -> Node | None:
    """The command at the end of a list, to which a redirection behind the list belongs."""
    while node is not None and node.type in _LISTS:
        node = node.named_children[-1] if node.named_children else None
    return node if node is not None and node.type == "command" else None


def _behind(redirection: Node) -> list[Node]:
    """What stands behind the target of a redirection."""
    if redirection.type == "heredoc_redirect":
        return redirection.children_by_field_name("argument")
    return redirection.children_by_field_name("destination")[1:]


def _text(node: Node) -> str:
    return (node.text or b"").decode()


__all__ = ["tree_sitter_commands"]

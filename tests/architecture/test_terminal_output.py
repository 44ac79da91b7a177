"""Text reaches the terminal through the few places that make it visible, and through no other."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from accord.machine.redaction.redactor import Redactor

SOURCE = Path(__file__).resolve().parents[2] / "src" / "accord"

# Who may write to the standard streams, and why that is safe.
WRITERS = {
    "cli/main.py": "a line end after Ctrl-C",
    "cli/commands/record.py": "a sentence of ours, made visible; must not load much",
    "cli/commands/replay.py": "lines of a comparison, made visible one by one",
    "connection/error_responses.py": "a traceback, made visible",
    "agent/agent.py": "the name of an agent, from its own program",
    "agent/serving/draft/logins.py": "a traceback, made visible",
    "agent/process_exit.py": "a sentence of ours",
    "machine/sandbox/launcher.py": "a sentence of ours, where a sandbox could not be made",
    "machine/processes/exit_on_signal.py": "a sentence of ours, when the process is about to end",
    "proxy/builtin/context.py": "a sentence of ours, made visible",
    "builtin/tools/search/grep_process.py": "a process of ours writes JSON to a pipe of ours",
    "conformance/agent/mcp_recorder.py": "an MCP server: its standard output is the wire",
    "conformance/client/stdio_relay.py": "the wire",
}
STREAMS = frozenset({"stdout", "stderr", "__stdout__", "__stderr__"})


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    paths = sorted(SOURCE.rglob("*.py"))
    return tuple((str(one.relative_to(SOURCE)), ast.parse(one.read_text("utf-8"))) for one in paths)


def writes(tree: ast.Module) -> Iterator[ast.expr]:
    """What writes to a standard stream, called or handed on: print, sys.stdout.write, os.write."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "print":
            yield node
        elif isinstance(node, ast.Attribute) and node.attr in ("write", "writelines"):
            parts = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            if parts & STREAMS:
                yield node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            first = node.args[0] if node.args else None
            is_standard = isinstance(first, ast.Constant) and first.value in (1, 2)
            if node.func.attr == "write" and is_standard:
                yield node


def test_only_known_modules_write_to_the_terminal() -> None:
    """Issue 12: one function makes text of agents visible, everywhere."""
    found = {name: [one.lineno for one in writes(tree)] for name, tree in modules()}
    unknown = {name: lines for name, lines in found.items() if lines and name not in WRITERS}
    assert not unknown, f"print with accord.cli.console, which makes text visible: {unknown}"


def test_every_known_module_still_writes() -> None:
    """Ours: a list that nobody shortens says nothing."""
    writers = {name for name, tree in modules() if list(writes(tree))}
    assert sorted(set(WRITERS) - writers) == []


def test_text_is_made_visible_in_one_place() -> None:
    """Issue 12: no second list of characters that are not drawn."""
    tellers = {"isprintable", "category"}
    # They judge a key, a file, an address, a title or a command, and show no text.
    judges = {
        "terminal/model/key_bindings.py",
        "terminal/model/text/display_text.py",
        "agent/tools/elicitation.py",
        "agent/tools/files.py",
        "agent/tools/always_answers.py",
        "client/permissions/request.py",
        "gateway/clients/session_requests.py",
        "client/shell/scanner.py",
        "machine/filesystem/auto_executed_files.py",
        "machine/console/control_characters.py",
    }
    found = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr in tellers)
            or (isinstance(node.func, ast.Name) and node.func.id in tellers)
        )
    }
    assert found <= judges, (
        f"use accord.machine.console.control_characters in {sorted(found - judges)}"
    )


@pytest.mark.parametrize(
    "source",
    [
        "print(x)",
        "f(say=print)",
        "sys.stdout.write(x)",
        "f(sys.stderr.write)",
        "sys.stderr.buffer.write(x)",
        "os.write(2, x)",
    ],
)
def test_the_check_sees_every_way_to_write(source: str) -> None:
    """Ours: a check that cannot fail is none."""
    assert list(writes(ast.parse(source)))


def sentences(tree: ast.Module) -> Iterator[str]:
    """The texts that are handed to a call, as the messages of errors and of logs are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for argument in node.args:
                text = text_of(argument)
                if " " in text.strip():
                    yield text


def text_of(node: ast.expr) -> str:
    """A text with a word in place of each value that is not known."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left) + text_of(right)
        case ast.IfExp(body=body, orelse=other):
            return text_of(body) + text_of(other)
        case _:
            return "something"


def test_no_sentence_of_ours_looks_like_a_secret() -> None:
    """Issue 16: what a command says about tokens reaches the user whole."""
    redactor = Redactor()
    # Patterns, and what is written to a database.
    exempt = ("machine/redaction/", "store/")
    found = {
        name: shown
        for name, tree in modules()
        if not name.startswith(exempt)
        for text in sentences(tree)
        if (shown := redactor.line(text)) != text and "[secret]" in shown
    }
    assert not found, f"say it without `token:` or `token=` before a word: {found}"

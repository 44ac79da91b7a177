"""The tools as data for a model: name, what it is for, the JSON schema of its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolSpec:
    """One tool.  `method` is its name on `Toolbox`; arguments go there by keyword."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: str
    method: str


def _object(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number(description: str, minimum: int = 1) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "description": description}


def _switch(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


_PATH = _text("Path of the file, relative to the working folder or absolute.")
_REASON = _text("One short sentence for the user: why this is needed.")

TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "read",
        "Read a text file. Lines come numbered. Long files come in windows: pass line and limit.",
        _object(
            ("path",),
            path=_PATH,
            line=_number("First line, counted from 1."),
            limit=_number("How many lines."),
        ),
        "read",
        "read",
    ),
    ToolSpec(
        "edit",
        "Replace exact text in a file that was read before. old must occur exactly once, with"
        " its indentation; set all to replace every occurrence.",
        _object(
            ("path", "old", "new"),
            path=_PATH,
            old=_text("The text as it stands in the file, without line numbers."),
            new=_text("What to put in its place."),
            all=_switch("Replace every occurrence."),
            reason=_REASON,
        ),
        "edit",
        "edit",
    ),
    ToolSpec(
        "write",
        "Write a whole file: a new one, or one that was read before.",
        _object(("path", "text"), path=_PATH, text=_text("The whole new text."), reason=_REASON),
        "edit",
        "write",
    ),
    ToolSpec(
        "glob",
        "List files by pattern, such as **/*.py or src/*.ts. Ignored files are left out.",
        _object(
            ("pattern",),
            pattern=_text("Pattern with *, ?, [abc], {a,b} and **."),
            path=_text("Folder to look in; the working folder where it is missing."),
        ),
        "search",
        "glob",
    ),
    ToolSpec(
        "grep",
        "Search the text of files with a regular expression. Answers path:line: text.",
        _object(
            ("pattern",),
            pattern=_text("A regular expression."),
            path=_text("Folder or file to search."),
            glob=_text("Only files that match this pattern."),
            ignore_case=_switch("Upper and lower case are the same."),
        ),
        "search",
        "grep",
    ),
    ToolSpec(
        "move",
        "Move or rename a file. The target must be free.",
        _object(("path", "target"), path=_PATH, target=_text("The new path."), reason=_REASON),
        "move",
        "move",
    ),
    ToolSpec(
        "delete",
        "Delete a file.",
        _object(("path",), path=_PATH, reason=_REASON),
        "delete",
        "delete",
    ),
    ToolSpec(
        "run",
        "Run a shell command and return what it prints. It is stopped after its timeout; with"
        " background it goes on after the answer, for servers.",
        _object(
            ("command",),
            command=_text("The line for the shell."),
            timeout=_number("Seconds until it is stopped."),
            background=_switch("Start it and go on."),
            reason=_REASON,
            cwd=_text("Folder to run it in."),
        ),
        "execute",
        "run",
    ),
    ToolSpec(
        "plan",
        "Show the user the plan of a longer job. Send the whole list each time a step changes.",
        _object(
            ("entries",),
            entries={
                "type": "array",
                "items": _object(
                    ("content",),
                    content=_text("The step."),
                    status={"type": "string", "enum": ["pending", "in_progress", "completed"]},
                    priority={"type": "string", "enum": ["high", "medium", "low"]},
                ),
            },
        ),
        "think",
        "plan",
    ),
    ToolSpec(
        "leave_plan",
        "Only in plan mode: show the finished plan and ask to start working on it.",
        _object(("plan",), plan=_text("The plan in Markdown.")),
        "switch_mode",
        "leave_plan",
    ),
    ToolSpec(
        "fetch",
        "Get a web page or file by http or https, as text.",
        _object(("url",), url=_text("The address.")),
        "fetch",
        "fetch",
    ),
    ToolSpec(
        "task",
        "Hand a question that needs much reading to a second run that may look but not change.",
        _object(("prompt",), prompt=_text("The whole question; it sees nothing else.")),
        "think",
        "task",
    ),
)
"""MCP tools are not in it: those are the session's, see `Workspace.mcp`."""

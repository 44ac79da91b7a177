"""MCP tools, plans, help: what the offline brain says and hands on."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from accord.builtin.mode_permissions import PLAN
from accord.builtin.models.packages import support_words
from accord.builtin.offline.actions.plan_template import plan_for
from accord.builtin.offline.actions.unknown_request import search_words
from accord.builtin.offline.answer_format import bullets, fenced, listed
from accord.builtin.offline.prompt.arguments import values_of
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.intent_parser import SLASH
from accord.builtin.offline.prompt.slash_commands import COMMANDS
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.plan_and_task import leave_plan

if TYPE_CHECKING:
    from accord.mcp.results import McpTool
    from accord.mcp.servers import McpServers

WITHOUT_MODEL = (
    "I work without a language model: what you type is matched, looked up in the code, and done."
)

HELP = """\
| type | to |
|---|---|
| `what is this project?` | see languages, entry points, tests and the largest modules |
| `explain calc.py`, `explain Session.load` | read what a file or a symbol is |
| `where is NAME`, `who calls NAME`, `find TEXT` | find definitions, uses, texts |
| `where is the signature checked?` | find definitions by the words in them |
| `show FILE`, `what's in FILE?` | see a file |
| `run the tests` | have them found and run |
| `run the linter`, `format the code` | do what the project is set up for |
| `fix it` | have small mistakes repaired after a failing run |
| `rename OLD to NEW` | rename a symbol in all Python files |
| `change 'OLD' to 'NEW' in FILE` | replace a text exactly |
| `$ COMMAND` | run a command of one line; several lines go into a fence |
| `undo` | take back what I changed last |
| `/mcp`, `/call SERVER.TOOL {"a": 1}` | use the tools of MCP servers |

Files that you attach with `@` are used as they are. Before a change or a command I ask, unless \
the mode says otherwise."""

MODEL = """\
This session works without a language model. To use one:

1. %s
2. Let it be found: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY` before the agent \
starts, or run a server such as Ollama on this machine, or name one in Accord's `config.toml`:

```toml
[model]
provider = "openai"
name = "NAME OF THE MODEL"
base_url = "http://127.0.0.1:8080/v1"
```

3. Start the agent again. New sessions begin with it; where there are several, or for this \
session, choose it in your editor's picker of models.

Until then, `/help` shows what I do by myself."""


async def hello(work: Work, intent: Intent) -> None:
    """A greeting."""
    await work.say(
        "Hello! I am Accord's own agent, at work without a language model. Try "
        "`what is this project?`, `run the tests`, `fix it`, or `help`."
    )


async def thanks(work: Work, intent: Intent) -> None:
    """A word that asks for nothing."""
    await work.say("Good. What next? `help` shows what I understand.")


async def show_help(work: Work, intent: Intent) -> None:
    """What can be typed."""
    lines = [
        f"`/{one.name}{f' {one.hint}' if one.hint else ''}`: {one.description}" for one in COMMANDS
    ]
    if work.model is None:
        await work.say(f"{WITHOUT_MODEL}\n\n{HELP}", "As commands:", bullets(lines))
        return
    # What the table says to type would go to the model.
    await work.say(
        f"`{work.model}` answers what you write. These commands are done by rules, without it:",
        bullets(lines),
    )


async def show_model(work: Work, intent: Intent) -> None:
    """Which model answers, or how to set one."""
    if work.model is None:
        await work.say(MODEL % support_words())
        return
    await work.say(
        f"`{work.model}` answers in this session; slash commands are done by rules, without it. "
        "Your editor's picker of models has the others, and `offline`, which is none."
    )


async def usage(work: Work, intent: Intent) -> None:
    """A slash command without what it needs."""
    spec = next((one for one in COMMANDS if one.name == intent["command"]), None)
    hint = "a file" if spec is None or spec.hint is None else spec.hint
    about = "Show a file" if spec is None else spec.description
    await work.say(f"`/{intent['command']}` needs to be told more: {hint}. {about}.")


async def no_such_command(work: Work, intent: Intent) -> None:
    """A slash command that is none."""
    name = intent.get("command") or ""
    near = difflib.get_close_matches(name.lower(), SLASH, n=1)
    meant = f" Did you mean `/{near[0]}`?" if near else ""
    names = listed([f"/{one.name}" for one in COMMANDS], len(COMMANDS))
    await work.say(f"There is no command `/{name}`.{meant}", f"There are {names}.")


# ---- MCP


def _servers(work: Work) -> McpServers | None:
    servers: McpServers | None = work.workspace.mcp
    return servers


async def show_mcp(work: Work, intent: Intent) -> None:
    """The servers of this session and their tools."""
    servers = _servers(work)
    if servers is None or not servers.status:
        await work.say(
            "No MCP servers are connected to this session. Add them in your editor's settings, "
            "or in Accord's `config.toml`."
        )
        return
    parts: list[str] = []
    for status in servers.status:
        tools = [one for one in servers.tools if one.server == status.name]
        problem = f" ({status.error})" if status.error else ""
        lines = bullets(f"`{status.name}.{one.name}`{_about(one)}" for one in tools)
        parts.append(f"**{status.name}**: {status.state}{problem}\n\n{lines}".rstrip())
    await work.say(*parts, 'Call one with `/call SERVER.TOOL {"name": "value"}`.')


def _about(tool: McpTool) -> str:
    known = tool.input_schema.get("properties")
    names = f" Takes {listed(list(known), 8)}." if isinstance(known, dict) and known else ""
    text = " ".join(tool.description.split())
    about = f": {text[:200]}" if text else ""
    return f"{about}{names}"


async def call(work: Work, intent: Intent) -> None:
    """Call a tool of an MCP server."""
    named, given = intent["tool"], intent.get("values") or ""
    servers = _servers(work)
    tools: Sequence[McpTool] = () if servers is None else servers.tools
    found = matching(tools, named)
    if not found:
        if not intent.slash and not tools:
            await search_words(work, named, f"I know no tool `{named}`.")
            return
        every = [f"{one.server}.{one.name}" for one in tools]
        near = difflib.get_close_matches(named, [*every, *(one.name for one in tools)], n=1)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        there = f"There are {listed(every, 12)}." if every else "No MCP servers are connected."
        await work.say(f"There is no tool `{named}`.{meant} {there}")
        return
    if len(found) > 1:
        labels = [f"{one.server}.{one.name}" for one in found]
        chosen = await work.choose(f"Which {named}?", labels)
        if chosen is None:
            await work.say(f"Several servers have it: {listed(labels)}. Name the server too.")
            return
        found = [found[labels.index(chosen)]]
    values = values_of(given)
    if values is None:
        await work.say(
            f"I cannot read `{given}` as arguments. Write a JSON object, or `name=value` pairs."
        )
        return
    tool = found[0]
    result = await work.tools.mcp(tool.server, tool.name, values)
    if result.denied is not None:
        await work.refused(result.text, f"`{named}` was not called", result.denied)
        return
    head = f"`{tool.server}.{tool.name}` " + ("answered:" if result.ok else "failed:")
    await work.say(head, fenced(result.text) if result.text.strip() else "(nothing)")


def matching(tools: Sequence[McpTool], named: str) -> list[McpTool]:
    """The tools that a name means: `server.tool` exactly, else the tool of any server."""
    whole = [one for one in tools for mark in "./:" if f"{one.server}{mark}{one.name}" == named]
    return whole or [one for one in tools if one.name == named]


# ---- plans


async def show_plan(work: Work, intent: Intent) -> None:
    """A plan for a change, from a template and from what the project has.

    It is said and not shown as the plan of the turn: nobody works on it here, so that it would
    stand beside the same words in the message, and stay open for good.
    """
    text = intent["text"]
    project = await work.project()
    command = await work.test_command()
    line = None if command is None else command.line
    steps, found = await work.compute(plan_for, text, project.files, line)
    places = [(one.path, one.symbol.line) for one in found]
    if places:
        shown = "\n".join(f"{one.place}: {one.symbol.signature}" for one in found)
        await work.looked("Look for what it touches", "symbols", {"text": text}, places, shown)
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    await work.say(
        f"A plan for “{text}”:",
        numbered,
        "It is a template filled with what I found here, to be ticked off by hand; thinking it "
        "through takes you, or a model (`/model`).",
    )
    if work.tools.mode == PLAN:
        # The plan is there; whether work begins is the user's to say.
        await leave_plan(work.tools, numbered, is_said=True)

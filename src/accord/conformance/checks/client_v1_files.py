"""Checks of clients, v1: files and terminals, their limits and their boundaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio

from accord.conformance.check import check
from accord.conformance.client.conversation import Conversation, error_code
from accord.conformance.client.stage import ClientStage
from accord.conformance.wire import Message

TEN_LINES = "".join(f"line {n}\n" for n in range(1, 11))


def result(answer: Message) -> Message:
    """The result of an answer, or nothing."""
    found = answer.get("result")
    return found if isinstance(found, dict) else {}


async def put(path: Path, text: str) -> None:
    await anyio.Path(path).write_text(text)


@check("V1-FS-04", "V1-GEN-07", "V1-FS-05", role="client")
async def reads_the_lines_that_are_asked_for(stage: ClientStage) -> None:
    """`line` counts from one, `limit` counts lines, a missing file is -32002."""
    await put(stage.folder / "ten.txt", TEN_LINES)
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("fs", "readTextFile"), "the client reads no files")
    path = str(stage.folder / "ten.txt")
    read = "fs/read_text_file"
    whole = await talk.call(read, path=path)
    if stage.judge.judge("V1-FS-04", _text(whole) == TEN_LINES, "not the file", came=whole):
        part = await talk.call(read, path=path, line=3, limit=2)
        ok = _text(part).rstrip("\n") == "line 3\nline 4"
        stage.judge.judge("V1-FS-04", ok, "line 3, limit 2 is something else", came=part)
        first = await talk.call(read, path=path, line=1)
        ok = _text(first).startswith("line 1\n")
        stage.judge.judge("V1-GEN-07", ok, "line 1 is not the first", came=first)
    missing = await talk.call(read, path=str(stage.folder / "nothing.txt"))
    code = error_code(missing)
    stage.judge.judge("V1-FS-05", code == -32002, f"the code is {code}", came=missing)
    await talk.end_turn(prompt)


def _text(answer: Message) -> str:
    content = result(answer).get("content")
    return content if isinstance(content, str) else ""


@check("V1-FS-02", role="client")
async def writes_new_files(stage: ClientStage) -> None:
    """Writing to a path where nothing is makes the file."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("fs", "writeTextFile"), "the client writes no files")
    old, new = stage.folder / "old.txt", stage.folder / "new.txt"
    await put(old, "old\n")
    answer = await talk.call("fs/write_text_file", path=str(old), content="changed\n")
    if error_code(answer) is not None:
        stage.leave_open("the client refuses to write; start it so that it may")
    answer = await talk.call("fs/write_text_file", path=str(new), content="new\n")
    found = await anyio.Path(new).exists()
    text = await anyio.Path(new).read_text() if found else ""
    stage.judge.judge("V1-FS-02", text == "new\n", "the file is not there", came=answer)
    await talk.end_turn(prompt)


@check("V1-SESS-24", "V1-SESS-18", role="client")
async def keeps_files_inside_the_roots(stage: ClientStage) -> None:
    """Neither another folder, nor `..`, nor a link leads out of the session's folders."""
    outside = stage.folder.parent / "secret.txt"
    await put(outside, "secret")
    await anyio.Path(stage.folder / "link.txt").symlink_to(outside)
    talk, prompt = await stage.to_prompt()
    reads, writes = talk.can("fs", "readTextFile"), talk.can("fs", "writeTextFile")
    stage.need(reads or writes, "the client has no files")
    cases = [
        ("V1-SESS-24", str(outside)),
        ("V1-SESS-18", f"{stage.folder}/../secret.txt"),
        ("V1-SESS-18", str(stage.folder / "link.txt")),
    ]
    for rule, path in cases:
        if reads:
            answer = await talk.call("fs/read_text_file", path=path)
            ok = error_code(answer) is not None
            stage.judge.judge(rule, ok, f"{path} can be read", came=answer)
        if writes:
            answer = await talk.call("fs/write_text_file", path=path, content="changed")
            ok = await anyio.Path(outside).read_text() == "secret"
            stage.judge.judge(rule, ok, f"{path} can be written", came=answer)
            await put(outside, "secret")
    await talk.end_turn(prompt)


async def terminal(stage: ClientStage) -> tuple[Conversation, Any]:
    """A conversation with a client that has terminals."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("terminal"), "the client has no terminals")
    return talk, prompt


async def create(stage: ClientStage, talk: Conversation, script: str, **more: Any) -> str:
    """The id of a new terminal that runs a line of shell.

    Raises:
        NotAsked: the client does not run it; noted for every open rule.
    """
    here = str(stage.folder)
    params: Message = {"command": "/bin/sh", "args": ["-c", script], "cwd": here, **more}
    answer = await talk.call("terminal/create", **params)
    name = result(answer).get("terminalId")
    if not isinstance(name, str):
        stage.leave_open("the client does not run the command; start it so that it may")
    return str(name)


@check("V1-TERM-02", "V1-TERM-05", "V1-TERM-09", "V1-TERM-06", role="client")
async def runs_and_ends_commands(stage: ClientStage) -> None:
    """Create returns at once, kill keeps the id, release ends it; a status comes after the exit."""
    talk, prompt = await terminal(stage)
    # The command outlasts the kit's patience: an answer shows that nobody waited for it.
    seconds = round(stage.patience * 3 + 60)
    name = await create(stage, talk, f"echo begun; sleep {seconds}")
    stage.judge.passed("V1-TERM-02")
    running = await talk.call("terminal/output", terminalId=name)
    early = result(running).get("exitStatus") is not None
    stage.judge.judge("V1-TERM-09", not early, "a status before the exit", came=running)
    killed = await talk.call("terminal/kill", terminalId=name)
    waited = await talk.call("terminal/wait_for_exit", terminalId=name)
    output = await talk.call("terminal/output", terminalId=name)
    answers = [killed, waited, output]
    ok = all(error_code(answer) is None for answer in answers)
    stage.judge.judge("V1-TERM-05", ok, "the terminal is not usable after kill", came=answers)
    if not ok:
        return
    status = result(output).get("exitStatus")
    stage.judge.judge("V1-TERM-09", status is not None, "no status after the exit", came=output)
    freed = await talk.call("terminal/release", terminalId=name)
    after = await talk.call("terminal/output", terminalId=name)
    ok = error_code(freed) is None and error_code(after) is not None
    stage.judge.judge("V1-TERM-06", ok, "the terminal lives after release", came=[freed, after])
    await talk.end_turn(prompt)


@check("V1-TERM-04", role="client")
async def waits_for_the_exit(stage: ClientStage) -> None:
    """`wait_for_exit` answers after the exit, with its code, while others are answered."""
    talk, prompt = await terminal(stage)
    name = await create(stage, talk, "while [ ! -e go ]; do sleep 0.05; done; exit 3")
    waiting = await talk.ask("terminal/wait_for_exit", terminalId=name)
    alive = await talk.alive()
    early = [f for f in talk.peer.received() if f.is_response and f.object.get("id") == waiting]
    await put(stage.folder / "go", "")
    answer = await talk.peer.answer_to(waiting)
    ok = alive and not early and result(answer).get("exitCode") == 3
    stage.judge.judge("V1-TERM-04", ok, "not after the exit, or not its code", came=answer)
    await talk.call("terminal/release", terminalId=name)
    await talk.end_turn(prompt)


@check("V1-TERM-03", role="client")
async def cuts_output_at_the_front(stage: ClientStage) -> None:
    """Beyond the limit the oldest output goes, at a character's boundary, and that is said."""
    talk, prompt = await terminal(stage)
    name = await create(stage, talk, "printf 'begin-€€€€€-end'", outputByteLimit=10)
    await talk.call("terminal/wait_for_exit", terminalId=name)
    answer = await talk.call("terminal/output", terminalId=name)
    text = str(result(answer).get("output"))
    ok = text.endswith("-end") and len(text.encode()) <= 10 and "\ufffd" not in text
    ok = ok and result(answer).get("truncated") is True
    stage.judge.judge("V1-TERM-03", ok, "not the last ten bytes, whole", came=answer)
    await talk.call("terminal/release", terminalId=name)
    await talk.end_turn(prompt)

"""Checks of clients, v1: files and terminals, their limits and their boundaries."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from accord.conformance.check_definition import check
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION, Conversation, error_code
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, NotReady, Unanswered, as_json

TEN_LINES = "".join(f"line {n}\n" for n in range(1, 11))
# Requested parts of these files, by line and limit, and the numbers of their lines.
PARTS: tuple[tuple[dict[str, int], range], ...] = (
    ({"line": 3, "limit": 2}, range(3, 5)),
    ({"limit": 2}, range(1, 3)),
    ({"line": 1, "limit": 1}, range(1, 2)),
    ({"line": 9}, range(9, 11)),
    ({"line": 9, "limit": 5}, range(9, 11)),
)
# New files by name, with their content.
NEW_FILES = {
    "new.txt": "new\n",
    "empty.txt": "",
    "more than one word ä.txt": "€ and more\n",
}
# How long it takes to see that a command has been ended.
ENDING_SECONDS = 5.0
# How often to request the output of a command until it has ended.
POLL_SECONDS = 0.05
# How many requests a client must hold open, and how many are sent.
OPEN_REQUESTS_MAX = 1_024
OPEN_REQUESTS = OPEN_REQUESTS_MAX + 4


def result(answer: Message) -> Message:
    """Return the result of an answer; empty without one."""
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
        for asked, numbers in PARTS:
            part = await talk.call(read, path=path, **asked)
            ok = _text(part).splitlines() == [f"line {n}" for n in numbers]
            stage.judge.judge("V1-FS-04", ok, f"{asked} is something else", came=part)
        first = await talk.call(read, path=path, line=1)
        ok = _text(first).startswith("line 1\n")
        stage.judge.judge("V1-GEN-07", ok, "line 1 is not the first", came=first)
    missing = await talk.call(read, path=str(stage.folder / "nothing.txt"))
    code = error_code(missing)
    stage.judge.judge("V1-FS-05", code == -32002, f"the code is {as_json(code)}", came=missing)
    await talk.end_turn(prompt)


def _text(answer: Message) -> str:
    content = result(answer).get("content")
    return content if isinstance(content, str) else ""


@check("V1-FS-02", role="client")
async def writes_new_files(stage: ClientStage) -> None:
    """Writing to a new path creates the file."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("fs", "writeTextFile"), "the client writes no files")
    old = stage.folder / "old.txt"
    await put(old, "old\n")
    answer = await talk.call("fs/write_text_file", path=str(old), content="changed\n")
    if error_code(answer) is not None:
        stage.leave_open("the client refuses to write; start it so that it may")
    old.unlink()
    for name, content in {**NEW_FILES, old.name: "again\n"}.items():
        path = anyio.Path(stage.folder / name)
        answer = await talk.call("fs/write_text_file", path=str(path), content=content)
        found = await path.read_text("utf-8") if await path.exists() else None
        said = f"the file {as_json(name)} is not there, or another"
        stage.judge.judge("V1-FS-02", found == content, said, came=answer)
    await talk.end_turn(prompt)


@check("V1-SESS-24", "V1-SESS-18", role="client")
async def keeps_files_inside_the_roots(stage: ClientStage) -> None:
    """Neither another folder, nor `..`, nor a link leads out of the session's folders."""
    outside = stage.folder.parent / "secret.txt"
    # The name of this folder begins with that of the session's.
    beside = Path(f"{stage.folder}-of-others")
    others = stage.folder.parent / "others"
    for folder in (beside, others):
        await anyio.Path(folder).mkdir()
        await put(folder / "secret.txt", "secret")
    await put(outside, "secret")
    (stage.folder / "link.txt").symlink_to(outside)
    (stage.folder / "linked").symlink_to(others)
    talk, prompt = await stage.to_prompt()
    reads, writes = talk.can("fs", "readTextFile"), talk.can("fs", "writeTextFile")
    stage.need(reads or writes, "the client offers no files")
    # The requested path, and the file that it names.
    cases = [
        ("V1-SESS-24", str(outside), outside),
        ("V1-SESS-24", str(beside / "secret.txt"), beside / "secret.txt"),
        ("V1-SESS-18", f"{stage.folder}/../secret.txt", outside),
        ("V1-SESS-18", str(stage.folder / "link.txt"), outside),
        ("V1-SESS-18", str(stage.folder / "linked" / "secret.txt"), others / "secret.txt"),
    ]
    for rule, path, _ in cases if reads else ():
        answer = await talk.call("fs/read_text_file", path=path)
        ok = error_code(answer) is not None
        stage.judge.judge(rule, ok, f"{path} can be read", came=answer)
    new = "new.txt"
    cases += [
        ("V1-SESS-24", str(outside.parent / new), outside.parent / new),
        ("V1-SESS-24", str(beside / new), beside / new),
        ("V1-SESS-18", str(stage.folder / "linked" / new), others / new),
    ]
    for rule, path, real in cases if writes else ():
        before = await text_of(real)
        answer = await talk.call("fs/write_text_file", path=path, content="changed")
        ok = await text_of(real) == before
        stage.judge.judge(rule, ok, f"{path} can be written", came=answer)
        if before is None:
            real.unlink(missing_ok=True)
        else:
            await put(real, before)
    await talk.end_turn(prompt)


async def text_of(path: Path) -> str | None:
    """Return the text of a file; None if there is none."""
    file = anyio.Path(path)
    return await file.read_text() if await file.exists() else None


async def terminal(stage: ClientStage) -> tuple[Conversation, Any]:
    """Begin a conversation with a client that has terminals."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("terminal"), "the client offers no terminals")
    return talk, prompt


async def create(
    stage: ClientStage, talk: Conversation, script: str, *, judged: bool = False, **more: Any
) -> str:
    """Create a terminal that runs a line of shell, and return its id.

    Raises:
        NotAsked: the client does not run it; noted for every open rule.
        NotReady: there is no answer, and the check is not about that: it has not `judged` it.
        Unanswered: there is none, and it has.
    """
    here = str(stage.folder)
    params: Message = {"command": "/bin/sh", "args": ["-c", script], "cwd": here, **more}
    try:
        answer = await talk.call("terminal/create", **params)
    except Unanswered as error:
        if judged:
            raise
        raise NotReady(str(error)) from None
    name = result(answer).get("terminalId")
    if not isinstance(name, str):
        stage.leave_open("the client does not run the command; start it so that it may")
    return str(name)


@dataclass(slots=True)
class Lifeline:
    """A pipe that a command holds open as long as it runs."""

    fd: int

    async def begun(self, seconds: float) -> bool:
        """Whether the command has opened the pipe; a command on another machine never does."""
        return bool(await self._read(seconds))

    async def ended(self, seconds: float) -> bool:
        """Whether a command that had begun has ended."""
        return await self._read(seconds) == b""

    async def _read(self, seconds: float) -> bytes | None:
        with anyio.move_on_after(seconds):
            await anyio.wait_readable(self.fd)
            return os.read(self.fd, 64)
        return None


@contextmanager
def lifeline(stage: ClientStage) -> Generator[tuple[Lifeline, str]]:
    """Make a lifeline, and a line of shell that holds it.

    It outlasts the kit's patience: an answer before its end shows that nobody waited for it.
    """
    path = stage.folder / "alive"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    seconds = round(stage.patience * 3 + 60)
    try:
        yield Lifeline(fd), f"exec 3>alive; echo begun >&3; echo begun; exec sleep {seconds}"
    finally:
        os.close(fd)
        path.unlink(missing_ok=True)


@check("V1-TERM-02", "V1-TERM-05", "V1-TERM-09", role="client")
async def runs_and_kills_commands(stage: ClientStage) -> None:
    """Create returns at once, kill ends the command and keeps the id; a status comes after."""
    talk, prompt = await terminal(stage)
    with lifeline(stage) as (line, script):
        name = await create(stage, talk, script, judged=True)
        stage.judge.passed("V1-TERM-02")
        here = await line.begun(ENDING_SECONDS)
        await _kill(stage, talk, name)
        if here:
            ended = await line.ended(ENDING_SECONDS)
            stage.judge.judge("V1-TERM-05", ended, "the command runs on after kill")
    await talk.call("terminal/release", terminalId=name)
    await talk.end_turn(prompt)


async def _kill(stage: ClientStage, talk: Conversation, name: str) -> None:
    running = await talk.call("terminal/output", terminalId=name)
    early = result(running).get("exitStatus") is not None
    stage.judge.judge("V1-TERM-09", not early, "a status before the exit", came=running)
    killed = await talk.call("terminal/kill", terminalId=name)
    waited = await talk.call("terminal/wait_for_exit", terminalId=name)
    output = await talk.call("terminal/output", terminalId=name)
    answers = [killed, waited, output]
    ok = all(error_code(answer) is None for answer in answers)
    stage.judge.judge("V1-TERM-05", ok, "the terminal is not usable after kill", came=answers)
    if ok:
        status = result(output).get("exitStatus")
        said = "no status after the exit"
        stage.judge.judge("V1-TERM-09", status is not None, said, came=output)


@check("V1-TERM-06", role="client")
async def releases_terminals(stage: ClientStage) -> None:
    """Release ends the command if it runs, and its id is unknown afterwards."""
    talk, prompt = await terminal(stage)
    with lifeline(stage) as (line, script):
        name = await create(stage, talk, script)
        here = await line.begun(ENDING_SECONDS)
        await _release(stage, talk, name)
        if here:
            ended = await line.ended(ENDING_SECONDS)
            stage.judge.judge("V1-TERM-06", ended, "the command runs on after release")
    name = await create(stage, talk, "echo over")
    await output_of(talk, name, "over\n")
    await _release(stage, talk, name)
    await talk.end_turn(prompt)


async def _release(stage: ClientStage, talk: Conversation, name: str) -> None:
    freed = await talk.call("terminal/release", terminalId=name)
    stage.judge.judge("V1-TERM-06", error_code(freed) is None, "release is refused", came=freed)
    for method in ("terminal/output", "terminal/kill", "terminal/wait_for_exit"):
        after = await talk.call(method, terminalId=name)
        ok = error_code(after) is not None
        stage.judge.judge("V1-TERM-06", ok, f"{method} works after release", came=after)


async def output_of(talk: Conversation, name: str, end: str) -> Message:
    """The answer to `terminal/output` once the command has ended, or has printed all of its output.

    That waiting for the exit works is checked elsewhere.

    Raises:
        NotReady: it is not answered at all.
    """
    try:
        await talk.call("terminal/wait_for_exit", terminalId=name)
    except Unanswered as error:
        raise NotReady(str(error)) from None
    answer: Message = {}
    with anyio.move_on_after(ENDING_SECONDS):
        while True:
            answer = await talk.call("terminal/output", terminalId=name)
            over = result(answer).get("exitStatus") is not None
            if over or "error" in answer or str(result(answer).get("output")).endswith(end):
                break
            await anyio.sleep(POLL_SECONDS)
    return answer


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


@check("LIM-02", role="client")
async def refuses_one_request_too_many(stage: ClientStage) -> None:
    """With as many open requests as a client must hold, only one more is refused."""
    talk, prompt = await terminal(stage)
    name = await create(stage, talk, "while [ ! -e go ]; do sleep 0.05; done")
    params = {"sessionId": SESSION, "terminalId": name}
    names = await talk.peer.ask_at_once("terminal/wait_for_exit", [params] * OPEN_REQUESTS)
    await talk.alive()
    await talk.peer.quiet()
    held, beyond = names[:OPEN_REQUESTS_MAX], names[OPEN_REQUESTS_MAX:]
    came = [one for one in talk.peer.received() if one.is_response]
    answers = {one.object["id"]: one for one in came if type(one.object.get("id")) is int}
    if any(is_over_limit(answers, one) for one in names) or not answers.keys() & set(names):
        ok = all(is_over_limit(answers, one) for one in beyond) and not answers.keys() & set(held)
        said = f"of {OPEN_REQUESTS} open requests not exactly those beyond the limit are refused"
        shown = [answers[one] for one in names if one in answers][: len(beyond)]
        stage.judge.judge("LIM-02", ok, said, sent=params, came=shown)
    await put(stage.folder / "go", "")
    await talk.peer.answer_to(held[0])
    await talk.end_turn(prompt)


def is_over_limit(answers: dict[Any, Frame], name: Any) -> bool:
    """Whether a request was refused because too many are open."""
    error = answers[name].object.get("error") if name in answers else None
    reason = queries.at(error, "data.reason")
    return bool(queries.at(error, "code") == -32603 and reason == "too_many_requests")


@check("V1-TERM-03", role="client")
async def cuts_output_at_the_front(stage: ClientStage) -> None:
    """Over the limit the oldest output is dropped at a character boundary, and that is reported."""
    talk, prompt = await terminal(stage)
    for limit in (10, 11, 12, 200):
        name = await create(stage, talk, "printf 'begin-€€€€€-end'", outputByteLimit=limit)
        answer = await output_of(talk, name, "-end")
        text = str(result(answer).get("output"))
        ok = text.endswith("-end") and len(text.encode()) <= limit and "\ufffd" not in text
        ok = ok and result(answer).get("truncated") is (limit < 200)
        ok = ok and (limit < 200 or text.startswith("begin-"))
        said = f"not the last {limit} bytes, whole"
        stage.judge.judge("V1-TERM-03", ok, said, came=answer)
        await talk.call("terminal/release", terminalId=name)
    await talk.end_turn(prompt)

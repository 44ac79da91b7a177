"""Two chats in one session of a gateway: who is here, who wrote what, and one's own role."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Client, Permissions
from accord.client.invitation import Invitation, split_address
from accord.client.permissions.request import Decision
from accord.errors import ConnectionLost, LocalProtocolError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat, Remark
from accord.terminal.model.people import (
    admin_words,
    ahead_words,
    here_words,
    member_rows,
    other_author,
    stop_refusal,
    working_words,
)
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.screen.prompt.prompt_editor import placeholder
from tests.gateway.served_gateway import key_of, served_gateway
from tests.terminal.engine.controller_harness import ready, running_controller, said, shown, until

pytestmark = pytest.mark.anyio


def remarks(chat: Chat) -> list[str]:
    return [one.text for one in chat.entries if isinstance(one, Remark)]


def launch(
    port: int,
    name: str,
    folder: Path,
    session: str | None = None,
    invitation: Invitation | None = None,
) -> LaunchOptions:
    """Chat with the gateway as somebody, as `accord chat URL` does."""
    url = f"ws://127.0.0.1:{port}/acp"
    command = (sys.executable, "-m", "accord", "connect", url, "--token-env", "ACCORD_TEST_TOKEN")
    return LaunchOptions(
        command=command,
        folder=str(folder),
        env={"ACCORD_TEST_TOKEN": key_of(name)},
        session=session,
        url=url,
        invitation=invitation,
    )


@asynccontextmanager
async def admin(port: int) -> AsyncIterator[Any]:
    """Somebody who may give roles."""
    url = f"ws://127.0.0.1:{port}/acp"
    async with Client.connect(
        url, token=key_of("ann"), permissions=Permissions.deny_all()
    ) as client:

        async def give(session_id: str, user: str, role: str) -> None:
            params = {"sessionId": session_id, "user": user, "role": role}
            await client.call_extension("_accord.session/set_role", params)

        yield give


async def opened(controller: ChatController, options: LaunchOptions) -> Chat:
    chat = await controller.open_chat(launch=options)
    await until(chat, ready)
    return chat


async def both(
    hers: ChatController, his: ChatController, port: int, folder: Path
) -> tuple[Chat, Chat]:
    """Ann's chat, and that of Bob, whom she has invited as an editor."""
    ann = await opened(hers, launch(port, "ann", folder))
    _, invitation = split_address(await hers.invite(ann, "editor"))
    assert invitation is not None
    return ann, await opened(his, launch(port, "bob", folder, invitation.session_id, invitation))


async def test_two_chats_show_who_is_here_and_who_wrote_what(tmp_path: Path) -> None:
    """Issue 17: and one's own role; a viewer is told why nothing is sent."""
    async with (
        served_gateway() as port,
        admin(port) as give,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann = await opened(hers, launch(port, "ann", tmp_path))
        assert here_words(ann) == ""
        hers.send(ann, Draft("hello"))
        await until(ann, lambda chat: said(chat) == ["you said hello"])
        assert ann.session_id is not None
        await give(ann.session_id, "bob", "viewer")
        bob = await opened(his, launch(port, "bob", tmp_path, ann.session_id))
        assert here_words(bob) == "with Ann · you are a viewer"
        assert other_author(bob.transcript.messages[0], bob) == "Ann"
        await until(ann, lambda chat: "Bob joined." in remarks(chat))
        assert here_words(ann) == "with Bob · you are an admin"
        assert other_author(ann.transcript.messages[0], ann) is None

        his.send(bob, Draft("may I?"))
        assert "ask Ann to make you an editor" in remarks(bob)[-1]
        assert [draft.text for draft in bob.queue] == ["may I?"]
        assert "may I?" not in shown(bob)

        await give(ann.session_id, "bob", "editor")
        await until(bob, lambda chat: "You are an editor of this session now." in remarks(chat))
        his.tell(bob, "typing")
        await until(ann, lambda chat: "Bob (typing)" in here_words(chat))
        his.send(bob, bob.queue.pop())
        await until(ann, lambda chat: said(chat)[-1:] == ["you said may I?"])
        assert other_author(ann.transcript.messages[2], ann) == "Bob"
        assert ann.people is not None
        rows = member_rows(ann.people)
        assert rows[0] == ("Ann (you)", "admin, here")
        assert rows[1][0] == "Bob"

        await his.close_chat(bob)
        await until(ann, lambda chat: "Bob left." in remarks(chat))
        assert here_words(ann) == ""


async def test_a_question_that_somebody_else_answers_is_not_shown_as_denied(tmp_path: Path) -> None:
    """Both are asked; the one who did not answer is told who did."""
    async with (
        served_gateway() as port,
        admin(port) as give,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann = await opened(hers, launch(port, "ann", tmp_path))
        assert ann.session_id is not None
        await give(ann.session_id, "bob", "admin")
        bob = await opened(his, launch(port, "bob", tmp_path, ann.session_id))
        await until(ann, lambda chat: "with Bob" in here_words(chat))
        hers.send(ann, Draft("ask"))
        await until(ann, lambda chat: chat.needs_answer)
        await until(bob, lambda chat: chat.needs_answer)
        question = bob.questions.first
        assert question is not None
        allow = question.request.of_kind("allow_once")
        question.answer(Decision(allow.option_id))
        await until(ann, lambda chat: said(chat) == ["allowed"])
        await until(ann, lambda chat: "Bob answered the agent's question." in remarks(chat))
        assert not ann.needs_answer
        assert not ann.denied
        assert ann.denied_request is None


async def test_an_invitation_lets_one_person_in_once(tmp_path: Path) -> None:
    """Issue 17: with its role, which an admin may change; who may not is told whom to ask."""
    async with (
        served_gateway() as port,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann = await opened(hers, launch(port, "ann", tmp_path))
        address = await hers.invite(ann, "viewer")
        url, invitation = split_address(address)
        assert url == f"ws://127.0.0.1:{port}/acp"
        assert invitation is not None
        session = invitation.session_id
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        bob = await opened(his, launch(port, "bob", elsewhere, session, invitation))
        assert bob.folder == str(tmp_path)
        assert here_words(bob) == "with Ann · you are a viewer"
        assert admin_words(bob) == (
            "You are a viewer in this session; only an admin can invite people or change what they"
            " may do. Ask Ann."
        )
        with pytest.raises(LocalProtocolError, match="Ask Ann"):
            await his.invite(bob, "admin")
        with pytest.raises(LocalProtocolError, match="Ask Ann"):
            await his.set_role(bob, "bob", "admin")

        await hers.set_role(ann, "Bob", "admin")
        await until(bob, lambda chat: "You are an admin of this session now." in remarks(chat))
        assert admin_words(bob) is None
        # The same invitation again: by its owner it does no harm, as after a restart.
        again = await opened(his, launch(port, "bob", tmp_path, session, invitation))
        assert again.own_role == "admin"
        await hers.set_role(ann, "bob", None)
        await until(bob, lambda chat: "You were removed from this session." in remarks(chat))
        assert admin_words(bob) == "This session is over for you."
        late = await his.open_chat(launch=launch(port, "bob", tmp_path, session, invitation))
        await until(late, lambda chat: chat.problem is not None)
        assert late.problem is not None
        assert "was used by somebody, it has expired" in late.problem.text


async def test_a_gateway_that_is_gone_is_a_lost_connection(tmp_path: Path) -> None:
    """Nobody restarts an agent that is elsewhere; connecting again continues the session."""
    async with served_gateway() as port, running_controller() as hers:
        nowhere = await hers.open_chat(launch=launch(1, "ann", tmp_path))
        await until(nowhere, lambda chat: chat.problem is not None)
        assert nowhere.problem is not None
        assert nowhere.problem.text.startswith("No connection: "), nowhere.problem
        assert nowhere.problem.remedies == ("connect",)
        assert placeholder(nowhere) == "Not connected; your text stays here"

        ann = await opened(hers, launch(port, "ann", tmp_path))
        process = hers.lifecycle.shared_process(ann, hers.launch(ann))
        assert process is not None
        await process.aclose()
        process.error = ConnectionLost("the connection is lost")
        process.on_lost(process)
        assert ann.problem is not None
        assert ann.problem.text == "Not connected any more: the connection is lost"
        hers.retry(ann)
        await until(ann, ready)
        assert remarks(ann)[-1] == "Connected again, and the session continues."


async def test_a_closed_tab_ends_the_session_for_nobody_else(tmp_path: Path) -> None:
    """Whoever started it is its admin, and could; an editor is not told that they may not."""
    async with (
        served_gateway() as port,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann, bob = await both(hers, his, port, tmp_path)
        for controller, chat in ((hers, ann), (his, bob)):
            other = await controller.open_chat(like=chat)
            await until(other, ready)
            if chat is ann:
                await controller.close_chat(chat)
                his.send(bob, Draft("hello"))
                await until(bob, lambda chat: said(chat) == ["you said hello"])
            else:
                await controller.close_chat(chat)
        again = await opened(hers, launch(port, "ann", tmp_path, ann.session_id))
        assert said(again) == ["you said hello"]


async def test_everybody_may_leave_a_session(tmp_path: Path) -> None:
    """Whatever their role is."""
    async with (
        served_gateway() as port,
        running_controller() as hers,
        running_controller() as his,
    ):
        _, bob = await both(hers, his, port, tmp_path)
        await his.set_role(bob, "bob", None)
        await until(bob, lambda chat: "You were removed from this session." in remarks(chat))


@pytest.mark.parametrize("versions", [(1,), (1, 2)])
async def test_another_s_turn_is_shown_and_can_be_stopped(
    tmp_path: Path, versions: tuple[int, ...]
) -> None:
    """Issue 17: whatever the agent speaks; by an editor, and not by a viewer."""
    async with (
        served_gateway(versions=versions) as port,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann = await opened(hers, launch(port, "ann", tmp_path))
        _, invitation = split_address(await hers.invite(ann, "viewer"))
        assert invitation is not None
        options = launch(port, "bob", tmp_path, invitation.session_id, invitation)
        bob = await opened(his, options)
        hers.send(ann, Draft("wait"))
        await until(bob, lambda chat: chat.works_alone)
        await until(bob, lambda chat: said(chat) == ["waiting"])
        assert working_words(bob) == "Working for Ann"
        assert other_author(bob.transcript.messages[0], bob) == "Ann"
        his.stop(bob)
        assert "you cannot stop its turns. To take part, ask Ann" in remarks(bob)[-1]
        assert stop_refusal(bob) is not None
        # Somebody who comes in the middle of it sees the same.
        later = await opened(his, options)
        await until(later, lambda chat: chat.works_alone)
        assert working_words(later) == "Working for Ann"
        assert other_author(later.transcript.messages[0], later) == "Ann"

        await hers.set_role(ann, "bob", "editor")
        await until(bob, lambda chat: stop_refusal(chat) is None)
        assert ann.is_busy
        his.stop(bob)
        await until(ann, lambda chat: not chat.is_busy)
        assert remarks(ann)[-1] == "The turn was stopped."
        assert "You asked the agent to stop." in remarks(bob)
        await until(bob, lambda chat: not chat.works_alone)


async def test_a_prompt_says_whose_turn_it_waits_for(tmp_path: Path) -> None:
    """An agent of version 1 gets one prompt at a time."""
    async with (
        served_gateway(versions=(1,)) as port,
        running_controller() as hers,
        running_controller() as his,
    ):
        ann, bob = await both(hers, his, port, tmp_path)
        hers.send(ann, Draft("ask"))
        await until(bob, lambda chat: chat.works_alone)
        await until(ann, lambda chat: chat.needs_answer)
        assert ahead_words(ann) == ""
        his.send(bob, Draft("and then"))
        assert ahead_words(bob) == "Ann's turn is first"
        question = ann.questions.first
        assert question is not None
        question.answer(Decision(question.request.of_kind("allow_once").option_id))
        await until(bob, lambda chat: said(chat) == ["allowed", "you said and then"])


async def plain(port: int, name: str, folder: Path, typed: str, *words: str) -> str:
    """What the line mode prints to somebody who types this."""
    command = (sys.executable, "-m", "accord", "chat", "--plain", *words)
    if "--session" in words:
        command = (*command, f"ws://127.0.0.1:{port}/acp")
    done = await anyio.run_process(
        [*command, "--token-env", "ACCORD_TEST_TOKEN"],
        input=typed.encode(),
        env={
            **os.environ,
            "ACCORD_TEST_TOKEN": key_of(name),
            "ACCORD_CONFIG_DIR": str(folder / "config"),
            "ACCORD_STATE_DIR": str(folder / "state"),
        },
        cwd=folder,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return " ".join(done.stdout.decode().split())


async def test_a_plain_chat_says_the_same_in_lines(tmp_path: Path) -> None:
    """And lets others in."""
    async with (
        served_gateway() as port,
        Client.connect(
            f"ws://127.0.0.1:{port}/acp", token=key_of("ann"), permissions=Permissions.deny_all()
        ) as ann,
    ):
        session = await ann.new_session(cwd=tmp_path)
        await session.ask("hello")
        known = ("--session", session.id)
        typed = "/people bob viewer\n/people x y\n/invite king\n/invite viewer\n"
        text = await plain(port, "ann", tmp_path, typed, *known)
        assert "bob: viewer, not here" in text
        assert "Which role? /people USER viewer, editor, admin or none" in text
        assert "Which role? /invite viewer, editor, admin" in text
        assert "This lets one person in as a viewer, once, within a day:" in text
        text = await plain(port, "bob", tmp_path, "/people\n/status\nmay I?\n", *known)
        assert "(Ann) hello" in text
        assert "Bob (you): viewer, here" in text
        assert "People: with Ann · you are a viewer" in text
        assert "You are a viewer in this session" in text
        text = await plain(port, "bob", tmp_path, "/people eve admin\n", *known)
        assert "only an admin can invite people or change what they may do. Ask Ann." in text


async def test_a_plain_chat_joins_by_the_address_that_another_showed(tmp_path: Path) -> None:
    """The command that is shown is the one that joins, with the key of whoever uses it."""
    async with (
        served_gateway() as port,
        Client.connect(
            f"ws://127.0.0.1:{port}/acp", token=key_of("ann"), permissions=Permissions.deny_all()
        ) as ann,
    ):
        session = await ann.new_session(cwd=tmp_path)
        await session.ask("hello")
        text = await plain(port, "ann", tmp_path, "/invite\n", "--session", session.id)
        shown = re.search(r"accord chat '(\S+)' --token-env", text)
        assert shown is not None, text
        text = await plain(port, "bob", tmp_path, "/people\nmay I?\n", shown.group(1))
        assert "Bob (you): editor, here" in text
        assert "you said may I?" in text
        text = await plain(port, "bob", tmp_path, "", shown.group(1), "--continue")
        assert "an invitation already names its session" in text

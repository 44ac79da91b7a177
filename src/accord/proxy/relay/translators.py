"""The choice of a translator between two versions, and the surroundings that it gets."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from accord.machine import clock
from accord.machine.processes.program_lookup import find_program
from accord.proxy.approved_calls import SessionApprovals, command_line
from accord.translate.chain import Chain
from accord.translate.early_v2.agent import EarlyAgent
from accord.translate.message import Json, Surroundings, Translator
from accord.translate.pass_through import Same
from accord.translate.validation import Spoken

Outside: TypeAlias = Literal["v1", "v2", "draft", "v2-early"]
"""The versions that a client can be served in: all three, and the early drafts of v2."""


class Settings(NamedTuple):
    """Options of a translator."""

    strict: bool = False
    unstable: bool = False
    host: frozenset[str] = frozenset()


NOTHING_SPECIAL = Settings()


def between(outside: Outside, inside: Spoken, around: Surroundings, how: Settings) -> Translator:
    """Return the translator for a client of one version and an agent of another."""
    if outside == "v2-early":
        from accord.translate.early_v2.client import EarlyClient

        early = EarlyClient(around, strict=how.strict, unstable=how.unstable)
        return early if inside == "v2" else Chain(early, between("v2", inside, around, how))
    if outside == inside:
        return _same(inside, around)
    if outside == "v1":
        return _v2_agent(around, how) if inside == "v2" else _draft_agent(around, how)
    if outside == "v2":
        v1_agent = _v1_agent(around, how)
        return v1_agent if inside == "v1" else Chain(v1_agent, _draft_agent(around, how))
    draft_client = _draft_client(around, how)
    return draft_client if inside == "v1" else Chain(draft_client, _v2_agent(around, how))


def _same(spoken: Spoken, around: Surroundings) -> Translator:
    if spoken == "v2":
        return EarlyAgent(around)
    if spoken == "v1":
        return Same(around)
    from accord.translate.draft.pass_through import SameDraft

    return SameDraft(around)


def _v1_agent(around: Surroundings, how: Settings) -> Translator:
    from accord.translate.v1_agent import V1Agent

    return V1Agent(around, strict=how.strict, unstable=how.unstable, host=how.host)


def _v2_agent(around: Surroundings, how: Settings) -> Translator:
    from accord.translate.v2_agent import V2Agent

    v2_agent = V2Agent(around, strict=how.strict, unstable=how.unstable)
    return Chain(v2_agent, EarlyAgent(around))


def _draft_agent(around: Surroundings, how: Settings) -> Translator:
    from accord.translate.draft.agent import DraftAgent

    return DraftAgent(around, strict=how.strict, unstable=how.unstable)


def _draft_client(around: Surroundings, how: Settings) -> Translator:
    from accord.translate.draft.client import DraftClient

    return DraftClient(around, strict=how.strict, unstable=how.unstable)


def surroundings(
    log: Callable[[str], None],
    warn: Callable[[str], None],
    read_text: Callable[[str], str | None],
    keep_secret: Callable[[str, Json], None],
) -> Surroundings:
    """Return the surroundings that a translator has on this machine."""
    return Surroundings(
        now=time.monotonic,
        stamp=clock.timestamp,
        fresh=lambda: uuid.uuid4().hex,
        read_text=read_text,
        keep_secret=keep_secret,
        log=log,
        warn=warn,
        find_program=_program,
        recall_secret=_secrets,
        approvals=SessionApprovals,
        command_line=command_line,
    )


def _secrets(method: str) -> Json:
    """Return the credentials in this process's environment if they are for this login method."""
    from accord.client.credential import from_environment

    credential = from_environment()
    return dict(credential.secrets) if credential and credential.method == method else {}


def _program(name: str) -> str | None:
    """Find the program that a bare name means on this machine; None for a path."""
    if os.path.basename(name) != name:
        return None
    return find_program(name)

"""The client of a world: it opens sessions, prompts, looks, cancels, leaves, as the plan says."""

from random import Random
from typing import Any

import anyio

from accord.client import Client, Reply, Session
from accord.client.session.session import PromptTurn
from accord.errors import (
    AccordError,
    ConnectionLost,
    LocalProtocolError,
    RateLimited,
    RequestCancelled,
    RequestFailed,
)
from accord.transcript import Update
from tests.simulation.event_log import (
    TOKEN,
    Chronicle,
    Run,
    check_order,
    session_of,
    tokens_in,
)
from tests.simulation.frame_checks import CANCEL_SECONDS
from tests.simulation.peers.agent import PLANNED_CODE
from tests.simulation.peers.client_services import Services
from tests.simulation.plan import Plan, Prompt, SessionPlan

TOO_MANY_PROMPTS = -32600
# As long as the steps of a loop take that nobody waits for.
AT_ONCE_SECONDS = 0.01
NOT_FOUND = -32002
# Requests that were taken back count until they are answered; within this all of a world are.
BUSY_SECONDS = 10 * CANCEL_SECONDS


class Planned(Exception):
    """What a client's program raises in the middle of a turn."""


class ClientSide:
    """One life of the client."""

    def __init__(self, plan: Plan, chronicle: Chronicle, random: Random) -> None:
        self._plan = plan
        self._chronicle = chronicle
        self._random = random
        self.services = Services(chronicle, random, plan.decides)
        self.sessions: dict[str, Session] = {}
        # A program may hold on to its turns: what is over must not depend on being garbage.
        self._kept: list[PromptTurn] = []
        # Turns of v1 that were left before their answers came.
        self._left: list[tuple[Prompt, PromptTurn]] = []

    async def decide(self, request: Any) -> bool:
        """Answer a permission request as the plan says, unless it is taken back first."""
        # The first stop from here on counts.
        self._chronicle.first_stop.pop(request.session_id, None)
        try:
            return await self._decide()
        except anyio.get_cancelled_exc_class():
            self._must_be_in_time(request.session_id)
            raise

    def _must_be_in_time(self, session_id: str) -> None:
        """A user who stops a turn is not asked about it any longer, whatever the agent does."""
        stopped = self._chronicle.first_stop.get(session_id)
        late = 0.0 if stopped is None else anyio.current_time() - stopped
        broken = self._chronicle.broken
        self._chronicle.check(
            late < AT_ONCE_SECONDS or broken, f"a question was there {late:g} s after its cancel"
        )

    async def _decide(self) -> bool:
        match self._plan.decides:
            case "yes":
                return True
            case "no":
                return False
            case "late":
                await anyio.sleep(self._random.random())
                return True
            case _:
                await anyio.sleep(30)
                return True

    # ---- sessions

    async def open(self, client: Client, name: str) -> Session:
        """A new session; a bounded agent may refuse it for a while, as any request."""
        given_up_at = anyio.current_time() + BUSY_SECONDS
        while True:
            try:
                session = self.sessions[name] = await client.new_session("/")
            except RateLimited as error:
                self._must_be_bounded(error)
                if anyio.current_time() > given_up_at:
                    raise
                await anyio.sleep(1)
            else:
                return session

    async def live(self, client: Client, name: str, plan: SessionPlan) -> None:
        """Everything that happens in one session."""
        session = await self.open(client, name)
        async with anyio.create_task_group() as tasks:
            for seconds in plan.cancels_at:
                tasks.start_soon(self._cancel_later, session, name, seconds)
            if plan.closes_at is not None:
                tasks.start_soon(self._close_later, session, name, plan.closes_at)
            for number, (seconds, extra) in enumerate(plan.extras):
                key = f"{name}extra{number}"
                tasks.start_soon(self._do_later, session, key, seconds, extra)
            watching = anyio.CancelScope()
            if plan.watches and not session.is_closed:
                tasks.start_soon(self._watch, session, watching)
            if plan.at_once:
                async with anyio.create_task_group() as prompts:
                    for prompt in plan.prompts:
                        prompts.start_soon(self.prompt_later, session, prompt)
            else:
                for prompt in plan.prompts:
                    await self.prompt(session, prompt)
            watching.cancel()
        if plan.reopens and name not in self._chronicle.closed:
            await self._reopen(client, session, name)

    async def _reopen(self, client: Client, session: Session, name: str) -> None:
        """Close it and load it again: what is there then is checked when all is at rest."""
        self._chronicle.cancelled.add(name)
        try:
            await session.close()
            self.sessions[name] = await client.load_session(session.id, "/")
        except ConnectionLost as error:
            self._must_be_over(session, error)
        except RateLimited as error:
            self._must_be_bounded(error)

    async def _do_later(self, session: Session, key: str, seconds: float, extra: str) -> None:
        await anyio.sleep(seconds)
        try:
            match extra:
                case "list":
                    await session.client.list_page()
                case "set_option":
                    value = self._random.choice(("shallow", "deep"))
                    await session.set_option("depth", value)
                case "cancel_tool":
                    for call in session.transcript.tool_calls:
                        if call.cancellable and not call.is_final:
                            await session.cancel_tool_call(call.tool_call_id)
                case "extension":
                    doubled = await session.client.call_extension("_twice", {"number": 21})
                    self._chronicle.check(doubled == {"twice": 42}, f"twice 21 is {doubled}")
                case _:
                    self._chronicle.cancelled.add(key.partition("extra")[0])
                    with anyio.move_on_after(0.001):
                        await session.ask(key)
        except (LocalProtocolError, ConnectionLost) as error:
            self._must_be_over(session, error)
        except RequestFailed as error:
            # It may be too late for it, or one too many; the agent says so and goes on.
            known = error.code in (NOT_FOUND, -32602, TOO_MANY_PROMPTS, -32603)
            self._chronicle.check(known, f"{extra} failed with {error!r}")

    async def _cancel_later(self, session: Session, name: str, seconds: float) -> None:
        await anyio.sleep(seconds)
        await self._stop(session, name)

    async def _stop(self, session: Session, name: str) -> None:
        self._chronicle.cancelled.add(name)
        try:
            await session.cancel()
        except (LocalProtocolError, ConnectionLost) as error:
            self._must_be_over(session, error)

    async def _close_later(self, session: Session, name: str, seconds: float) -> None:
        await anyio.sleep(seconds)
        self._chronicle.cancelled.add(name)
        self._chronicle.closed.add(name)
        try:
            await session.close()
        except ConnectionLost as error:
            self._must_be_over(session, error)
        except RateLimited as error:
            self._chronicle.closed.discard(name)
            self._must_be_bounded(error)

    def _must_be_bounded(self, error: RateLimited) -> None:
        """The agent may still count a request that was taken back."""
        bounded = self._plan.limits.pending_requests < 1024
        self._chronicle.check(bounded, f"the agent has no bound, and yet {error!r}")

    def _must_be_over(self, session: Session, error: AccordError) -> None:
        name = next((key for key, one in self.sessions.items() if one is session), "?")
        over = self._chronicle.broken or name in self._chronicle.closed
        self._chronicle.check(over, f"{name}: nothing was broken, and yet {error!r}")

    async def _watch(self, session: Session, scope: anyio.CancelScope) -> None:
        """Look at all updates, until the session's prompts are over."""
        seen: list[str] = []
        try:
            stream = session.updates()
        except (LocalProtocolError, ConnectionLost) as error:
            self._must_be_over(session, error)
            return
        try:
            with scope:
                async for update in stream:
                    seen.extend(_tokens_of(update))
        finally:
            stream.close()
            where = f"the updates of {session.id}"
            check_order(self._chronicle, where, seen, from_the_start=False)

    # ---- prompts

    async def prompt_later(self, session: Session, prompt: Prompt) -> None:
        """The same at its own time, beside others."""
        await anyio.sleep(prompt.starts)
        await self.prompt(session, prompt)

    async def prompt(self, session: Session, prompt: Prompt) -> None:
        """One prompt, from its beginning to whatever end."""
        name = session_of(prompt.key)
        self._chronicle.stops_before[prompt.key] = self._chronicle.stops.get(session.id, 0)
        try:
            reply = await self._follow(session, prompt, name)
        except (LocalProtocolError, ConnectionLost) as error:
            self._must_be_over(session, error)
        except RequestCancelled:
            self._must_have_cancelled(name, prompt)
        except RequestFailed as error:
            self._failed(prompt, error, name)
        except Planned:
            pass
        else:
            if reply is not None:
                self._replied(prompt, name, reply)
        self._chronicle.prompts_done += 1

    async def _follow(self, session: Session, prompt: Prompt, name: str) -> Reply | None:
        match prompt.behaviour:
            case "ask":
                return await session.ask(prompt.key)
            case "time_out":
                due = anyio.current_time() + prompt.seconds
                cancels_at = self._chronicle.cancels_at
                cancels_at[name] = min(due, cancels_at.get(name, due))
                with anyio.move_on_after(prompt.seconds) as scope:
                    reply = await session.ask(prompt.key)
                if scope.cancelled_caught:
                    self._chronicle.cancelled.add(name)
                    return None
                return reply
            case "cancel_later":
                return await self._follow_and_cancel(session, prompt, name)
        async with session.prompt(prompt.key) as turn:
            self._kept.append(turn)
            seen: list[str] = []
            count = 0
            async for update in turn:
                self._chronicle.updates_seen += 1
                seen.extend(_tokens_of(update))
                count += 1
                if prompt.behaviour == "iterate_slowly":
                    await anyio.sleep(0.02)
                elif count > prompt.after and prompt.behaviour != "iterate":
                    if prompt.behaviour == "break":
                        self._chronicle.cancelled.add(name)
                        break
                    if prompt.behaviour == "raise":
                        self._chronicle.cancelled.add(name)
                        raise Planned
                    if count == prompt.after + 1:
                        self._chronicle.cancelled.add(name)
                        await turn.cancel()
            self._check_iterated(prompt.key, seen)
        self._must_be_ended(turn, prompt)
        if self._plan.version == 1 and turn._exchange.is_left:
            # Whether what it shows is its own, only the answers to those before it can tell.
            self._left.append((prompt, turn))
            return None
        return turn.reply if turn.error is None else None

    async def _follow_and_cancel(self, session: Session, prompt: Prompt, name: str) -> Reply:
        async with session.prompt(prompt.key) as turn, anyio.create_task_group() as tasks:

            async def later() -> None:
                await anyio.sleep(prompt.seconds)
                self._chronicle.cancelled.add(name)
                try:
                    await turn.cancel()
                except (LocalProtocolError, ConnectionLost) as error:
                    self._must_be_over(session, error)

            tasks.start_soon(later)
            try:
                reply = await turn.wait()
            except AccordError as error:
                tasks.cancel_scope.cancel()
                failed: AccordError | None = error
            else:
                tasks.cancel_scope.cancel()
                failed = None
        if failed is not None:
            raise failed
        return reply

    def _check_iterated(self, key: str, seen: list[str]) -> None:
        own = _own(seen, key)
        check_order(self._chronicle, f"{key} as iterated", own)
        # In v1 nothing tells the rest of a turn that was left from what comes for the next.
        if self._plan.version == 2 and own != seen:
            others = sorted(set(seen) - set(own))
            self._chronicle.wrong(f"{key} as iterated has pieces of others: {others}")

    def _must_be_ended(self, turn: PromptTurn, prompt: Prompt) -> None:
        ended = turn.is_over and (turn.stop_reason is not None or turn.error is not None)
        self._chronicle.check(ended, f"{prompt.key}: its block is left and it has not ended")

    def check_left(self) -> None:
        """All answers have come: what a turn shows that was left is its own now."""
        for prompt, turn in self._left:
            self._replied(prompt, session_of(prompt.key), turn.reply)

    # ---- what came of it

    def _must_have_cancelled(self, name: str, prompt: Prompt) -> None:
        at = self._chronicle.cancels_at.get(name)
        timed_out = at is not None and anyio.current_time() >= at
        asked = name in self._chronicle.cancelled or timed_out or self._chronicle.broken
        self._chronicle.check(asked, f"{prompt.key} was cancelled, and nobody asked for that")

    def _failed(self, prompt: Prompt, error: RequestFailed, name: str) -> None:
        runs = self._chronicle.runs.get(prompt.key, [])
        steps = {step.kind for step in prompt.steps}
        # Nothing ran, or only what asked for another try: that one may find a full queue.
        unheard = all("limit" in steps and run.end == "error" for run in runs)
        planned = (
            (error.code == PLANNED_CODE and "fail" in steps and runs)
            or (isinstance(error, RateLimited) and "limit" in steps and runs)
            # The agent may still count a request that was taken back.
            or (isinstance(error, RateLimited) and self._plan.limits.pending_requests < 1024)
            or (error.code == TOO_MANY_PROMPTS and self._plan.version == 1 and unheard)
            or (error.code in (NOT_FOUND, -32602) and name in self._chronicle.closed)
            or self._chronicle.broken
        )
        self._chronicle.check(bool(planned), f"{prompt.key} failed with {error!r}")

    def _replied(self, prompt: Prompt, name: str, reply: Reply) -> None:
        chronicle = self._chronicle
        runs = chronicle.runs.get(prompt.key, [])
        stopped = chronicle.stopped_at.get(prompt.key)
        if stopped is not None and reply.stop_reason != "cancelled":
            chronicle.wrong(f"{prompt.key} was cancelled at work and ended {reply.stop_reason}")
        if reply.stop_reason == "cancelled":
            self._must_have_cancelled(name, prompt)
        elif not runs:
            chronicle.wrong(f"{prompt.key} ended {reply.stop_reason} and never ran")
            return
        elif reply.stop_reason != runs[-1].end:
            chronicle.wrong(f"{prompt.key} ended {runs[-1].end}, the client heard {reply}")
        check_text(
            chronicle,
            prompt.key,
            reply.text,
            runs,
            whole=reply.stop_reason != "cancelled",
        )


def check_text(
    chronicle: Chronicle,
    key: str,
    text: str,
    runs: list[Run],
    *,
    whole: bool,
) -> None:
    """A reply has what was surely said and nothing that was not, in order, and no more than that.

    So does one that follows a turn whose end the client did not wait for.
    """
    found = tokens_in(text)
    check_order(chronicle, f"the reply to {key}", found)
    rest = TOKEN.sub("", text).replace("\n\n", "")
    chronicle.check(rest == "", f"the reply to {key} has text that nobody said: {rest[:100]!r}")
    shown = set(found)
    begun = {token for run in runs for pieces in run.begun.values() for token in pieces}
    chronicle.check(shown <= begun, f"the reply to {key} has pieces of others: {shown - begun}")
    if whole:
        run = runs[-1]
        surely = {t for stream, some in run.begun.items() for t in some[: run.said.get(stream, 0)]}
        lost = sorted(surely - shown)
        chronicle.check(not lost, f"the reply to {key} lacks {lost}")


def _tokens_of(update: Update) -> list[str]:
    """The tokens that an update brings."""
    return tokens_in(update.text) if update.kind == "message" else []


def _own(tokens: list[str], key: str) -> list[str]:
    return [token for token in tokens if token.startswith(f"<{key}.")]

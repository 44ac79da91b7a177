"""The agent of a world: it does what the plan says, and writes down what it says."""

from collections.abc import Mapping

import anyio

from accord.agent import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.errors import ConnectionLost, LocalProtocolError, RateLimited, RequestError
from accord.store import SessionStore
from tests.simulation.event_log import Chronicle, Run
from tests.simulation.peers.agent_requests import fill_form, run_command, use_file
from tests.simulation.peers.client_services import Services
from tests.simulation.plan import Plan, Prompt, Step

LOGIN = "key"
PLANNED_CODE = -32011
# A prompt that is sent beside the plan.
NOTHING = Prompt("nothing", (), "ask", 0, 0.0, 0.0)
# A handler that does not heed a cancellation goes on for this many times what others sleep.
STUBBORN = 6
_FILLERS = ("", "é", "漢字😀", '"\\"', "x" * 40, "\n")


class AgentSide:
    """One life of the agent."""

    def __init__(
        self, plan: Plan, chronicle: Chronicle, store: SessionStore, services: Services
    ) -> None:
        self._chronicle = chronicle
        self._plan = plan
        # The client's, to know what they did.
        self._services = services
        self._prompts: Mapping[str, Prompt] = {
            prompt.key: prompt
            for prompt in (*plan.again, *(p for one in plan.sessions for p in one.prompts))
        }
        self._fillers = 0
        self._is_bounded = plan.limits.pending_requests < 1024
        # The library's sessions, so that it can be seen whether they come to rest.
        self.sessions: dict[str, AgentSession] = {}
        self._running: dict[str, str] = {}
        self.agent = Agent(
            "simulated", version="1", store=store, limits=plan.limits, strict=plan.strict
        )
        self.agent.on_prompt(self._answer)
        self.agent.on_session(self._meet)
        self.agent.add_option("depth", "Depth", ("shallow", "deep"))
        self.agent.method("_twice")(self._double)
        if plan.needs_login:
            self.agent.add_auth_method(LOGIN, "Key")
            self.agent.knows_login(lambda: chronicle.logged_in)
            self.agent.on_authenticate(self._log_in)

    async def _log_in(self, method_id: str) -> None:
        await anyio.sleep(0.001)
        self._chronicle.logged_in = True

    async def _double(self, params: dict[str, int]) -> dict[str, int]:
        await anyio.sleep(0.002)
        return {"twice": 2 * params["number"]}

    async def _meet(self, session: AgentSession) -> None:
        self.sessions[session.id] = session

    async def _answer(self, turn: Turn) -> str | None:
        run = self._chronicle.run(turn.text)
        if turn.text in self._chronicle.doomed and not turn.is_cancelled:
            self._chronicle.wrong(f"{turn.text} runs though it was cancelled while it waited")
        other = self._running.get(turn.session.id)
        if other is not None and not self._is_left_behind(turn):
            self._chronicle.wrong(f"{turn.text} runs while {other} does")
        self._running[turn.session.id] = turn.text
        try:
            reason: str | None = None
            for number, step in enumerate(self._prompts.get(turn.text, NOTHING).steps):
                reason = await self._do(turn, run, step, number)
                if reason is not None:
                    break
            run.end = reason or "end_turn"
            return reason
        except RequestError as error:
            run.end, run.error = "error", error.code
            raise
        except LocalProtocolError as error:
            run.end = "left behind"
            if not turn.is_over and not turn.session.closed:
                self._chronicle.wrong(f"{turn.text}: {error}")
            return None
        except ConnectionLost:
            run.end = "lost"
            return None
        except RateLimited:
            # The client refuses more questions at once than its bound; it may still count one
            # that we have taken back.
            run.end = "refusal"
            if not self._is_bounded:
                raise
            return run.end
        except Exception as error:
            run.end = "error"
            self._chronicle.wrong(f"{turn.text}: the library raised {error!r} in a handler")
            raise
        finally:
            if run.end is None:
                run.end = "cancelled"
            if self._running.get(turn.session.id) == turn.text:
                del self._running[turn.session.id]

    def _is_left_behind(self, turn: Turn) -> bool:
        """A handler that did not heed a cancellation goes on beside the next turn."""
        return any(
            step.kind in ("stubborn", "swallow")
            for one in self._prompts.values()
            for step in one.steps
        )

    async def _do(self, turn: Turn, run: Run, step: Step, number: int) -> str | None:
        match step.kind:
            case "say":
                for _ in range(step.count):
                    await self._say(turn, run, number)
            case "stream" | "big":
                await self._stream(turn, run, number, step)
            case "think":
                async with turn.thought() as thought:
                    await thought.write("hm")
            case "tool" | "cancellable_tool":
                await self._use_tool(turn, run, step, number)
            case "ask_permission":
                await self._ask(turn, step)
            case "open_tool":
                await self._leave_tool_open(turn, step)
            case "sleep":
                await anyio.sleep(step.seconds)
            case "plan":
                plan = await turn.plan("look", "mend")
                await plan.complete(0)
            case "title":
                await turn.set_title(f"title of {turn.text}")
            case "parallel":
                await self._say_at_once(turn, run, step, number)
            case "stubborn":
                await self._ignore_cancellation(turn, run, step, number)
            case "swallow":
                try:
                    await anyio.sleep(step.seconds)
                except anyio.get_cancelled_exc_class():
                    pass
            case "fail":
                raise RequestError(PLANNED_CODE, "planned")
            case "limit":
                if len(self._chronicle.runs[turn.text]) <= step.count:
                    raise RequestError.rate_limited("slow down", retry_after=step.seconds)
            case "log_out":
                self._chronicle.logged_in = False
            case "chatter":
                turn.session.start_soon(self._chatter, turn.session, step)
            case "stop":
                return "max_tokens"
            case "file" | "command" | "form":
                await self._be_served(turn, run, step, number)
        return None

    async def _be_served(self, turn: Turn, run: Run, step: Step, number: int) -> None:
        chronicle, services = self._chronicle, self._services
        if step.kind == "form":
            await fill_form(chronicle, services, self._plan.decides, turn, run, number)
        elif turn.session.protocol_version == 1:
            # In v2 files and commands are the agent's own, and real.
            if step.kind == "file":
                await use_file(chronicle, services, turn, run, step)
            else:
                await run_command(chronicle, turn, run, step, number)

    async def _chatter(self, session: AgentSession, step: Step) -> None:
        """Something of the session's own, which no turn ends."""
        for _ in range(step.count):
            await anyio.sleep(step.seconds / 2)
            await session.set_title(f"title {self._fillers}")
            self._fillers += 1

    def _filler(self, big: bool = False) -> str:
        self._fillers += 1
        return "y" * 600 if big else _FILLERS[self._fillers % len(_FILLERS)]

    async def _say(self, turn: Turn, run: Run, stream: int) -> None:
        await turn.say(run.token(stream, self._filler()))
        run.said[stream] = run.said.get(stream, 0) + 1

    async def _stream(self, turn: Turn, run: Run, stream: int, step: Step) -> None:
        async with turn.message() as message:
            for _ in range(step.count):
                await message.write(run.token(stream, self._filler(step.kind == "big")))
                run.said[stream] = run.said.get(stream, 0) + 1

    async def _say_at_once(self, turn: Turn, run: Run, step: Step, number: int) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._stream, turn, run, 100 + number, step)
                tasks.start_soon(self._stream, turn, run, 200 + number, step)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _ignore_cancellation(self, turn: Turn, run: Run, step: Step, number: int) -> None:
        """What is left behind may still want to say something, and must not be heard."""
        async with turn.message() as message:
            await message.write(run.token(number, self._filler()))
            run.said[number] = 1
            with anyio.CancelScope(shield=True):
                await anyio.sleep(step.seconds * STUBBORN)
                await message.write(run.token(number, self._filler()))
            run.said[number] = 2

    async def _use_tool(self, turn: Turn, run: Run, step: Step, number: int) -> None:
        cancellable = step.kind == "cancellable_tool"
        title = f"{turn.text} tool {number}"
        async with turn.tool_call(title, kind="read", cancellable=cancellable) as call:
            await call.start()
            await anyio.sleep(step.seconds)
            await call.show("shown")

    async def _ask(self, turn: Turn, step: Step) -> None:
        async with turn.tool_call(f"{turn.text} asks", kind="edit") as call:
            if await call.ask("because"):
                await call.start()
                await anyio.sleep(step.seconds / 10)

    async def _leave_tool_open(self, turn: Turn, step: Step) -> None:
        call = turn.tool_call(f"{turn.text} leaves open", kind="execute")
        await call.announce()
        if step.count > 1:
            await call.start()

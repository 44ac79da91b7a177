"""An agent that answers with a model, and a client in plain JSON that talks to it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from accord.agent import Agent, Turn
from accord.agent.session.options_and_commands import Choice, Option
from accord.builtin.llm.brain import ModelBrain
from accord.builtin.llm.model_request import RetryPolicy
from accord.builtin.models.model_loader import LoadedModel, load_model
from accord.builtin.models.providers import ModelChoice, Secret
from accord.builtin.modes import AUTO_APPROVE, MODES
from accord.builtin.tools.toolbox import Toolbox
from accord.builtin.workspace import Workspace, open_workspace
from accord.store import MemoryStore
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.fake_llm import FakeLLM
from tests.hang_limit import HANG_SECONDS

Load = Callable[[ModelChoice], Awaitable[LoadedModel]]

KEY = "sk-very-secret-key-1234567890"
FORMATS = ("chat", "responses", "anthropic", "google", "ollama")
QUICK = RetryPolicy(tries=3, first_seconds=0.01, seconds_max=1.0)
EVERYTHING: dict[str, Any] = {"session": {"notices": {}, "compaction": {}}}


def choice_of(form: str, llm: FakeLLM, **more: Any) -> ModelChoice:
    """The fake model in one of its formats."""
    key = Secret(KEY)
    given: dict[str, Any] = {"key": key, "found": "key from a test", **more}
    if form == "anthropic":
        return ModelChoice("anthropic", "claude-sonnet-5", llm.url, **given)
    if form == "google":
        return ModelChoice("google", "gemini-2.5-flash", llm.url, **given)
    if form == "ollama":
        return ModelChoice("ollama", "qwen3", f"{llm.url}/v1", **given)
    return ModelChoice("openai", "gpt-5", f"{llm.url}/v1", api=form, **given)


class Talk:
    """One session with a model."""

    def __init__(self, client: RawClient, session_id: str) -> None:
        self.client = client
        self.session_id = session_id
        self.asked: list[Message] = []
        # What the user answers to every question.
        self.answer = "allow_once"
        client.serve["session/request_permission"] = self._decide

    def _decide(self, params: Message) -> Any:
        self.asked.append(params)
        chosen = {"outcome": "selected", "optionId": self.answer}
        return {"outcome": chosen, "_meta": {"accord.decidedBy": "user"}}

    async def say(self, *blocks: str | Message) -> Message:
        """A whole turn: {"stopReason": …} or {"error": …}."""
        return await self.ended(self.start(*blocks))

    def start(self, *blocks: str | Message) -> Any:
        """Begin a turn."""
        self.client.unread.clear()
        prompt = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
        params = {"sessionId": self.session_id, "prompt": prompt}
        return self.client.start("session/prompt", params)

    async def ended(self, request_id: Any) -> Message:
        """Wait for the end of a turn."""
        answer = await self.client.answer(request_id)
        if self.client.version == 1 or "error" in answer:
            ended: Message = answer.get("result") or {"error": answer["error"]}
            return ended
        while True:
            state = await self.client.update("state_update")
            if state["state"] == "idle":
                return {key: state[key] for key in ("stopReason", "error") if key in state}

    async def set(self, option_id: str, value: str) -> None:
        """As the user does in a picker."""
        params = {"sessionId": self.session_id, "configId": option_id, "value": value}
        if self.client.version == 2:
            params["type"] = "id"
        await self.client.result("session/set_config_option", params)

    @property
    def text(self) -> str:
        """All that the model said."""
        return self.client.text()

    @property
    def thoughts(self) -> str:
        """All that the model thought."""
        updates = [
            *self.client.updates("agent_thought_chunk"),
            *self.client.updates("agent_thought"),
        ]
        blocks: list[Any] = []
        for update in updates:
            content = update["content"]
            blocks.extend(content if isinstance(content, list) else [content])
        return "".join(block["text"] for block in blocks)

    def calls(self) -> list[list[Message]]:
        """What was told of every tool call, in order."""
        lives: dict[str, list[Message]] = {}
        for update in self.client.updates():
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                lives.setdefault(update["toolCallId"], []).append(update)
        return list(lives.values())

    def last_of_calls(self) -> list[Message]:
        """Every tool call as it stands."""
        stand: list[Message] = []
        for life in self.calls():
            merged: Message = {}
            for update in life:
                merged |= update
            stand.append(merged)
        return stand


def made(
    choice: ModelChoice,
    *,
    load: Load = load_model,
    store: MemoryStore | None = None,
    retry: RetryPolicy = QUICK,
    unstable: bool = True,
) -> Agent:
    """An agent that has nothing but this model."""
    agent = Agent(
        "model",
        version="1",
        store=store,
        unstable=unstable,
        accepts=("image", "audio", "embedded_context"),
    )
    agent.accept_system_prompt(override=True)
    for mode in MODES:
        agent.offer.add_mode(mode)
    agent.offer.add_option(AUTO_APPROVE)
    agent.offer.add_option(_option("thinking", "off", ("off", "low", "high")))
    agent.offer.add_option(_option("token_limit", "none", ("none", "10", "1000", "64000")))
    agent.offer.add_option(_option("request_limit", "none", ("none", "1", "2")))
    workspaces: dict[str, Workspace] = {}

    @agent.on_prompt
    async def answer(turn: Turn) -> str | None:
        session = turn.session
        workspace = workspaces.get(session.id)
        if workspace is None or workspace.session is not session:
            workspace = workspaces[session.id] = await open_workspace(session)
        brain = ModelBrain(choice, load=load, retry=retry)
        return await brain.turn(turn, Toolbox(turn, workspace), workspace)

    return agent


def _option(option_id: str, default: str, values: Iterable[str]) -> Option:
    return Option(option_id, option_id, default, tuple(Choice(one, one) for one in values))


@asynccontextmanager
async def talk(
    agent: Agent,
    folder: Path,
    *,
    version: int = 2,
    notices: bool = True,
    capabilities: dict[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Talk]:
    """A session with an agent."""
    capabilities = (EVERYTHING if notices else {}) | (capabilities or {})
    async with raw_client(agent, version=version, capabilities=capabilities) as client:
        session_id = await client.new_session(str(folder), **more)
        with anyio.fail_after(HANG_SECONDS):
            yield Talk(client, session_id)

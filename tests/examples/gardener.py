"""An agent with every feature in the documents, and scripted clients for it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import anyio

from accord.agent import Agent, Turn
from accord.schema import v2
from accord.translate.diffs import diff_of, wire_diff
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import RawClient, raw_client
from tests.examples.examples import CLIENT_METHODS, Json, Spoken
from tests.examples.peers import ANSWERS, ASKED

ANY = "?"
# Members that have no form of their own.
ANYTHING = ("rawInput", "rawOutput", "input", "arguments")


class Gates(TypedDict):
    """What the method of its own wants."""

    side: str


def gardener(
    *, early: bool = False, login: bool = False, talkative: bool = False, **more: Any
) -> Agent:
    """The agent; a prompt that says `wait` is worked on until it is cancelled."""
    agent = Agent(
        "gardener",
        version="0.9",
        accepts=("image", "audio", "embedded_context"),
        mcp=("http", "sse"),
        early_v2=early,
        **more,
    )
    agent.add_mode("default", "Default", "Does what is usual")
    agent.add_mode("ask", "Careful", "Asks for leave before it changes a thing")
    agent.add_mode("architect", "Drafting", "Draws, and touches nothing")
    agent.add_mode("code", "Digging", "Works on its own")
    agent.add_mode("plan", "Planning", "Lists the work first")
    agent.add_option("model", "Model", ["small", "large"], category="model")
    agent.add_switch("autoApprove", "Without questions")
    agent.on_prompt(say_all if talkative else work)

    @agent.command("almanac", "Looks a day up", hint="which day")
    async def almanac(turn: Turn, words: str) -> None:
        await turn.say(f"It is {words}")

    if login:
        agent.add_auth_method("house_key", "The house's key")
        agent.add_auth_method("api_key", "A key")

    @agent.on_authenticate
    async def log_in(method: str, credentials: Mapping[str, Any]) -> None:
        del method, credentials

    @agent.method("_orchard.test/open_gates")
    async def gates(params: Gates) -> Json:
        return {"gates": 2, "side": params["side"]}

    return agent


async def work(turn: Turn) -> None:
    """Not much."""
    turn.count_tokens(input=4, output=2)
    if "wait" in turn.text:
        async with turn.tool_call("Waiting", kind="other"):
            await anyio.sleep_forever()
    await turn.say("Done.")


async def say_all(turn: Turn) -> None:
    """All that can be told."""
    turn.count_tokens(input=4, output=2)
    await turn.plan("Walk", v2.PlanEntry(content="Rest", priority="low", status="pending"))
    await turn.think("hm")
    await turn.say("Two rows look neglected.")
    async with turn.message() as message:
        await message.write("Row ")
        await message.write("two first.")
    await turn.usage(9100, 64000, cost=0.31)
    await turn.set_mode("code")
    await turn.set_option("autoApprove", True)
    path = f"{turn.cwd}/rows.toml"
    diff = diff_of(path, "rows = 8\n", "rows = 9\n")
    call = turn.tool_call(
        "Walking",
        kind="edit",
        name="fs/write_text_file",
        locations=[(path, 4)],
        raw_input={"path": path},
        content=["first", wire_diff(diff)],
    )
    async with call:
        if await call.ask("The year is missing"):
            await call.set_title("Walking on")
            await call.set_locations((path, 5))
            await call.show("half the rows")
            await call.show_diff(path, "rows = 8\n", "rows = 9\n")
            await call.complete(raw_output={"rows": 2})
    await turn.run("echo", "apples")
    await turn.read_text(path, line=1, limit=3)
    await turn.write_text(path, "rows = 9\n")
    try:
        async with turn.tool_call("Digging", kind="execute"):
            raise ValueError("the spade broke")
    except ValueError:
        await turn.say("No.")


@asynccontextmanager
async def client_of(
    agent: Agent, spoken: Spoken, *, initialize: bool = True
) -> AsyncIterator[RawClient]:
    """A client in plain JSON that says yes, and serves no files."""
    if spoken == "draft":
        offer = {"ui": {"permissionDialogs": True}}
        async with draft_client(agent, offer, initialize=initialize) as client:
            serve(client, "draft")
            yield client
        return
    version = 1 if spoken == "v1" else 2
    validate = not agent._definition.early_v2
    async with raw_client(
        agent, version=version, initialize=initialize, validate=validate
    ) as other:
        serve(other, spoken)
        yield other


def serve(client: RawClient, spoken: Spoken) -> None:
    """Answer all that the agent can ask for."""
    for method in ANSWERS[spoken]:
        if method in CLIENT_METHODS[spoken]:
            client.serve[method] = partial(_answer, spoken, method)
    if spoken != "draft":
        client.serve["session/request_permission"] = lambda params: {
            "outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}
        }


def _answer(spoken: Spoken, method: str, params: Json) -> Json:
    del params
    return ANSWERS[spoken][method]


async def opened(client: RawClient, spoken: Spoken, folder: Path) -> str:
    """A session in a folder; its id."""
    asked = dict(ASKED[spoken]["session/new"])
    asked["workingDirectory" if spoken == "draft" else "cwd"] = str(folder)
    result = await client.result("session/new", asked)
    session_id: str = result["sessionId"]
    return session_id


def is_like(found: Any, wanted: Any) -> bool:
    """Whether it has all that is wanted; `ANY` stands for anything."""
    if wanted == ANY:
        return True
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and is_like(found[name], item) for name, item in wanted.items()
        )
    return bool(found == wanted)


def shape(value: Any, at: str = "") -> set[str]:
    """The names of all members, with the names that they are inside of."""
    if isinstance(value, dict):
        found: set[str] = set()
        for name, item in value.items():
            if not name.startswith("_"):
                inner = set() if name in ANYTHING else shape(item, f"{at}.{name}")
                found |= {f"{at}.{name}"} | inner
        return found
    if isinstance(value, list):
        return set().union(*(shape(one, at) for one in value))
    return set()

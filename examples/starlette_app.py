"""An agent inside a Starlette application, beside the application's own pages.

    granian --interface asgi --backpressure 1000 starlette_app:app
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from accord import Agent, Turn

agent = Agent("hello", version="1.0.0")


@agent.on_prompt
async def greet(turn: Turn) -> None:
    await turn.say(f"You said: {turn.text}")


remote = agent.asgi()  # without `auth`, for programs on this computer only


async def home(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{agent.name} {agent.version}")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with remote:  # ends the agent's connections when the server stops
        yield


app = Starlette(
    routes=[Route("/", home), Mount("/agents/hello", remote)],
    lifespan=lifespan,
)

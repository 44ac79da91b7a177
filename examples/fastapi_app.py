"""An agent inside a FastAPI application that has users of its own.

    uvicorn fastapi_app:app

Clients send the token of a user as `Authorization: Bearer TOKEN`.  Each user has sessions of
their own.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from accord import Agent, RemoteRequest, Turn

USERS = {"token-of-ann": "ann", "token-of-bob": "bob"}  # a database, in a real application

agent = Agent("hello", version="1.0.0")


@agent.on_prompt
async def greet(turn: Turn) -> None:
    await turn.say(f"You said: {turn.text}")


async def user_of(request: RemoteRequest) -> str | None:
    """Called for every request; None refuses it."""
    return USERS.get(request.bearer_token or "")


remote = agent.asgi(auth=user_of, hosts=["localhost", "127.0.0.1"], origins=["https://app.example"])


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with remote:
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/health")
async def health() -> dict[str, int]:
    return {"connections": len(remote.connections)}


app.mount("/", remote)  # last: it answers at /acp, and with 404 everywhere else

"""An agent that wants a login: `login_agent.py FOLDER session|prompt [v1]`.

It is logged in when FOLDER has a file `logged-in`.  It has a login of its own, which tells a page
on stderr without the end of a line, and one in a terminal.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from accord import Agent, Turn
from accord.errors import RequestError

MARK = Path(sys.argv[1]) / "logged-in"
WANTED_BY = sys.argv[2]

if "--login" in sys.argv:
    MARK.write_text(input("The word? "))
    sys.exit(0 if MARK.read_text() == "sesame" else 3)

agent = Agent("guarded", version="1.0.0", versions=(1,) if "v1" in sys.argv else (1, 2))
required = WANTED_BY == "session" and not MARK.exists()
agent.add_auth_method("page", "By a page", "Opens a page", required=required)
agent.add_auth_method(
    "word", "By a word", terminal_args=(*sys.argv[1:], "--login"), required=required
)


@agent.on_authenticate
async def log_in(method: str) -> None:
    """Say where to go, and take it as visited."""
    os.write(2, b"Visit https://example.org/device")
    MARK.write_text(method)


@agent.on_logout
async def log_out() -> None:
    """Forget it."""
    MARK.unlink(missing_ok=True)


@agent.on_prompt
async def answer(turn: Turn) -> None:
    """Answer who is logged in."""
    if WANTED_BY == "prompt" and not MARK.exists():
        raise RequestError.authentication_required("who are you?")
    await turn.say(f"hello by {MARK.read_text()}")


if __name__ == "__main__":
    agent.run()

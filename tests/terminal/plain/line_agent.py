"""An agent for the tests of the line mode: the prompt says what it does.

`write FILE`, `run COMMAND`, `form`, `page`, `wait`, `die`, `limit`, `shout`, `odd`, `plan`,
`think`, `blocks`, `stop REASON`; anything else is echoed.  With `v1` it speaks the older version.
"""

from __future__ import annotations

import os
import sys

import anyio

from accord import Agent, Choice, Turn
from accord.agent.tools.elicitation import FormField
from accord.agent.turn import turn_state
from accord.errors import RequestError
from accord.schema.struct import UnknownVariant

ODD = b'{"sessionUpdate":"dance","steps":3}'
SHOUT = "\x1b]0;shouted\x07\x1b[31mred\x9b2J\x1b[2A\r\x08\u202etxet"
agent = Agent(
    "liner",
    version="1.0.0",
    versions=(1,) if "v1" in sys.argv else (1, 2),
    accepts=("embedded_context",),
)
agent.add_mode("ask", "Ask first", "Asks before it does anything")
agent.add_mode("free", "Free hand", "Does not ask", allow=("edit", "execute"))
agent.add_option(
    "model", "Model", [Choice("small", "Small one"), Choice("large", "Large one")], category="model"
)


if "logins" in sys.argv:
    agent.add_auth_method("tty", "Type a word", terminal_args=("log-in",), required=False)
    agent.add_auth_method("easy", "Just so", required=False)

    @agent.on_authenticate
    async def let_in(method: str) -> None:
        """Everybody is welcome."""


@agent.on_prompt
async def work(turn: Turn) -> str | None:
    """Do what is said."""
    word, _, rest = turn.text.strip().partition(" ")
    if word == "write":
        wrote = await turn.edit(rest, "new text\n", reason="because of the test")
        await turn.say(f"wrote={wrote}")
    elif word == "run":
        done = await turn.run(*rest.split(), timeout=10, reason="to see it run")
        await turn.say(f"exit={done.exit_code} denied={done.denied}")
    elif word == "wait":
        await turn.say("waiting now\n")
        await anyio.sleep_forever()
    elif word == "die":
        os.write(2, b"the disk is on fire\n")
        os._exit(7)
    elif word == "limit":
        raise RequestError(-32058, "too many requests", {"retryAfter": 45})
    elif word == "fail":
        raise RequestError(-32603, "the model broke")
    elif word == "auth":
        raise RequestError(-32000, "who are you?")
    elif word == "shout":
        await turn.say(SHOUT)
        await turn.notice("warning", SHOUT, SHOUT)
    elif word == "form":
        answer = await turn.ask(
            "Who are you?",
            name=FormField("string", title="Name"),
            age=FormField("integer", title="Age", required=False),
            colour=FormField(title="Colour", choices=("red", "green"), default="green"),
            sure=FormField("boolean", title="Sure", default=True),
        )
        await turn.say(f"form: {answer.action} {sorted(answer.values.items())}")
    elif word == "page":
        seen = await turn.ask_to_visit("Please look at this", "http://example.com/a")
        await turn.say(f"page: {seen.action}")
    elif word == "odd":
        await turn_state(turn).send(UnknownVariant("sessionUpdate", "dance", ODD))
        await turn.say("danced")
    elif word == "plan":
        plan = await turn.plan("first", "second")
        await plan.start(0)
        await turn.say("at it")
        await plan.complete(0)
    elif word == "usage":
        await turn.usage(1200, 200_000, cost=0.25)
    elif word == "think":
        await turn.think("deeply")
        await turn.say("done thinking")
    elif word == "blocks":
        await turn.say(" ".join(type(block).__name__ for block in turn.prompt))
    elif word == "state":
        await turn.say(f"mode={turn.mode} model={turn.options['model']}")
    elif word == "stop":
        return rest
    else:
        await turn.say(f"echo: {turn.text}")
    return None


if __name__ == "__main__":
    if "log-in" in sys.argv:
        sys.exit(0 if input("The word? ") == "sesame" else 1)
    agent.run()

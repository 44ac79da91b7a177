"""An agent that does what its prompt says, for the tests on a real screen."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread

from accord import Agent, Turn
from accord.errors import RequestError

HOSTILE = (
    "\x1b]0;owned title\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;http://evil.example\x07link\x1b]8;;\x07"
    "\x1bP+q544e\x1b\\\x1b_Gowned\x1b\\\x1b[2J\x1b[H\x1b[?1049l\x1b[?1000h\x1bc\x9b2J\x9d0;c1\x9c"
    "\x07\x08\x0e\x7f before\r after \x1b[31mnot red\x1b[0m"
)
WIDE = "日本語の文章です。絵文字も 👍🏽 👨\u200d👩\u200d👧 and é combining, Ａ full width."
RIGHT_TO_LEFT = "שלום עולם \u202eevil\u202c مرحبا بالعالم end"
# What a program prints: colours that stay, and the rest that must not.
COLOURED = (
    r"printf '\033[31mred words\033[0m \033[1;38;5;46mgreen words\033[0m"
    r" \033]0;owned title\007\033[2J\033[5;5Hplaced\033[?1003h\n'"
)

agent = Agent("tester", version="1.0.0", title="Tester", accepts=("embedded_context",))
agent.add_mode("ask", "Ask first")
agent.add_mode("free", "Free hand", allow=("edit", "execute"))


@agent.command("greet", "Says hello", hint="whom")
async def greet(turn: Turn, argument: str) -> None:
    """A command to be completed."""
    await turn.say(f"Hello, {argument}!")


@agent.on_prompt
async def work(turn: Turn) -> None:
    """Do what is said."""
    word, _, rest = turn.text.strip().partition(" ")
    if word == "write":
        wrote = await turn.edit(rest, "new text\n", reason="The test wants it so.")
        await turn.say("It is written." if wrote else "It is not written.")
    elif word == "run":
        done = await turn.run("sh", "-c", rest, reason="To see it run.")
        await turn.say(f"It ended with {done.exit_code}.")
    elif word == "wait":
        await turn.say("I wait.")
        await anyio.sleep_forever()
    elif word == "wait-for":
        await turn.say("I wait for a word.")
        # A pipe: this goes on when the test writes into it.
        word = await anyio.to_thread.run_sync((turn.cwd / rest).read_text, abandon_on_cancel=True)
        wrote = await turn.edit("word.txt", word, reason="The word has come.")
        await turn.say("It is written." if wrote else "It is not written.")
    elif word == "stream":
        await _stream(turn, int(rest))
    elif word == "die":
        os.write(2, b"the disk is on fire\n")
        os._exit(7)
    elif word == "fail":
        raise RequestError(-32603, "the model broke")
    elif word == "hostile":
        await turn.set_title(HOSTILE)
        await turn.think(HOSTILE)
        await turn.say(HOSTILE)
        await turn.notice("warning", HOSTILE, HOSTILE)
        async with turn.tool_call(HOSTILE, kind="other") as call:
            await call.show(HOSTILE)
        await turn.plan(HOSTILE)
        await turn.edit("victim.txt", HOSTILE, reason=HOSTILE)
        await turn.say("That was all.")
    elif word == "wide":
        await turn.say(f"{WIDE * 3}\n\n{RIGHT_TO_LEFT}\n\n| 名 | b |\n|---|---|\n| 値 | 2 |\n")
        await turn.edit("広い.txt", WIDE * 4 + "\n", reason=WIDE)
        await turn.say("That was wide.")
    elif word == "coloured":
        await turn.run("sh", "-c", COLOURED, reason="Colours.")
        await turn.say("That was coloured.")
    elif word == "blocks":
        await turn.say(" ".join(type(block).__name__ for block in turn.prompt))
    elif word == "size":
        await turn.say(f"You said {len(turn.text)} letters.")
    else:
        await turn.say(f"You said {turn.text}.")


async def _stream(turn: Turn, count: int) -> None:
    """Markdown of all kinds, in small pieces, and what it takes to see the end of it."""
    async with turn.message() as message:
        for number in range(count):
            await message.write(f"Paragraph {number} has **bold** words, `code` and 日本語, ")
            await anyio.lowlevel.checkpoint()
            await message.write("and goes on for longer than a narrow screen is wide.\n\n")
            if number % 5 == 0:
                await message.write("```python\ndef f(x):\n    return x\n```\n\n- one\n- two\n\n")
        await message.write("The end of the stream.")


def _log_in() -> None:
    """The login, as a program on the terminal."""
    print("Log in: what is the word?", flush=True)
    word = input()
    if word != "please":
        sys.exit(3)
    Path("token").write_text(word, "utf-8")


if __name__ == "__main__":
    if "--log-in" in sys.argv:
        _log_in()
    else:
        if "needs-login" in sys.argv:
            agent.add_auth_method("term", "In the terminal", terminal_args=("--log-in",))
            agent.knows_login(Path("token").exists)
        agent.run()

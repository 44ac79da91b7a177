"""The agent of `accord demo`: it finds a planted mistake, mends it with permission, and tests it.

A whole agent in the manner of `examples/fixer_agent.py`, with no model behind it.
"""

import sys

from accord import Agent, Turn

agent = Agent("demo", version="1.0.0", title="Demo agent")
agent.add_mode("ask", "Ask", "Ask before every change and every command")
agent.add_mode("code", "Code", "Change files and run commands", allow=("edit", "execute"))

WRONG = "return a - b"
RIGHT = "return a + b"


@agent.on_prompt
async def mend(turn: Turn) -> str | None:
    """Read, run the tests, mend, run them again, and say what happened."""
    await turn.think("The tests will show what is wrong. I run them first, then read the code.")
    plan = await turn.plan("Run the tests", "Find the mistake", "Mend it", "Run the tests again")
    await plan.start(0)
    before = await turn.run(sys.executable, "test_sums.py", timeout=30, title="Run the tests")
    await plan.complete(0)

    await plan.start(1)
    text = await turn.read_text("sums.py")
    await plan.complete(1)
    if WRONG not in text:
        await turn.say("`sums.py` looks right to me; there is nothing to mend.")
        return None

    await plan.start(2)
    if not await turn.edit("sums.py", text.replace(WRONG, RIGHT), reason="`add` subtracts"):
        await turn.say("You kept the file as it is, so the test still fails.")
        return "refusal"
    await plan.complete(2)

    await plan.start(3)
    after = await turn.run(sys.executable, "test_sums.py", timeout=30, title="Run the tests again")
    await plan.complete(3)
    async with turn.message() as message:
        await message.write("`add` in **sums.py** subtracted instead of adding. ")
        await message.write(f"The tests ended with {_words(before.exit_code)} before ")
        await message.write(f"and with {_words(after.exit_code)} after the change.")
    return None


def _words(exit_code: int | None) -> str:
    return "nothing (they were not run)" if exit_code is None else f"exit code {exit_code}"


if __name__ == "__main__":
    agent.run()

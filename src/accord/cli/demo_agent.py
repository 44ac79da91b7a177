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
WHY = "It tests the sums of the project."
STEPS = ("Run the tests", "Find the mistake", "Mend it", "Run the tests again")


@agent.on_prompt
async def mend(turn: Turn) -> None:
    """Run the tests, read, mend, run them again, and say what came of it."""
    await turn.think("The tests will show what is wrong. I run them first, then read the code.")
    plan = await turn.plan(*STEPS)

    await plan.start(0)
    before = await turn.run(sys.executable, "test_sums.py", timeout=30, title=STEPS[0], reason=WHY)
    await (plan.drop(0) if before.denied else plan.complete(0))

    await plan.start(1)
    text = await turn.read_text("sums.py")
    await plan.complete(1)
    if WRONG not in text:
        await plan.drop(2)
        await plan.drop(3)
        await turn.say("`sums.py` looks right to me; there is nothing to mend.")
        return

    await plan.start(2)
    reason = "`add` subtracts where it should add."
    if not await turn.edit("sums.py", text.replace(WRONG, RIGHT), reason=reason):
        await plan.drop(2)
        await plan.drop(3)
        await turn.say(f"I left **sums.py** as it is. {reason}")
        return
    await plan.complete(2)

    await plan.start(3)
    after = await turn.run(sys.executable, "test_sums.py", timeout=30, title=STEPS[3], reason=WHY)
    await (plan.drop(3) if after.denied else plan.complete(3))
    async with turn.message() as message:
        await message.write("`add` in **sums.py** subtracted; now it adds. ")
        if after.denied:
            await message.write("I have not tested the change.")
        elif after.exit_code == 0:
            before_that = "" if before.denied else ", which failed before"
            await message.write(f"The tests pass{before_that}.")
        else:
            await message.write("The tests still fail.")


if __name__ == "__main__":
    agent.run()

"""The smallest agent on Accord: what its start and its memory cost."""

from accord import Agent, Turn

agent = Agent("echo", version="1")


@agent.on_prompt
async def echo(turn: Turn) -> None:
    await turn.say(*turn.prompt)


agent.run()

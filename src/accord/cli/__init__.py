"""The commands that people run: a parser and a coroutine each, imported when it is called."""

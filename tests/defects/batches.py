"""What peers of v2 may do with arrays, and what they may not: mixed into an agent or a client."""

from typing import Any

from tests.defects.stdio_jsonrpc import Json, Peer


class IgnoresArrays(Peer):
    """Neither refuses nor processes them."""

    def batch(self, entries: list[Any]) -> None:
        """Not a word."""


class ProcessesBatches(Peer):
    """By the rules of batches: one array of answers, in any order."""

    answers: list[Json] | None = None

    def batch(self, entries: list[Any]) -> None:
        if not entries:
            self.empty()
            return
        self.answers = []
        for entry in entries:
            if isinstance(entry, dict):
                self.dispatch(entry)
            else:
                self.bad_entry()
        found, self.answers = self.answers, None
        self.answer_all(found)

    def empty(self) -> None:
        self.refuse(None, {"code": -32600, "message": "Invalid request: an empty array"})

    def bad_entry(self) -> None:
        self.refuse(None, {"code": -32600, "message": "Invalid request"})

    def answer_all(self, answers: list[Json]) -> None:
        if answers:
            self.write_array(answers)

    def write_array(self, answers: list[Json]) -> None:
        import json

        whole = [{"jsonrpc": "2.0", **one} for one in answers]
        self.write(json.dumps(whole).encode() + b"\n")

    def send(self, message: Json) -> None:
        if self.answers is not None and "method" not in message:
            self.answers.append(message)
        else:
            super().send(message)


class IgnoresEmptyArrays(ProcessesBatches):
    def empty(self) -> None:
        """Not a word."""


class AnswersOneByOne(ProcessesBatches):
    def answer_all(self, answers: list[Json]) -> None:
        for one in answers:
            self.send(one)


class AnswersNotifications(ProcessesBatches):
    def answer_all(self, answers: list[Json]) -> None:
        self.write_array(answers)


class DropsBadEntries(ProcessesBatches):
    def bad_entry(self) -> None:
        """Not a word."""


WRONG: dict[str, type[Peer]] = {
    "TR-BATCH-02": IgnoresEmptyArrays,
    "TR-BATCH-04": AnswersOneByOne,
    "TR-BATCH-05": AnswersNotifications,
    "TR-BATCH-06": DropsBadEntries,
}

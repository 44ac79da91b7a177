"""No example message is forgotten: how many each document has, part by part.

Counted by hand and by a program that reads the documents: every block of JSON is one, a block
with several messages is as many, lines of a wire format are one each; so is every message that a
piece of program or pseudo-code sends or answers.  JSON Schemas are none.  The page about tool
calls has lost its blocks: there every message and every kind of content that it describes by a
list of fields is one.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.examples.examples import DOCUMENTS, EXAMPLES, FOLDER, read

HERE = Path(__file__).parent

COUNTS: dict[str, dict[str, int]] = {
    "v1_pages": {
        # The error that an unknown method gets.
        "errors": 1,
        # A request and its result.
        "initialize": 2,
        # New, its result, load.
        "sessions": 3,
        # A prompt, five updates, the result.
        "prompt turn": 7,
        "cancelling": 1,
        # Text, image, audio, an embedded resource, a link.
        "content": 5,
        # Reading and writing, each with its result.
        "files": 4,
        # Two updates, a permission request and its result, three kinds of content, a place.
        "tool calls": 8,
        # Five requests, three results, an update that shows a terminal.
        "terminals": 9,
        # The state, a request, an update.
        "modes": 3,
        "plans": 1,
        # The list, and a prompt that uses it.
        "commands": 2,
        # `_meta`, a request, a notification, capabilities.
        "extending": 4,
        # `initialize` and its result in both framings.
        "framing": 4,
        # What the pseudo-code of a client sends, and that of an agent.
        "client flow": 6,
        "agent flow": 10,
    },
    "v1_summary": {
        # Eight kinds.
        "updates": 8,
        # Five kinds.
        "content": 5,
        # A request, both outcomes.
        "permission": 3,
        # The state, a request, an update.
        "modes": 3,
        # Stdio, HTTP, SSE.
        "servers": 3,
        # Five requests, three results, a tool call that shows one.
        "terminals": 9,
        # Reading and writing, each with its result.
        "files": 4,
        # `session/set_model`.
        "models": 1,
        # Three kinds, and a place.
        "tool call content": 4,
        # Requests with their results.
        "initialize": 2,
        "sessions": 2,
        # From the prompt to its result.
        "whole turn": 9,
    },
    "v2_first_pages_prompt": {
        "prompt": 1,
        # The echo, a plan, a message, a chunk, a thought, a tool call, usage.
        "output": 7,
        # The result.
        "end": 1,
        # Begun, streamed, completed.
        "tool": 3,
        "cancelling": 1,
    },
    "v2_first_pages_tool_calls": {
        "reporting": 1,
        "updating": 1,
        "streaming": 1,
        # A request, both outcomes.
        "permission": 3,
        # A block, a diff, a place.
        "content": 3,
    },
    # By its sections.
    "draft_2026_02": {
        "3.1": 1,
        "4.1": 2,
        "4.2": 1,
        "4.3": 2,
        "4.4": 2,
        "4.5": 1,
        "6": 2,
        "7": 9,
        "8": 5,
        "9": 5,
        # 10.3 has two in one block.
        "10": 4,
        "11": 5,
        "12": 3,
        "13": 3,
        "14.3": 1,
        "15.2": 1,
        "17.2": 1,
        "A.1": 4,
        "A.2": 15,
        # Programs: what a client sends, what an agent answers and tells.
        "16.1": 1,
        "16.2": 10,
        # Diagrams: the messages that no example shows, with the fields that they name.
        "diagram 4.1": 1,
        "diagram 4.5": 2,
        "diagram 5.2.1": 1,
        "diagram 5.2.4": 8,
        "diagram 8.3": 6,
    },
}
# The rows of the table of contradictions that rule over an example.
RULED = {1, 4, 6, 7, 8, 10, 17, 19, 23, 26, 28, 32, 44, 45, 46, 48, 50}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_of_every_document_is_there(document: str) -> None:
    """Issue 5: a test counts them so that none is forgotten."""
    found = Counter(one.name.rpartition(" ")[0] for one in read(document))
    assert found == COUNTS[document]
    names = [one.name for one in read(document)]
    assert len(set(names)) == len(names)


def test_no_document_is_left_out() -> None:
    """Ours: five of them, 241 messages."""
    assert {path.stem for path in FOLDER.iterdir()} == set(DOCUMENTS) == set(COUNTS)
    assert len(EXAMPLES) == 241


def test_every_ruling_is_named() -> None:
    """Issue 5: each row that rules over an example has a test that is named by its number."""
    assert {one.contradiction for one in EXAMPLES} - {None} == RULED
    tests = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    named = {int(number) for number in re.findall(r"def test_contradiction_(\d+)_", tests)}
    assert named >= RULED

"""Everything that an agent tells in pieces, through what keeps secrets back: nothing gets lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.proxy.builtin.guard.streams import (
    KEY,
    KINDS,
    REDACTOR,
    VALUE,
    Conversation,
    shown,
    terminal,
)

WORDS = st.lists(
    st.sampled_from([VALUE, KEY, VALUE[:6], "sk-", "s", " ", "\n", "é", "plain", "https://u:p@h "]),
    max_size=5,
).map("".join)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(KINDS)), WORDS), min_size=1, max_size=4),
    st.data(),
)
@settings(max_examples=200)
def test_streams_in_any_order_and_cut_anywhere_are_told_whole_without_secrets(
    texts: list[tuple[str, str]], data: st.DataObject
) -> None:
    """Issue 5: secret redaction.  One stream of each kind and more, told in turns."""
    conversation = Conversation()
    left: dict[tuple[str, str], str | bytes] = {}
    for number, (kind, words) in enumerate(texts):
        # Of messages one kind tells one after the other; see the tests of their ends.
        name = kind if kind in ("agent", "thought") else f"{kind}{number}"
        left[kind, name] = words.encode() if kind == "terminal" else words
    wanted = dict(left)
    while left:
        (kind, name), rest = data.draw(st.sampled_from(sorted(left.items(), key=repr)))
        size = data.draw(st.integers(1, max(1, len(rest))))
        piece, left[kind, name] = rest[:size], rest[size:]
        if not left[kind, name]:
            del left[kind, name]
        whole = piece if isinstance(piece, bytes) else piece.encode()
        conversation.tell(**KINDS[kind](name, whole))
    conversation.tell(sessionUpdate="state_update", state="idle", stopReason="end_turn")
    *updates, last = conversation.take()
    assert last["sessionUpdate"] == "state_update"
    for (kind, name), told in wanted.items():
        words = told.decode() if isinstance(told, bytes) else told
        assert shown(updates, kind, name) == REDACTOR.text(words).encode()


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("secret", [VALUE, KEY])
def test_a_secret_is_caught_at_every_cut_of_every_kind_of_stream(kind: str, secret: str) -> None:
    """Issue 5: secret redaction; bytes are cut in the middle of letters too."""
    whole = f"it is {secret}.".encode()
    for cut in range(len(whole) + 1):
        pieces = whole[:cut], whole[cut:]
        if kind != "terminal" and any(b"\xef\xbf\xbd" in one for one in map(_readable, pieces)):
            continue
        conversation = Conversation()
        for piece in pieces:
            conversation.tell(**KINDS[kind]("x", piece))
            conversation.tell(sessionUpdate="usage_update", used=1, size=2)
        conversation.pieces.turn_ends(conversation.message())
        assert shown(conversation.take(), kind, "x") == b"it is [secret]."


def _readable(piece: bytes) -> bytes:
    return piece.decode("utf-8", "replace").encode()


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    """Ours: a terminal shows anything."""
    conversation = Conversation()
    data = bytes(range(256)) + "é".encode()[:1]
    for at in range(0, len(data), 3):
        conversation.tell(**terminal("t", data[at : at + 3]))
    conversation.pieces.turn_ends(conversation.message())
    assert shown(conversation.take(), "terminal", "t") == data

"""Content: text joined when looked at, blocks kept as they came."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1
from accord.schema.codec import encode
from accord.schema.struct import Raw
from accord.transcript.items import content as module
from accord.transcript.items.content import Content, joined_text, text_of


def text(words: str) -> v1.TextContent:
    return v1.TextContent(text=words)


IMAGE = v1.ImageContent(data=b"1234", mime_type="image/png")


def test_new_content_is_empty() -> None:
    """Ours."""
    assert Content().text == ""
    assert list(Content().blocks) == []


def test_text_that_comes_in_adjacent_chunks_is_one_block() -> None:
    """Ours: a reader draws one paragraph, not a thousand pieces."""
    content = Content()
    for words in ("one ", "two ", "three"):
        content.append(text(words))
    assert content.blocks == [text("one two three")]
    content.append(text(", four"))
    content.append(IMAGE)
    content.append(text("five"))
    assert content.blocks == [text("one two three, four"), IMAGE, text("five")]
    assert content.text == "one two three, fourfive"


def test_a_single_chunk_is_kept_as_it_came() -> None:
    """Ours: nothing is rebuilt without need."""
    block = text("alone")
    content = Content()
    content.append(block)
    assert content.blocks[0] is block


def test_blocks_of_an_array_stay_apart_and_later_chunks_do_not_flow_into_them() -> None:
    """Ours: an array is a statement about blocks, a stream of chunks is not."""
    content = Content()
    content.append(text("gone"))
    content.replace([text("a"), text("b")])
    content.append(text("c"))
    content.append(text("d"))
    assert content.blocks == [text("a"), text("b"), text("cd")]


def test_annotated_text_is_never_joined_with_other_text() -> None:
    """Ours: annotations and metadata speak of their own words only."""
    hinted = v1.TextContent(text="b", annotations=v1.Annotations(audience=["user"]))
    marked = v1.TextContent(text="c", meta={"k": Raw(b"1")})
    content = Content()
    for block in (text("a"), hinted, marked, text("d")):
        content.append(block)
    assert content.blocks == [text("a"), hinted, marked, text("d")]
    assert content.text == "abcd"


def test_only_text_blocks_have_text() -> None:
    """Ours."""
    assert text_of(IMAGE) == ""
    assert joined_text([text("a"), IMAGE, text("b")]) == "ab"


@given(
    st.lists(
        st.one_of(
            st.text(max_size=5).map(lambda words: ("append", [text(words)])),
            st.just(("append", [IMAGE])),
            st.lists(st.text(max_size=3).map(text), max_size=3).map(lambda all_: ("replace", all_)),
            st.just(("look", [])),
        ),
        max_size=30,
    )
)
def test_text_is_the_concatenation_whenever_anybody_looks(
    steps: list[tuple[str, list[v1.TextContent]]],
) -> None:
    """Ours: joining lazily is not to be seen from outside."""
    content, expected = Content(), ""
    for step, blocks in steps:
        if step == "append":
            content.append(blocks[0])
            expected += text_of(blocks[0])
        elif step == "replace":
            content.replace(blocks)
            expected = joined_text(blocks)
        else:
            assert content.text == joined_text(content.blocks) == expected
    assert content.text == expected
    assert content.text == joined_text(content.blocks)


def test_blocks_can_be_encoded_again() -> None:
    """Ours: a joined block is a block of the same version."""
    content = Content()
    content.append(text("a"))
    content.append(text("b"))
    assert encode(content.blocks[0]) == b'{"type":"text","text":"ab"}'


_STEPS = st.one_of(
    st.builds(text, st.text(max_size=3)),
    st.just(IMAGE),
    st.just(v1.TextContent(text="h", annotations=v1.Annotations(audience=["user"]))),
    st.just("look"),
    st.just("replace"),
)


@given(st.lists(_STEPS, max_size=60))
def test_the_size_is_that_of_the_text_however_often_it_is_asked_for(steps: list[object]) -> None:
    """Issue 12: the place of a text is told by numbers, without making the text."""
    content, expected = Content(), ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ASIDE_MASK", 3)
        patch.setattr(module, "CHUNK_BYTES", 2)
        for step in steps:
            if step == "look":
                assert content.text == expected
            elif step == "replace":
                content.replace([text("new"), IMAGE])
                expected = "new"
            else:
                content.append(step)
                expected += text_of(step)
            assert content.size == len(expected)
    assert content.text == expected
    assert content.replacements == steps.count("replace")


def test_many_chunks_that_nobody_looks_at_are_joined() -> None:
    """Issue 12: the memory of a message grows with its text, not with its chunks."""
    content = Content()
    for number in range(10 * module.CHUNKS_ASIDE):
        content.append(text(f"{number % 10}"))
        assert len(content._fresh or ()) <= module.CHUNKS_ASIDE
    assert content.text == "0123456789" * module.CHUNKS_ASIDE


def test_long_texts_are_copied_seldom() -> None:
    """Ours: joining after every few chunks would copy a long message again and again."""
    content, joined = Content(), 0
    content.append(text("x" * 100 * module.CHUNKS_ASIDE * module.CHUNK_BYTES))
    content.append(text("y"))
    assert len(content.blocks) == 1
    for _ in range(20 * module.CHUNKS_ASIDE):
        content.append(text("y"))
        joined += content._fresh is None
    assert joined == 0

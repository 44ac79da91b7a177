"""Forms of an agent on the screen: every kind of field, reviewed before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.widgets import Input

from accord.client.services.forms import Choice, FormField, FormRequest
from accord.terminal.screen.dialogs.form_fields import FieldBox, Picker
from tests.terminal.screen.harness.question_stage import HOSTILE, Scene, asked

NARROW = (60, 20)

NAME = FormField(name="name", type="string", title="Your name", required=True, min_length=2)
COUNT = FormField(name="count", type="integer", minimum=1, maximum=9, default=3)
SHARE = FormField(name="share", type="number", title="Share", description="between 0 and 1")
SURE = FormField(name="sure", type="boolean", title="Are you sure")
PLACE = FormField(
    name="place",
    type="string",
    title="Where",
    choices=(Choice("d", "Development"), Choice("p", "Production", "people see it")),
    default="d",
)
TAGS = FormField(
    name="tags",
    type="array",
    choices=tuple(Choice(one, one) for one in ("red", "green", "blue")),
    max_items=2,
)
ODD = FormField(name="odd", type="_colour", is_known=False)


def a_form(*fields: FormField, **more: Any) -> FormRequest:
    return FormRequest(message="Tell me more, see https://example.org", fields=fields, **more)


async def review(scene: Scene) -> None:
    """Go on to what would be sent, and wait until the guard of that is down."""
    await scene.press("ctrl+s")
    await scene.until(lambda: scene.dialog.is_reviewing)
    scene.clock.now += 1


@pytest.mark.rule("V1-ELIC-05", "V1-ELIC-06")
async def test_a_form_is_filled_in_reviewed_edited_and_sent() -> None:
    """Rules: who asks is shown; the user can review and edit before sending."""
    async with asked("form", a_form(NAME, COUNT)) as scene:
        assert "Demo agent asks you to fill in a form" in scene.text
        assert "Tell me more" in scene.text
        await scene.press("A", "d", "x")
        await review(scene)
        assert "Your name: Adx" in scene.text
        assert "count: 3" in scene.text
        assert not scene.is_answered
        await scene.press("escape")
        scene.clock.now += 1
        assert not scene.dialog.is_reviewing
        await scene.press("backspace", "a")
        await review(scene)
        assert "Your name: Ada" in scene.text
        await scene.press("ctrl+s")
        assert await scene.answer() == {"name": "Ada", "count": 3}


@pytest.mark.rule("V1-ELIC-05")
@pytest.mark.parametrize(("press", "answer"), [("ctrl+n", False), ("escape", None)])
async def test_declining_and_closing_are_always_possible(press: str, answer: object) -> None:
    """Rules: allows decline and cancel."""
    async with asked("form", a_form(NAME)) as scene:
        await scene.press(press)
        assert await scene.answer() is answer


@pytest.mark.rule("V1-ELIC-05")
@pytest.mark.parametrize(("words", "answer"), [("✗ Decline", False), ("Close", None)])
async def test_the_mouse_declines_and_closes_also_while_reviewing(
    words: str, answer: object
) -> None:
    """Brief: decline and cancel always possible, by mouse too."""
    async with asked("form", a_form(COUNT), size=NARROW) as scene:
        await review(scene)
        await scene.click(words)
        assert await scene.answer() is answer


async def test_what_was_typed_is_not_lost_by_one_key() -> None:
    """Ours: Esc closes a form that was begun only when it is pressed again."""
    async with asked("form", a_form(NAME)) as scene:
        await scene.press("x", "escape")
        assert not scene.is_answered
        assert "Esc again" in scene.text
        await scene.press("y", "escape")
        assert not scene.is_answered
        await scene.press("escape")
        assert await scene.answer() is None


async def test_every_kind_of_field_is_filled_in_by_its_own_means() -> None:
    """Brief: string, number, integer, boolean, select, multi-select, defaults."""
    form = a_form(NAME, COUNT, SHARE, SURE, PLACE, TAGS)
    async with asked("form", form, size=(100, 60)) as scene:
        text = scene.text
        for words in ("Your name (required)", "a whole number, 1 to 9", "between 0 and 1"):
            assert words in text
        for words in ("( ) Yes", "(•) Development", "Production: people see it", "[ ] green"):
            assert words in text
        await scene.press("A", "d", "a", "enter", "enter", *"0.5", "tab")
        await scene.press("down", "space", "tab", "down", "enter", "tab", "space", "down", "space")
        await review(scene)
        for words in ("Share: 0.5", "Are you sure: No", "Where: Production", "tags: red, green"):
            assert words in scene.text
        await scene.press("enter")
        assert await scene.answer() == {
            "name": "Ada",
            "count": 3,
            "share": 0.5,
            "sure": False,
            "place": "p",
            "tags": ["red", "green"],
        }


async def test_a_choice_can_be_taken_back_and_made_by_the_mouse() -> None:
    """Brief: by mouse too; what is not required may stay open."""
    async with asked("form", a_form(PLACE, SURE)) as scene:
        await scene.click("(•) Development")
        await scene.click("( ) Yes")
        await review(scene)
        assert "Where: (nothing)" in scene.text
        await scene.click("✓ Send")
        assert await scene.answer() == {"sure": True}


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        (NAME, "x", "at least 2 characters"),
        (NAME, "", "This is required."),
        (COUNT, "3", "at most 9"),
        (COUNT, ".5", "whole number"),
        (SHARE, "x", "must be a number"),
        (FormField(name="m", type="string", format="email"), "x", "e-mail address"),
        (FormField(name="d", type="string", format="date"), "x", "YYYY-MM-DD"),
        (FormField(name="p", type="string", pattern="^[0-9]+$"), "x", "must fit"),
        (replace(TAGS, required=True, min_items=1), "", "Choose at least 1"),
    ],
)
async def test_what_does_not_fit_is_said_at_the_field_and_nothing_is_sent(
    field: FormField, typed: str, problem: str
) -> None:
    """Brief: problems shown at the field."""
    async with asked("form", a_form(field), size=NARROW) as scene:
        await scene.press(*typed, "ctrl+s")
        await scene.until(lambda: scene.dialog.query_one(FieldBox).problem is not None)
        await scene.pilot.pause()
        assert problem in scene.text
        assert not scene.dialog.is_reviewing
        assert not scene.is_answered


async def test_a_form_that_comes_again_has_the_answers_and_the_problems() -> None:
    """Client: values and errors of the last attempt."""
    form = a_form(NAME, values={"name": "Q"}, errors={"name": "That name is taken."})
    async with asked("form", form) as scene:
        assert scene.dialog.query_one(Input).value == "Q"
        assert "That name is taken." in scene.text
        await scene.press("end", "x")
        assert "That name is taken." not in scene.text


@pytest.mark.rule("V1-ELIC-22")
async def test_a_field_of_an_unknown_kind_is_not_shown_as_a_known_one() -> None:
    """Rules: unknown property types are not rendered as a known one."""
    strange = FormField(name="tags", type="array", is_known=False)
    async with asked("form", a_form(ODD, strange)) as scene:
        assert "of the kind _colour: unknown" in scene.text
        assert "of the kind array: unknown" in scene.text
        assert not scene.dialog.query(Input)
        assert not scene.dialog.query(Picker)
        await review(scene)
        await scene.press("ctrl+s")
        assert await scene.answer() == {}


@pytest.mark.rule("V1-ELIC-22")
async def test_a_form_that_requires_what_is_unknown_can_only_be_declined() -> None:
    """Rules: it is not guessed what would fit."""
    async with asked("form", a_form(replace(ODD, required=True))) as scene:
        await scene.press("ctrl+s")
        await scene.until(lambda: scene.dialog.query_one(FieldBox).problem is not None)
        await scene.pilot.pause()
        assert "can only decline" in scene.text
        await scene.press("ctrl+n")
        assert await scene.answer() is False


@pytest.mark.rule("V1-ELIC-09")
async def test_addresses_in_a_form_are_words_and_nothing_else() -> None:
    """Rules: no clickable URLs outside of the url field."""
    text = f"[link=https://evil.example]x[/link] https://evil.example {HOSTILE}"
    field = FormField(
        name=text,
        type="string",
        title=text,
        description=text,
        choices=(Choice("x", text, text),),
        required=True,
    )
    form = a_form(field, title=text, description=text)
    async with asked("form", form, size=(100, 60)) as scene:
        scene.chat.agent_name = text
        scene.dialog.refresh_chat()
        await scene.pilot.pause()
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(scene.text)
        assert "[link=https://evil.example]" in scene.text
        for strip in scene.app.screen._compositor.render_strips():
            for segment in strip:
                style = segment.style
                assert style is None or not style.link
                assert style is None or "@click" not in style.meta


async def test_nothing_is_sent_by_keys_that_come_too_early() -> None:
    """Ours: the guard is up when the form appears, and again when it is reviewed."""
    async with asked("form", a_form(COUNT), early=True) as scene:
        await scene.press("ctrl+s", "escape", "ctrl+n", "enter")
        await scene.click("Close")
        assert not scene.is_answered
        scene.clock.now += 1
        await scene.press("ctrl+s")
        await scene.until(lambda: scene.dialog.is_reviewing)
        await scene.press("enter", "ctrl+s", "escape")
        assert not scene.is_answered
        scene.clock.now += 1
        await scene.press("enter")
        assert await scene.answer() == {"count": 3}


async def test_a_form_that_is_opened_again_is_where_it_was() -> None:
    """Ours: another tab, and back."""
    async with asked("form", a_form(NAME, SHARE)) as scene:
        await scene.press("tab", "7")
        scene.app.screen.set_focus(None)
        await scene.pilot.pause()
        scene.dialog.focus()
        await scene.pilot.pause()
        await scene.press("8")
        assert [one.value for one in scene.dialog.query(Input)] == ["", "78"]


async def test_a_long_form_scrolls_and_its_buttons_stay() -> None:
    """Issue: narrow terminals still work."""
    fields = [replace(NAME, name=f"n{number}", title=f"Name {number}") for number in range(20)]
    async with asked("form", a_form(*fields), size=NARROW) as scene:
        assert "✗ Decline" in scene.text
        await scene.press("shift+tab", "shift+tab", "shift+tab", "shift+tab")
        assert "Name 19" in scene.text
        assert "✗ Decline" in scene.text

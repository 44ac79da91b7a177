"""Elicitation: only what is offered is shown, and only what fits is sent."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from accord.client.services import elicitation as module
from accord.client.services.elicitation import (
    CLOSED,
    DECLINED,
    ElicitationAnswer,
    Elicitations,
    UrlRequest,
)
from accord.client.services.forms import FormRequest
from accord.errors import RequestError
from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


def form(version: Any = v2, session_id: str = "s", **properties: Any) -> Any:
    """A form, by default of one required number."""
    schema = {
        "type": "object",
        "properties": properties or {"age": {"type": "integer", "default": 7}},
        "required": list(properties or ["age"]),
    }
    params = {"mode": "form", "sessionId": session_id, "message": "Who?", "requestedSchema": schema}
    return decode(version.CreateElicitationRequest, encode(params))


def page(url: str = "https://a.org/x", elicitation_id: str = "e1", version: Any = v2) -> Any:
    params = {
        "mode": "url",
        "requestId": 4,
        "message": "Sign in",
        "elicitationId": elicitation_id,
        "url": url,
    }
    return decode(version.CreateElicitationRequest, encode(params))


def answering(*answers: Any) -> tuple[Elicitations, list[Any]]:
    """A user who gives these answers, and what was shown."""
    left, shown = list(answers), []

    async def answer(request: Any) -> Any:
        shown.append(request)
        return left.pop(0)

    return Elicitations(on_form=answer, on_url=answer), shown


@pytest.mark.rule("V1-ELIC-03")
def test_only_what_has_a_callback_is_offered() -> None:
    """Spec: an empty object offers nothing."""
    assert Elicitations().capabilities() == {}
    assert Elicitations(on_form=lambda _: None).capabilities() == {"form": {}}
    assert Elicitations(on_url=lambda _: None).capabilities() == {"url": {}}


@pytest.mark.rule("V1-ELIC-02", "V1-ELIC-22")
async def test_what_was_not_offered_is_refused_and_not_shown() -> None:
    """Spec: -32602 for a mode that was not advertised; an unknown one is never rendered."""
    only_url = Elicitations(on_url=lambda _: True)
    both, shown = answering()
    wanted: Any = v2.CreateElicitationRequest
    unknown = decode(wanted, encode({"mode": "_voice", "sessionId": "s", "message": "m"}))
    for service, wire in ((Elicitations(), page()), (only_url, form()), (both, unknown)):
        with pytest.raises(RequestError) as raised:
            await service.create(wire)
        assert raised.value.code == -32602
        assert raised.value.data["path"] == "$.mode"
    assert shown == []


@pytest.mark.parametrize("version", [v1, v2])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"age": 8}, ElicitationAnswer("accept", {"age": 8})),
        ({"age": 8.0}, ElicitationAnswer("accept", {"age": 8})),
        (False, DECLINED),
        (None, CLOSED),
    ],
)
async def test_a_form_is_answered(answer: Any, expected: ElicitationAnswer, version: Any) -> None:
    """Spec: accept with values, decline, or cancel; defaults are there to be filled in."""
    user, shown = answering(answer)
    assert await user.create(form(version)) == expected
    assert shown[0].defaults == {"age": 7}
    content = expected.content or {}
    assert all(isinstance(value, int) for value in content.values())


@pytest.mark.rule("V1-ELIC-19")
async def test_an_answer_that_does_not_fit_is_shown_again() -> None:
    """Spec: values are validated by the client."""
    user, shown = answering({"age": "old"}, {"age": 9})
    assert await user.create(form()) == ElicitationAnswer("accept", {"age": 9})
    assert shown[1].values == {"age": "old"}
    assert shown[1].errors == {"age": "This must be a number."}


async def test_an_answer_that_never_fits_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a program that answers by itself must not loop for ever."""
    user, shown = answering(*[{"age": "old"}] * 9)
    with caplog.at_level(logging.ERROR, "accord.client"):
        assert await user.create(form()) == CLOSED
    assert len(shown) == module.ATTEMPTS_MAX
    assert "do not fit" in caplog.text


async def test_a_form_that_needs_an_unknown_field_cannot_be_accepted() -> None:
    """Spec: an unknown property type is not treated as a known one."""
    user, shown = answering({"c": "red"}, {}, False)
    assert await user.create(form(c={"type": "_color"})) == DECLINED
    assert not shown[0].fields[0].is_known


@pytest.mark.parametrize("nonsense", [True, "yes", 1, [], ("age", 1)])
async def test_nonsense_closes_and_is_reported(
    nonsense: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: what is not understood is not an answer."""
    user, _ = answering(nonsense)
    with caplog.at_level(logging.ERROR, "accord.client"):
        assert await user.create(form()) == CLOSED
    assert "not an answer" in caplog.text


async def test_a_callback_that_raises_closes_and_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: the connection lives."""

    def fails(_: object) -> Any:
        raise RuntimeError("the window broke")

    user = Elicitations(on_form=fails, on_url=fails)
    assert await user.create(form()) == CLOSED
    assert await user.create(page()) == CLOSED
    assert caplog.text.count("the window broke") >= 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (True, ElicitationAnswer("accept")),
        (False, DECLINED),
        (None, CLOSED),
        ("yes", CLOSED),
        (1, CLOSED),
    ],
)
async def test_a_page_needs_a_clear_yes(answer: Any, expected: ElicitationAnswer) -> None:
    """Spec: consent first."""
    user, shown = answering(answer)
    assert await user.create(page()) == expected
    assert shown == [
        UrlRequest(
            message="Sign in",
            url="https://a.org/x",
            host="a.org",
            elicitation_id="e1",
            request_id=4,
        )
    ]


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("http://a.org/", "not encrypted"),
        ("https://xn--bcher-kva.example/", "other scripts"),
        ("https://bücher.example/", "other scripts"),
        ("https://google.com@evil.org/", "user name"),
        ("https://1.2.3.4/", "number"),
        ("https://[::1]/", "number"),
    ],
)
async def test_odd_hosts_come_with_a_warning(url: str, warning: str) -> None:
    """Spec: the domain is highlighted and odd hosts are warned of."""
    user, shown = answering(False)
    await user.create(page(url))
    assert any(warning in text for text in shown[0].warnings)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "a.org",
        "https://",
        "https://a.org\\@b.org",
        "https://a b",
        "https://" + "a" * 9000,
    ],
)
async def test_what_is_no_page_is_not_shown(url: str) -> None:
    """Spec: `url` is a valid URL."""
    user, shown = answering()
    with pytest.raises(RequestError) as raised:
        await user.create(page(url))
    assert raised.value.data["path"] == "$.url"
    assert shown == []


@pytest.mark.rule("V1-ELIC-17")
async def test_completion_is_told_once_and_unknown_ids_are_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Spec: unknown or finished ids are ignored."""
    done: list[UrlRequest] = []
    user = Elicitations(on_url=lambda _: True, on_complete=done.append)
    assert not user.complete("e1")
    await user.create(page())
    assert not user.for_connection().complete("e1")
    with pytest.raises(RequestError):
        await user.create(page())
    assert user.complete("e1")
    assert not user.complete("e1")
    assert [one.elicitation_id for one in done] == ["e1"]
    await user.create(page())

    def fails(_: UrlRequest) -> None:
        raise RuntimeError("the window broke")

    broken = Elicitations(on_url=lambda _: True, on_complete=fails)
    await broken.create(page())
    assert broken.complete("e1")
    assert "the window broke" in caplog.text


async def test_a_declined_page_is_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: and open ones are kept within a bound."""
    monkeypatch.setattr(module, "OPEN_MAX", 1)
    user, _ = answering(False, True, True)
    await user.create(page())
    assert not user.complete("e1")
    await user.create(page(elicitation_id="e2"))
    await user.create(page(elicitation_id="e3"))
    assert not user.complete("e2")
    assert user.complete("e3")


async def test_completion_may_be_faster_than_the_user() -> None:
    """Ours: the page may tell the agent before the user returns to us."""
    told: list[bool] = []

    def visits(request: UrlRequest) -> bool:
        told.append(user.complete(request.elicitation_id))
        return True

    user = Elicitations(on_url=visits)
    assert await user.create(page()) == ElicitationAnswer("accept")
    assert told == [True]
    assert not user.complete("e1")


async def test_questions_queue_and_cancelling_settles_them() -> None:
    """Ours: as with permissions, one at a time, and the end of a turn ends its questions."""
    shown: list[str | None] = []
    got: dict[str, ElicitationAnswer] = {}
    release = anyio.Event()

    async def user(request: FormRequest) -> Any:
        shown.append(request.session_id)
        await release.wait()
        return {"age": 1}

    service = Elicitations(on_form=user)

    async def ask(name: str, session_id: str) -> None:
        got[name] = await service.create(form(session_id=session_id))

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name, session_id in (("shows", "s"), ("waits", "s"), ("other", "t")):
                tasks.start_soon(ask, name, session_id)
                await anyio.wait_all_tasks_blocked()
            assert shown == ["s"]
            service.cancel_session("s")
            service.cancel_session("unknown")
            await anyio.wait_all_tasks_blocked()
            assert shown == ["s", "t"]
            release.set()
    assert got["shows"] == got["waits"] == CLOSED
    assert got["other"] == ElicitationAnswer("accept", {"age": 1})

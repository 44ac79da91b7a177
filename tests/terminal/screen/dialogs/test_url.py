"""Pages that an agent wants the user to visit: shown, agreed to, opened, and waited for."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult

from accord.client.services.elicitation import UrlRequest
from accord.terminal.model.chat import Chat
from accord.terminal.screen import web_browser as browser_module
from accord.terminal.screen.chrome.web_pages_bar import PagesBar
from accord.terminal.screen.dialogs.url import UrlDialog
from accord.terminal.screen.web_browser import open_page, opener
from accord.terminal.screen.widgets.scrollable_lines import Body
from tests.terminal.screen.harness.question_stage import HOSTILE, Clock, ControllerDouble, asked

NARROW = (60, 20)


def a_page(**more: Any) -> UrlRequest:
    given: dict[str, Any] = {
        "message": "Please log in, or see https://other.example",
        "url": "https://login.example/start?state=abc",
        "host": "login.example",
        "elicitation_id": "e1",
    }
    return UrlRequest(**{**given, **more})


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was handed to the system."""
    found: list[str] = []

    def note(url: str) -> bool:
        assert threading.current_thread() is not threading.main_thread()
        found.append(url)
        return True

    monkeypatch.setattr(UrlDialog, "open_page", staticmethod(note))
    monkeypatch.setattr(PagesBar, "open_page", staticmethod(note))
    return found


@pytest.mark.rule("V1-ELIC-05", "V1-ELIC-07", "V1-ELIC-08")
@pytest.mark.parametrize("size", [(100, 30), NARROW])
async def test_the_whole_address_and_its_host_are_shown_before_anything_is_opened(
    size: tuple[int, int], opened: list[str]
) -> None:
    """Rules: full URL and host, consent first, no prefetch; the message is presented."""
    url = "https://login.example/start?" + "state=abcdefgh&" * 8
    async with asked("url", a_page(url=url), size=size) as scene:
        flat = "".join(line.strip("│ ") for line in scene.text.split("\n"))
        assert url in flat
        assert "Host  login.example" in scene.text
        assert "Demo agent asks you to visit a page" in scene.text
        assert "Please log in" in scene.text
        assert opened == []
        await scene.press("y")
        await scene.until(lambda: scene.is_answered)
        assert opened == [url]
        assert await scene.answer() is True
        assert [page.url for page in scene.chat.pages] == [url]


@pytest.mark.rule("V1-ELIC-08")
async def test_the_domain_is_highlighted_and_odd_hosts_are_warned_of() -> None:
    """Rules: highlights the domain, warns on odd or Punycode hosts."""
    page = a_page(
        url="http://login.example@xn--pple-43d.example/",
        host="xn--pple-43d.example",
        warnings=("The name of the host has letters of other scripts.",),
    )
    async with asked("url", page) as scene:
        assert "⚠ The name of the host has letters of other scripts." in scene.text
        marked = ""
        for strip in scene.app.screen._compositor.render_strips():
            if "http://" in "".join(segment.text for segment in strip):
                marked = "".join(one.text for one in strip if one.style and one.style.reverse)
        assert marked == "xn--pple-43d.example"


@pytest.mark.rule("V1-ELIC-05")
@pytest.mark.parametrize(("press", "answer"), [("n", False), ("escape", None)])
async def test_a_page_can_be_declined_or_left(
    press: str, answer: object, opened: list[str]
) -> None:
    """Rules: decline and cancel."""
    async with asked("url", a_page()) as scene:
        await scene.press(press)
        assert await scene.answer() is answer
    assert opened == []


async def test_a_key_that_comes_too_early_opens_nothing(opened: list[str]) -> None:
    """Issue: never answered by a stray key press."""
    async with asked("url", a_page(), early=True) as scene:
        await scene.press("y", "1", "enter", "n", "escape")
        await scene.click("✓ Open it")
        assert not scene.is_answered
        assert scene.dialog.state == "asking"
    assert opened == []


@pytest.mark.rule("V1-ELIC-07")
async def test_without_a_browser_the_address_is_there_to_be_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Brief: when there is none: shown for copying."""
    monkeypatch.setattr(UrlDialog, "open_page", staticmethod(lambda _: False))
    async with asked("url", a_page(), size=NARROW) as scene:
        await scene.click("✓ Open it")
        await scene.until(lambda: scene.dialog.state == "failed")
        await scene.pilot.pause()
        assert "Could not open a browser" in scene.text
        assert not scene.is_answered
        await scene.press("c")
        assert scene.app.clipboard == a_page().url
        await scene.press("y")
        assert await scene.answer() is True


@pytest.mark.rule("V1-ELIC-09")
async def test_addresses_in_the_message_are_words() -> None:
    """Rules: no clickable URLs outside of the url field."""
    async with asked("url", a_page(message=f"https://evil.example {HOSTILE}")) as scene:
        assert "[red]bold[/red]" in scene.text
        for strip in scene.app.screen._compositor.render_strips():
            for segment in strip:
                assert segment.style is None or not segment.style.link
                assert segment.style is None or "@click" not in segment.style.meta


class Waiting(App[None]):
    """The bar of pages that are waited for."""

    def __init__(self, chat: Chat, controller: ControllerDouble) -> None:
        super().__init__()
        self.bar = PagesBar(chat, controller)

    def compose(self) -> ComposeResult:
        yield self.bar


@pytest.mark.rule("V1-ELIC-26")
async def test_a_page_that_never_ends_can_be_opened_again_or_given_up(opened: list[str]) -> None:
    """Rules: offers manual retry or cancel when completion never comes."""
    chat, controller = Chat("/nowhere", clock=Clock()), ControllerDouble()
    app = Waiting(chat, controller)
    async with app.run_test(size=NARROW) as pilot:
        assert not app.bar.has_class("-waiting")
        chat.page_opened(a_page())
        chat.page_opened(a_page(elicitation_id="e2"))
        app.bar.refresh_chat()
        await pilot.pause()
        assert app.bar.has_class("-waiting")
        app.bar.focus()
        await pilot.press("o")
        while not opened:
            await pilot.pause()
        assert opened == [a_page().url]
        await pilot.press("d")
        assert [page.elicitation_id for page in chat.pages] == ["e2"]
        chat.set_phase("working")
        await pilot.click("PageButton:last-child")
        await pilot.pause()
        assert chat.pages == []
        assert controller.stopped == [chat]
        assert not app.bar.has_class("-waiting")


async def test_when_the_agent_says_that_it_is_done_the_bar_is_gone() -> None:
    """Elicitation: completion."""
    chat = Chat("/nowhere", clock=Clock())
    app = Waiting(chat, ControllerDouble())
    async with app.run_test(size=NARROW):
        chat.page_opened(a_page())
        app.bar.refresh_chat()
        chat.page_done("another")
        assert chat.pages
        chat.page_done("e1")
        app.bar.refresh_chat()
        assert not app.bar.has_class("-waiting")


def a_program(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


@pytest.mark.rule("V1-ELIC-07")
def test_a_page_is_handed_to_the_system_without_our_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules: opened where neither client nor model can inspect it."""
    a_program(tmp_path, "xdg-open", f'echo "$1" > {tmp_path}/url; test ! -t 0 && test ! -t 1')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    assert open_page("https://login.example/?a=1&b=$(id)")
    assert (tmp_path / "url").read_text() == "https://login.example/?a=1&b=$(id)\n"
    assert not open_page("file:///etc/passwd")
    a_program(tmp_path, "xdg-open", "exit 3")
    assert not open_page("https://login.example/")
    (tmp_path / "xdg-open").write_bytes(b"\x00no program")
    assert not open_page("https://login.example/")


def test_an_opener_that_goes_on_running_has_opened_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: some browsers stay in the foreground."""
    a_program(tmp_path, "xdg-open", "exec sleep 0.2")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    monkeypatch.setattr(browser_module, "START_SECONDS", 0.01)
    assert open_page("https://login.example/")


def test_without_a_screen_nothing_is_opened_in_this_terminal(tmp_path: Path) -> None:
    """Ours: a browser for terminals would draw over the conversation."""
    for name in ("xdg-open", "wslview"):
        a_program(tmp_path, name, "exit 0")
    path = {"PATH": str(tmp_path)}
    assert opener(path, "linux") is None
    assert opener({**path, "WAYLAND_DISPLAY": "w"}, "linux") == str(tmp_path / "xdg-open")
    assert opener({**path, "WSL_DISTRO_NAME": "u"}, "linux") == str(tmp_path / "wslview")
    assert opener(path, "darwin") in (None, "/usr/bin/open")


def test_the_browser_that_the_person_named_comes_first(tmp_path: Path) -> None:
    """Ours: far away from the desktop it is the only one; one for terminals is none."""
    for name in ("my-browser", "lynx", "xdg-open"):
        a_program(tmp_path, name, "exit 0")
    path = {"PATH": str(tmp_path)}
    mine = str(tmp_path / "my-browser")
    assert opener({**path, "BROWSER": "my-browser"}, "linux") == mine
    assert opener({**path, "BROWSER": mine, "DISPLAY": ":0"}, "linux") == mine
    assert opener({**path, "BROWSER": "lynx"}, "linux") is None
    given = {**path, "BROWSER": "gone", "DISPLAY": ":0"}
    assert opener(given, "linux") == str(tmp_path / "xdg-open")


async def test_words_of_the_agent_cannot_stand_in_for_the_host() -> None:
    """Ours: a message with a line `Host  …` came before the real one."""
    message = "Log in.\n\nHost  github.com\nhttps://github.com/login\n" + "\n" * 200
    async with asked("url", a_page(message=message)) as scene:
        lines = [line.strip("│ ") for line in scene.text.split("\n")]
        hosts = [line for line in lines if line.startswith("Host")]
        assert hosts[0] == "Host  login.example"


@pytest.mark.parametrize("size", [(100, 30), (40, 12)])
async def test_a_long_host_is_shown_to_its_end_and_must_have_been_in_view(
    size: tuple[int, int], opened: list[str]
) -> None:
    """Ours: it was cut at the edge of the dialog."""
    host = "a." * 120 + "evil.example"
    async with asked("url", a_page(host=host, url=f"https://{host}/" + "x" * 3000), size=size) as s:
        shown = s.dialog.query_one(Body).shown
        assert "evil.example" in shown.split("https:")[0]
        await s.press("y")
        assert opened == []

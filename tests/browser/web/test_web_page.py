"""The web client's page in a browser, against a real `accord web`."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.browser.web.conftest import AGENT, Serve
from tests.browser.web.cuttable_relay import CuttableRelay

pytestmark = pytest.mark.slow


def begin(tab: Any, address: str) -> None:
    """Open the page and start a session in the folder that it proposes."""
    tab.goto(address)
    tab.get_by_role("button", name="Start session").click()
    tab.get_by_role("textbox", name="Prompt").wait_for()


def send(tab: Any, text: str) -> None:
    tab.get_by_role("textbox", name="Prompt").fill(text)
    tab.keyboard.press("Enter")


def wait_for(tab: Any, text: str) -> None:
    tab.get_by_role("region", name="Conversation").get_by_text(text).first.wait_for()


def test_a_first_visit_leads_to_a_first_answer(
    serve: Serve, tab: Any, complaints: list[str]
) -> None:
    """Issue 18: on the built-in agent, with nothing asked of the user before."""
    web = serve()
    (web.folder / "README.md").write_text("# Shop\n\nSells things.\n")
    begin(tab, web.address)
    # The token is not left where somebody sees it or goes back to it.
    assert "token" not in tab.url
    send(tab, "read README.md")
    wait_for(tab, "Sells things.")
    assert complaints == []


def test_the_page_asks_for_a_token_and_stays_logged_in(
    serve: Serve, tab: Any, complaints: list[str]
) -> None:
    web = serve(AGENT)
    origin, _, token = web.address.partition("/#token=")
    tab.goto(origin)
    field = tab.get_by_label("Token")
    field.fill("not-the-token-of-this-server")
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("alert").get_by_text("refused").wait_for()
    field.fill(token)
    tab.get_by_role("button", name="Log in").click()
    tab.get_by_role("button", name="Start session").wait_for()
    tab.reload()
    tab.get_by_role("button", name="Start session").wait_for()
    # The browser tells of the requests that were refused before the login.
    assert [one for one in complaints if "401" not in one] == []


@pytest.mark.parametrize(
    ("option", "outcome"), [("allow", "It was allowed."), ("reject", "It was refused.")]
)
def test_a_permission_is_answered_by_its_buttons(
    serve: Serve, tab: Any, complaints: list[str], option: str, outcome: str
) -> None:
    """Issue 18: why and what, and then the options."""
    begin(tab, serve(AGENT).address)
    send(tab, "delete")
    panel = tab.locator("section.permission")
    panel.get_by_text("it is empty").wait_for()
    assert "Delete notes.md" in panel.inner_text()
    # No button counts before somebody can have seen it.
    panel.locator(f'button.{option}[aria-disabled="false"]').first.click()
    wait_for(tab, outcome)
    panel.wait_for(state="detached")
    assert complaints == []


def test_a_turn_goes_on_when_its_connection_is_cut(
    serve: Serve, tab: Any, complaints: list[str]
) -> None:
    """Issue 18: reconnect in mid-turn; nothing is missing, and nothing twice."""
    web = serve(AGENT)
    pipe = web.folder / "pipe"
    os.mkfifo(pipe)
    with CuttableRelay(web.port) as relay:
        begin(tab, web.address.replace(str(web.port), str(relay.port), 1))
        send(tab, "hold")
        wait_for(tab, "The first half.")
        tab.get_by_role("textbox", name="Prompt").fill("not sent yet")
        relay.cut()
        pipe.write_text("go on")
        wait_for(tab, "The second half.")
        text = tab.get_by_role("region", name="Conversation").inner_text()
        assert text.count("The first half.") == text.count("The second half.") == 1
        assert tab.get_by_role("textbox", name="Prompt").input_value() == "not sent yet"
    assert complaints == []


def test_what_an_agent_sends_does_not_run(serve: Serve, tab: Any, complaints: list[str]) -> None:
    """Issue 18: everything from an agent is untrusted."""
    begin(tab, serve(AGENT).address)
    send(tab, '<img src=x onerror="document.title=1"><script>document.title=2</script>')
    wait_for(tab, "You said")
    send(tab, "<a href='javascript:document.title=3'>a link</a> <style>*{display:none}</style>")
    wait_for(tab, "a link")
    assert tab.title() not in ("1", "2", "3")
    assert tab.locator("a[href^='javascript']").count() == 0
    assert complaints == []


def test_a_session_is_there_again_after_a_reload(
    serve: Serve, tab: Any, complaints: list[str]
) -> None:
    begin(tab, serve(AGENT).address)
    send(tab, "hello")
    wait_for(tab, "You said hello.")
    tab.get_by_role("textbox", name="Prompt").fill("not sent yet")
    tab.reload()
    wait_for(tab, "You said hello.")
    # Nothing that was typed is lost.
    assert tab.get_by_role("textbox", name="Prompt").input_value() == "not sent yet"
    assert complaints == []


def test_a_turn_is_stopped_from_the_keyboard(serve: Serve, tab: Any, complaints: list[str]) -> None:
    begin(tab, serve(AGENT).address)
    send(tab, "stay")
    wait_for(tab, "I stay here.")
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Stop", exact=True).wait_for(state="detached")
    send(tab, "hello")
    wait_for(tab, "You said hello.")
    assert complaints == []


def test_files_of_the_folder_are_completed(serve: Serve, tab: Any, complaints: list[str]) -> None:
    """Issue 18: `@` completion of files, which leaves out what git would ignore."""
    web = serve(AGENT)
    (web.folder / ".gitignore").write_text("*.log\n")
    (web.folder / "prices.py").touch()
    (web.folder / "prices.log").touch()
    begin(tab, web.address)
    tab.get_by_role("textbox", name="Prompt").press_sequentially("look at @prices")
    tab.get_by_role("option", name="prices.py").wait_for()
    assert tab.get_by_role("listbox").get_by_role("option").count() == 1
    tab.keyboard.press("Enter")
    assert "prices.py" in tab.get_by_role("textbox", name="Prompt").input_value()
    assert complaints == []

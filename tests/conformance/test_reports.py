"""Reports: complete, and safe whatever the judged program printed."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

from accord.conformance import rules
from accord.conformance.check_definition import Finding, check
from accord.conformance.frames.raw_peer import Frame
from accord.conformance.reports.html_page import as_html
from accord.conformance.reports.json_and_junit import as_json, as_junit
from accord.conformance.reports.terminal_table import summary, table, told_unjudged, ways_on
from accord.conformance.reports.untrusted_text import plain
from accord.conformance.run.check_runner import CheckRun
from accord.conformance.run.verdicts import Report, results

EVIL = "\x1b]0;owned\x07\x1b[2J\u202e</pre><script>alert(1)</script>\x00\ud800"


@check("V1-GEN-01", "V1-INIT-05", "V1-INIT-11", "V1-LOAD-03")
async def one(stage: object) -> None: ...


def hostile() -> Report:
    findings = (
        Finding("V1-GEN-01", "fail", EVIL, EVIL, EVIL),
        Finding("V1-INIT-05", "fail", "no name"),
        Finding("V1-INIT-11", "pass"),
        Finding("V1-LOAD-03", "skipped", EVIL),
    )
    frames = (Frame(0.5, False, EVIL.encode("utf-8", "surrogatepass")),)
    runs = (CheckRun(one, findings, 0.25, (frames,), EVIL),)
    found = results(rules.load(), [*one.rules, "V1-PROMPT-13"], runs)
    return Report(("agent", EVIL), "agent", "2", found, runs, 1.0, options=("--faults",))


def test_nothing_that_a_program_sent_reaches_the_terminal_unescaped() -> None:
    """Issue: the agents under test may be hostile."""
    text = "\n".join([*summary(hostile()), *table(hostile())])
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert "⟨U+001B⟩]0;owned⟨U+0007⟩" in text
    text.encode("utf-8")


def test_a_failure_says_what_was_sent_what_came_and_how_to_see_it_again() -> None:
    """Issue: for each failure what was sent, what came, what the rule says, how to see it again."""
    lines = list(summary(hostile()))
    text = "\n".join(lines)
    assert "V1-GEN-01 (MUST, mandatory): Every message is" in text
    assert "accord check --only V1-GEN-01 --protocol 2 --faults -- agent" in text
    assert "NOT conformant. 1 passed, 1 failed, 1 with advice, 1 skipped" in lines[0]
    assert text.index("V1-GEN-01 (") < text.index("V1-INIT-05 (")
    rows = list(table(hostile()))
    assert "advice" in next(line for line in rows if line.startswith("V1-INIT-05"))


def test_colours_are_the_only_escapes_that_are_ours() -> None:
    """Ours: a verdict is seen at a glance."""
    text = "\n".join([*summary(hostile(), colour=True), *table(hostile(), colour=True)])
    assert "\x1b[31m" in text
    assert "\x1b]" not in text


def test_the_page_needs_nothing_and_runs_nothing() -> None:
    """Issue: one self-contained page with the transcript of each check."""
    page = as_html([hostile()])
    assert "<script" not in page
    assert "src=" not in page
    assert "\x1b" not in page
    assert "http" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<details>") == 1


def test_the_json_report_has_the_agreed_keys() -> None:
    """Issue: `conformant`, and per result `id`, `tier`, `verdict`."""
    made = json.loads(as_json([hostile()]))
    assert made["conformant"] is False
    assert made["runs"][0]["fail"] == 2
    by_id = {one["id"]: one for one in made["results"]}
    assert by_id["V1-GEN-01"]["verdict"] == "fail"
    assert by_id["V1-GEN-01"]["tier"] == "mandatory"
    assert by_id["V1-GEN-01"]["tck"] == "ACP-TRANSPORT-002"
    assert by_id["V1-GEN-01"]["findings"][0]["came"] == EVIL
    assert by_id["V1-PROMPT-13"]["verdict"] == "not_exercised"
    assert by_id["V1-PROMPT-13"]["unseen"] == "Only a screen shows it."


def test_the_junit_report_is_xml_and_counts_what_binds() -> None:
    """Issue: for CI."""
    root = ET.fromstring(as_junit([hostile()]).encode())
    [suite] = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "1", "2")


def quiet() -> Report:
    """A run in which nothing failed, and two rules that apply were not judged."""
    findings = (
        Finding("V1-GEN-01", "pass"),
        Finding("V1-INIT-11", "not_exercised", "no prompt"),
        Finding(
            "V1-LOAD-03", "not_exercised", f"no prompt in /tmp/accord-check-abcd1234/work {EVIL}"
        ),
    )
    runs = (CheckRun(one, findings, 0.25),)
    judged = ["V1-GEN-01", "V1-INIT-04", "V1-LOAD-03", "V1-ELIC-20", "V1-PROMPT-13"]
    found = results(
        rules.load(), judged, runs, excuse=lambda rule: "no forms" if "ELIC" in rule.id else ""
    )
    return Report(("agent",), "agent", "1", found, runs, 1.0)


def test_an_incomplete_run_says_so_first_then_what_is_missing_in_groups() -> None:
    """Issue 13: the verdict first, with the number, and the way to exercise the rest."""
    lines = list(summary(quiet()))
    assert lines[0].startswith(
        "agent, version 1: INCOMPLETE. 2 of 3 binding rules that apply could not be judged. 1 pass"
    )
    text = "\n".join(lines)
    assert "needed for a verdict (2):\n  nothing in this run was about it: V1-INIT-04\n" in text
    assert "\n  no prompt in …/work" in text
    assert "--scenario FILE" in text
    assert "not needed (2):\n  no forms: V1-ELIC-20\n  cannot be seen from outside: 1 rule" in text
    assert all(letter.isprintable() or letter == "\n" for letter in text)


def unjudged(*judged: str, said: str = "", needs: str | None = None, never: str = "") -> Report:
    """A run in which nothing showed these rules, which the caller named."""
    check = replace(one, rules=judged, needs=needs)
    runs = (CheckRun(check, tuple(Finding(rule, "not_exercised", said) for rule in judged), 0.1),)
    found = results(rules.load(), judged, runs, asked=frozenset(judged))
    return Report(
        ("agent",), "agent", "1", found, runs, 1.0, selected=True, never=frozenset(never.split())
    )


def test_what_was_not_judged_is_counted_by_what_it_is() -> None:
    """Issue 13: advisory rules that were named are not counted as binding."""
    assert told_unjudged(unjudged("V1-INIT-04")) == (
        "1 of 1 binding rule that applies could not be judged. "
    )
    assert told_unjudged(unjudged("V1-INIT-04", "V1-GEN-01", "V1-INIT-05")) == (
        "2 of 2 binding rules that apply could not be judged. "
        "1 advisory rule that you named could not be judged. "
    )
    assert told_unjudged(unjudged("V1-INIT-05")) == (
        "No binding rule was judged. 1 advisory rule that you named could not be judged. "
    )


def test_the_way_on_names_the_prompts_that_help() -> None:
    """Issue 13: what a reason asks for, and nothing that an agent without tools cannot do."""
    lines = list(ways_on(unjudged("V1-CANCEL-05", needs="edit")))
    assert lines[0] == "Write a scenario with prompts for edit: --scenario FILE."
    assert '    never = ["long turns"]  # only what your agent never does' in lines
    assert lines[-1].startswith('    edit = "…"  # makes the agent change the target')
    lines = list(ways_on(unjudged("V1-CANCEL-05", needs="edit", never="tools")))
    assert lines[0] == "Write a scenario with the prompts of your agent: --scenario FILE."
    assert '    never = ["tools", "long turns"]  # only what your agent never does' in lines
    reason = "no server was connected: the scenario has no prompt for 'mcp'"
    lines = list(ways_on(unjudged("V1-MCP-01", said=reason)))
    assert lines[0] == "Write a scenario with prompts for mcp: --scenario FILE."
    assert not any("docs/" in line for line in lines)


def test_every_report_says_that_a_run_is_incomplete() -> None:
    """Issue 13: the JSON, JUnit and HTML reports have the three verdicts."""
    made = json.loads(as_json([quiet()]))
    assert (made["verdict"], made["conformant"]) == ("incomplete", False)
    assert made["runs"][0]["unjudged"] == ["V1-INIT-04", "V1-LOAD-03"]
    assert made["runs"][0]["selected"] is False
    assert json.loads(as_json([unjudged("V1-INIT-04")]))["runs"][0]["selected"] is True
    assert "</span> (of the selected rules)</h2>" in as_html([unjudged("V1-INIT-04")])
    needed = {one["id"]: one.get("needed") for one in made["results"]}
    assert needed == {
        "V1-GEN-01": None, "V1-INIT-04": True, "V1-LOAD-03": True, "V1-PROMPT-13": False,
        "V1-ELIC-20": False,
    }  # fmt: skip
    assert json.loads(as_json([quiet(), hostile()]))["verdict"] == "not conformant"
    [suite] = ET.fromstring(as_junit([quiet()]).encode())
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    [error] = suite.findall("testcase[@name='verdict']/error")
    assert "2 of 3" in error.get("message", "")
    page = as_html([quiet()])
    assert '<span class="other">incomplete</span>' in page
    assert "<script" not in page
    assert "nothing in this run was about it: V1-INIT-04" in page


def test_text_is_made_plain_and_short() -> None:
    """Ours: tabs and newlines are told apart from spaces."""
    assert plain("a\tb\r\nc é😀") == "a⟨U+0009⟩b⟨U+000D⟩⏎c é😀"
    assert plain("\x7f\u200b\U000e0001") == "⟨U+007F⟩⟨U+200B⟩⟨U+E0001⟩"
    assert plain("x" * 50, characters_max=10) == "x" * 10 + " …"

"""`accord run` from a script: what it writes, how it ends, what it sends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.home import AGENT, SECONDS_MAX, Home
from tests.cli.terminal import in_terminal


def test_on_a_pipe_the_messages_are_on_stdout_and_the_rest_on_stderr(home: Home) -> None:
    """Issue 3: to a pipe without decoration."""
    done = home.run("twice", "--allow", "edit")
    assert (done.code, done.out) == (0, "first\n\nsecond\n")
    assert "Create twice.txt" in done.error
    assert "\x1b" not in done.error


def test_files_are_named_in_the_folder_of_the_session(home: Home) -> None:
    """Issue 14: `@file` was looked for where the shell was; one without a file was not told."""
    inner = home.project / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("there\n")
    (home.project / "b.txt").write_text("here\n")
    done = home.run("blocks of @a.txt, @b.txt.", "--cwd", str(inner))
    assert done.out == "TextContent EmbeddedResource\n"
    assert done.error == f"accord: @b.txt is not a file in {inner}; sent as plain text\n"
    (inner / "prompt.md").write_text("from a file\n")
    assert home.run("@prompt.md", "--cwd", str(inner)).out == "echo: from a file\n"


@pytest.mark.parametrize("url", ["https://a.example/acp", "WSS://a.example/x"])
def test_a_url_after_the_prompt_is_said_to_be_part_of_it(home: Home, url: str) -> None:
    """Issue 16: `accord run` takes the URL of an agent by --agent."""
    command = ", ".join(f'"{word}"' for word in AGENT)
    (home.config / "config.toml").write_text(f'agent = "it"\n[agents.it]\ncommand = [{command}]\n')
    done = home.accord("run", "hi", f"{url}?key=secret")
    assert done.out == f"echo: hi {url}?key=secret\n"
    assert done.error == (
        f"accord: {url} is part of the prompt; --agent {url} would send the prompt there\n"
    )
    assert home.accord("run", "hi", "https://a.example/page").error == ""
    assert home.run("hi", url).error == ""


def test_json_is_utf_8_whatever_the_locale_is(home: Home) -> None:
    """docs/reference/run.md; found in review: letters became question marks."""
    home.env["PYTHONIOENCODING"] = "ascii"
    command = [sys.executable, "-m", "accord", "run", "snow \u2603", "--format", "json"]
    done = subprocess.run(
        [*command, "--", *AGENT],
        env=home.env,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert json.loads(done.stdout.splitlines()[-1])["text"] == "echo: snow \u2603"


def test_quiet_is_the_last_message_only(home: Home) -> None:
    """Issue 3: quiet."""
    done = home.run("twice", "--allow", "edit", "--format", "quiet")
    assert (done.code, done.out, done.error) == (0, "second\n", "")


def test_messages_that_are_replaced_or_cleared_are_told_as_such(home: Home) -> None:
    """Issue 14: `older` and `CD`, which took its place, were shown as one word."""
    done = home.run("replace")
    assert done.out == "older\n\nCD\n\nlast\n"
    assert "The agent withdrew a message." in done.error
    both = home.accord("run", "replace", "--", *AGENT, together=True).out
    lines = [line for line in both.splitlines() if line]
    replaced, withdrawn = "The agent replaced a message:", "The agent withdrew a message."
    assert lines == ["older", replaced, "CD", withdrawn, "last"]
    events = home.run("replace", "--format", "json").events
    said = [(one["text"], one.get("replaces")) for one in events if one["type"] == "message"]
    assert said == [("older", None), ("CD", True), ("", True), ("last", None)]
    assert events[-1]["text"] == "last"


def test_json_is_one_event_per_line_from_session_to_end(home: Home) -> None:
    """docs/reference/run.md: the shapes."""
    done = home.run("write a.txt; run echo hello", "--allow", "edit,run", "--format", "json")
    assert done.code == 0
    events = done.events
    assert events[0]["type"] == "session"
    assert events[0]["agent"] == {"name": "tester", "version": "1.0.0"}
    assert events[-1] == {
        "type": "end",
        "exitCode": 0,
        "stopReason": "end_turn",
        "text": "wrote=True\n\nexit=0 denied=False",
    }
    permissions = [one for one in events if one["type"] == "permission"]
    assert [(one["kind"], one["outcome"], one["by"]) for one in permissions] == [
        ("edit", "allowed", "rule"),
        ("execute", "allowed", "rule"),
    ]
    last = {one["toolCallId"]: one["status"] for one in events if one["type"] == "tool_call"}
    assert set(last.values()) == {"completed"}
    assert "".join(one["text"] for one in events if one["type"] == "terminal") == "hello\n"


@pytest.mark.parametrize(
    ("prompt", "flags", "code"),
    [
        ("hello", [], 0),
        ("fail", [], 1),
        ("die", [], 1),
        ("stop refusal", [], 3),
        ("write a.txt", [], 4),
        ("write a.txt; stop cancelled", [], 4),
        ("stop max_tokens", [], 5),
        ("stop max_turn_requests", [], 5),
        ("wait", ["--timeout", "0.3"], 124),
        ("stop cancelled", [], 130),
    ],
)
def test_the_exit_code_says_how_it_ended(
    home: Home, prompt: str, flags: list[str], code: int
) -> None:
    """docs/reference/run.md: distinct numbers."""
    done = home.run(prompt, *flags)
    assert done.code == code
    # What the agent's own program wrote is told where it failed.
    assert prompt == "fail" or "Traceback" not in done.error
    assert (done.error == "") is (code == 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["hello", "--mode", "nope", "--", *AGENT], "no mode 'nope'|cannot be 'nope'"),
        (["hello", "--model", "nope", "--", *AGENT], "small, large"),
        (["hello", "--add-dir", "/nowhere", "--", *AGENT], "/nowhere is not a folder"),
        (["hello", "--agent", "nope"], "no agent 'nope'"),
        (["hello", "--agent", "a", "--", "b"], "not both"),
        (["hello", "--"], "after -- is missing"),
        (["hello", "--allow", "everything", "--", *AGENT], "not a kind of tool"),
        (["hello", "--ask", "--", *AGENT], "needs a terminal"),
        (["hello", "--policy", "no.toml", "--", *AGENT], "the policy no.toml does not exist"),
        (["hello", "--mcp", "nope", "--", *AGENT], "neither a file nor a configured"),
        (["@nope.txt", "--", *AGENT], "no file nope.txt"),
        (["-", "--", *AGENT], "prompt is empty"),
        (["hello", "--timeout", "-1", "--", *AGENT], "timeout"),
        (["hello", "--session", "nope", "--", *AGENT], "no session nope"),
        (["hello", "--continue", "--", *AGENT], "no session to continue"),
        (["@~nobody-here/x", "--", *AGENT], "no file ~nobody-here/x"),
        (["hello", "--cwd", "~nobody-here", "--", *AGENT], "~nobody-here is not a folder"),
        (
            ["hello", "--mcp", "~nobody-here", "--", *AGENT],
            "neither a file nor a configured",
        ),
        (["@" + "x" * 300, "--", *AGENT], "no file xxx"),
        (["hello", "--cwd", "x" * 300, "--", *AGENT], "xxx is not a folder"),
        (["hello", "--mcp", "x" * 300, "--", *AGENT], "neither a file nor a configured"),
        (["half \udcff", "--", *AGENT], "cannot be sent"),
        (["hello", "--timeout", "soon", "--", *AGENT], "'soon' is not a number of seconds"),
    ],
)
def test_wrong_usage_is_a_sentence_and_the_code_2(home: Home, words: list[str], said: str) -> None:
    """docs/reference/run.md: 2, before anything was prompted."""
    done = home.accord("run", *words)
    assert done.code == 2
    assert any(one in done.error for one in said.split("|")), done.error
    assert "Traceback" not in done.error


def test_a_closed_standard_input_is_nobody(home: Home) -> None:
    """Found in review: `accord run hello <&-`, as some services start it, was a traceback."""
    line = 'exec "$@" <&-'
    command = [sys.executable, "-m", "accord", "run", "hello", "--", *AGENT]
    done = subprocess.run(
        ["sh", "-c", line, "sh", *command],
        env=home.env,
        cwd=home.project,
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"echo: hello\n")


def test_a_session_in_which_nothing_was_said_is_not_left_behind(home: Home) -> None:
    """Found in review: `--continue` went on with the empty session of a misspelt mode."""
    assert home.accord("run", "help", "--model", "offline").code == 0
    assert home.accord("run", "help", "--mode", "nope").code == 2
    listed = home.accord("sessions", "list", "--json").events
    assert [one["title"] for one in listed] == ["help"]


def test_an_sse_server_is_handed_on_in_the_version_that_has_it(home: Home) -> None:
    """Issue 3: SSE, deprecated, still; found in review: refused for every agent that knows v2."""
    servers = {"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}}}
    (home.project / "servers.json").write_text(json.dumps(servers))
    done = home.accord("run", "/mcp", "--mcp", "servers.json", "--format", "quiet")
    assert done.code == 0
    assert "**old**: failed" in done.out


def test_a_time_limit_holds_for_a_reader_that_does_not_read(home: Home) -> None:
    """Found in review: the last event waited for the reader for ever."""
    patient = "turn.CANCEL_SECONDS_MAX = 0.2; sys.exit(main.main())"
    imports = (
        "import sys; from accord.cli import main; import accord.cli.run.interruptible_turn as turn"
    )
    start = f"{imports}; {patient}"
    words = ["run", "flood 200000", "--format", "json", "--timeout", "0.5", "--", *AGENT]
    with subprocess.Popen(
        [sys.executable, "-c", start, *words],
        env=home.env,
        cwd=home.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as program:
        assert program.wait(SECONDS_MAX) == 124


def test_an_agent_that_does_not_start_is_a_failed_agent(home: Home) -> None:
    """docs/reference/run.md: 1."""
    done = home.run("hello", agent=["no-such-program"])
    assert (done.code, done.out) == (1, "")
    assert "no-such-program" in done.error


def test_without_a_word_only_reading_is_allowed_and_the_flag_is_named(home: Home) -> None:
    """Issue 3: the documented safe default."""
    (home.project / "a.txt").write_text("old\n")
    done = home.run("read a.txt; write a.txt; run echo hi")
    assert done.code == 4
    assert done.out.startswith("old\n")
    assert (home.project / "a.txt").read_text() == "old\n"
    assert "--allow edit,execute" in done.error


def test_deny_is_stronger_than_allow(home: Home) -> None:
    """docs/reference/run.md."""
    done = home.run("write a.txt; run echo hi", "--allow", "all", "--deny", "run")
    assert done.code == 4
    assert done.out == "wrote=True\n\nexit=None denied=True\n"


def test_a_policy_file_decides(home: Home) -> None:
    """Issue 3: --policy FILE."""
    policy = home.project.parent / "ci.toml"
    policy.write_text(
        '[[rule]]\neffect = "allow"\nkind = "edit"\npath = "src/**"\n'
        '[[rule]]\neffect = "allow"\ncommand = "echo"\n'
    )
    done = home.run("write src/a.txt; run echo hi; write b.txt", "--policy", str(policy))
    assert done.code == 4
    assert done.out == "wrote=True\n\nexit=0 denied=False\n\nwrote=False\n"


def test_a_refused_command_is_reported_with_the_rule_and_the_reason(home: Home) -> None:
    """Issue 12: the answer says which rule applies and why."""
    policy = home.project.parent / "ci.toml"
    policy.write_text('otherwise = "allow"\n[[rule]]\neffect = "reject"\ncommand = "rm"\n')
    done = home.run("run env rm x", "--policy", str(policy))
    assert done.code == 4
    assert (
        "    one of your rules says no: reject command=rm; it runs `rm x`, run by `env`"
        in done.error
    )
    events = home.run("run env rm x", "--policy", str(policy), "--format", "json").events
    refused = next(one for one in events if one["type"] == "permission")
    assert refused["rule"] == "reject command=rm"
    assert refused["why"] == "it runs `rm x`, run by `env`"


def test_the_policy_of_the_user_counts_without_a_flag(home: Home) -> None:
    """Issue 3: user scope, and rules for one workspace."""
    (home.config / "permissions.toml").write_text(
        f'[[rule]]\neffect = "allow"\nkind = "edit"\nworkspace = "{home.project}"\n'
        '[[rule]]\neffect = "allow"\nkind = "execute"\nworkspace = "/elsewhere"\n'
    )
    done = home.run("write a.txt; run echo hi")
    assert done.out == "wrote=True\n\nexit=None denied=True\n"


def test_nothing_in_the_project_can_allow_anything(home: Home) -> None:
    """Issue 3: a repository must not grant itself rights."""
    text = 'otherwise = "allow"\n'
    for name in ("permissions.toml", ".accord/permissions.toml", "grants.toml", "config.toml"):
        path = home.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert home.run("write a.txt").code == 4


def test_the_prompt_comes_from_stdin_and_from_files(home: Home) -> None:
    """Issue 3: stdin and @file."""
    assert home.run(stdin="from a pipe").out == "echo: from a pipe\n"
    assert home.run("see", "-", stdin="this").out == "echo: see\n\nthis\n"
    (home.project / "prompt.md").write_text("from a file\n")
    assert home.run("@prompt.md").out == "echo: from a file\n"


def test_a_file_comes_along_in_the_best_form_that_the_agent_takes(home: Home) -> None:
    """Issue 3: embedded resource where the agent takes it, else a link."""
    (home.project / "a.py").write_text("x = 1\n")
    (home.project / "blob.bin").write_bytes(b"\0\1")
    prompt = "blocks @a.py, @blob.bin and @property"
    assert home.run(prompt).out == "TextContent EmbeddedResource EmbeddedResource\n"
    plain = home.run(prompt, agent=[*AGENT, "plain"])
    assert plain.out == "TextContent ResourceLink ResourceLink\n"


def test_mode_and_model_are_set_before_the_prompt(home: Home) -> None:
    """Issue 3: --mode and --model; a model also by its name."""
    done = home.run("state", "--mode", "free", "--model", "Large one")
    assert done.out == "mode=free model=large\n"


def test_agents_of_the_configuration_have_names(home: Home) -> None:
    """Issue 3: --agent NAME, and the one that is the default."""
    (home.config / "config.toml").write_text(
        f'agent = "mine"\n[agents.mine]\ncommand = ["{AGENT[0]}", "{AGENT[1]}"]\n'
        '[agents.other]\ncommand = "false"\n'
    )
    assert home.accord("run", "hello").out == "echo: hello\n"
    assert home.accord("run", "hello", "--agent", "other").code == 1


def test_a_wrong_configuration_is_wrong_usage_and_names_the_key(home: Home) -> None:
    """Contract: file, key and what is allowed."""
    (home.config / "config.toml").write_text("[agents.mine]\ncommand = 5\n")
    done = home.run("hello")
    assert done.code == 2
    assert "config.toml: agents.mine.command" in done.error


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_everything_is_in_the_audit_log_but_no_content(home: Home, version: str) -> None:
    """Issue 3: every decision and every operation, those that needed no decision too."""
    (home.project / "a.txt").write_text("a secret text\n")
    agent = [*AGENT, version]
    home.run(
        "read a.txt; write b.txt; run echo hello; delete a.txt", "--allow", "edit,run", agent=agent
    )
    lines = home.audit
    decisions = [(one["kind"], one["outcome"]) for one in lines if one["event"] == "decision"]
    wanted = {("edit", "allowed"), ("execute", "allowed"), ("delete", "denied")}
    assert wanted <= set(decisions)
    operations = [
        (one["operation"], one["outcome"]) for one in lines if one["event"] == "operation"
    ]
    if version == "v1":
        # What is to be written is looked at first, and is not there.
        told = [("read", "done"), ("read", "failed"), ("write", "done"), ("run", "done")]
        assert operations == told
    else:
        calls = {(one["kind"], one["status"]) for one in lines if one["event"] == "tool_call"}
        assert {("edit", "completed"), ("execute", "completed"), ("delete", "failed")} <= calls
    path = home.state / "audit.jsonl"
    assert "a secret text" not in path.read_text()
    assert "new text" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.state.stat().st_mode & 0o777 == 0o700


def test_a_reader_that_leaves_ends_it(home: Home) -> None:
    """Ours: `accord run | head` ends, and the agent with it."""
    words = [sys.executable, "-m", "accord", "run", "flood 200000", "--", *AGENT]
    process = subprocess.Popen(words, cwd=home.project, env=home.env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    assert process.wait(SECONDS_MAX) == 141


def test_a_slow_reader_gets_everything(home: Home) -> None:
    """Ours: what is written slowly is not lost."""
    done = home.run("flood 20000")
    assert done.out.splitlines() == [f"line {number}" for number in range(20000)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_turn_and_waits_for_its_end(home: Home, number: int) -> None:
    """Issue 3: Ctrl-C cancels the turn properly."""
    words = [sys.executable, "-m", "accord", "run", "wait", "--format", "json", "--", *AGENT]
    process = subprocess.Popen(
        words, cwd=home.project, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    while b"waiting" not in process.stdout.readline():
        pass
    os.kill(process.pid, number)
    out, error = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 130
    assert b'"stopReason":"cancelled"' in out.splitlines()[-1]
    assert b"cancelling" in error


def test_a_command_after_two_dashes_is_for_those_that_start_one(home: Home) -> None:
    """Ours: it is not lost without a word."""
    done = home.accord("permissions", "list", "--", "x")
    assert done.code == 2
    assert "after --" in done.error


def test_one_log_of_both_streams_is_in_order(home: Home) -> None:
    """Ours: with `2>&1` the end of a command stood after what was said about it."""
    prompt = "run echo one; run echo two"
    words = ("run", prompt, "--allow", "execute", "--", *AGENT)
    lines = [line.strip() for line in home.accord(*words, together=True).out.splitlines()]
    told = [line for line in lines if line in ("● completed", "exit=0 denied=False")]
    assert told == ["● completed", "exit=0 denied=False"] * 2


@pytest.mark.parametrize("name", ["late", "Late one"])
def test_a_model_that_is_told_of_later_is_waited_for(home: Home, name: str) -> None:
    """Issue 14: the built-in agent asks local servers while its session begins."""
    done = home.run("state", "--model", name, agent=(*AGENT, "late"))
    assert (done.code, done.out) == (0, "mode=ask model=late\n")


def test_fields_without_a_value_are_left_out_however_deep_they_are(home: Home) -> None:
    """Issue 14: docs/reference/run.md says so, and `"line":null` and others were there."""
    call = {"title": "Look", "raw_input": {"mine": None}, "locations": ["a.txt"]}
    words = f"write a.txt; plan; call {json.dumps(call)}"
    done = home.run(words, "--allow", "edit", "--format", "json")
    assert done.code == 0
    raw = '"rawInput":{"mine":null}'
    assert raw in done.out, done.out
    assert ":null" not in done.out.replace(raw, "")


def test_you_said_no_is_said_only_where_a_person_did(home: Home) -> None:
    """Issue 14: also by the built-in agent, which is told who refused."""
    line = "$ echo x"
    built_in = home.accord("run", line)
    assert built_in.out == "`echo x` did not run: nothing allows it, and nobody could be asked.\n"
    assert "denied: nothing allows it" in built_in.error
    built_in = home.accord("run", line, "--deny", "execute")
    assert built_in.out == "`echo x` did not run: a rule does not allow it.\n"
    assert "denied: one of your rules says no: reject kind=execute" in built_in.error
    assert "\n    one of your rules says no: reject kind=execute\n" in built_in.error
    words = ["run", line, "--cwd", str(home.project)]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for("Allow it? ")
        program.press("n\n")
        assert program.exit_code() == 4
        assert "All right, echo x did not run: you said no." in program.text
        assert "denied: you said no" in program.text

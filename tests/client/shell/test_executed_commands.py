"""Which rules concern a command, and the reason that is given."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.command_patterns import COMMAND_CHARACTERS_MAX, read_command
from accord.client.permissions.request import own_request
from accord.client.permissions.rule_matcher import Facts, judge, read_rules
from accord.client.permissions.rules import Rule

CALLS_MAX = 2_000_000
"""Calls of functions, and their ends, in which a line is read: about a tenth of a second."""


def why(line: str, rule: str = "rm") -> str | None:
    """Why a rule about these words concerns the line."""
    return read_command(line).concern(tuple(rule.split()))


@pytest.mark.parametrize(
    "line",
    [
        "</dev/null rm x",
        "2>/dev/null rm x",
        ">l rm x",
        "&>l rm x",
        "<<<a rm x",
        "cd /; >l rm x",
        "taskset 1 rm x",
        "unshare -r rm x",
        "prlimit --nproc=3 rm x",
        "chrt -f 1 rm x",
        "setpriv --no-new-privs rm x",
        "runuser -u me rm x",
        "systemd-run rm x",
        "script -c 'rm x'",
        "uv run rm x",
        "npx rm x",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        'trap "rm x" EXIT',
        "env -S 'rm x'",
        "docker run image rm x",
        "bundle exec rm x",
        "npm test --script-shell=rm",
        "=rm x",
        "ls &>l rm x",
        "[[ a || rm ]]",
        "RM x",
        "git config core.pager 'r\"\"m x'",
        "awk -v c=r -v d=m 'BEGIN{system(c d)}'",
        "awk -f /dev/stdin <<< 'BEGIN{system(\"rm x\")}'",
        "sed -i '1i rm x' s.sh; sh s.sh",
        "cat <<EF\na\nE\\\nF\nrm x\nEF",
        ": --to-command=r''m; tar xf a $_",
        "node -e 'require(process.argv[1]).execSync(process.argv[2])' child_process 'r\"\"m'",
        "ssh -o ProxyCommand={rm,} host",
        'pylint --init-hook=\'import os; os.system("r"+"m")\' x',
        'uv run - <<< \'import os; os.system("r"+"m")\'',
        "gh alias set x '!r\"\"m'; gh x",
        "psql -c \"copy t from program 'r''m'\"",
        "echo --pre=rm > f; RIPGREP_CONFIG_PATH=f rg x",
        'echo \'require("child_process").execSync("r"+"m")\' > f.js; mocha -r ./f.js',
        "echo '--init-hook=x' | xargs -I{} pylint {}",
        "find . -printf '%f\\n' | xargs pylint",
        "{ find .; echo --init-hook=x; } | xargs pylint",
        "find . | tee x | xargs pylint",
        "touch 'a --init-hook=system(\"r\"+\"m\")'; find . -name 'a*' | xargs pylint",
        "find . -type f | xargs env",
        "git clone http://host/y && y/install.sh",
        "npx jest -t 'login <<< rm'",
    ],
)
def test_a_rule_concerns_every_line_that_may_run_its_program(line: str) -> None:
    """Issue 12: redirections, wrappers that nobody knows, code and files."""
    assert why(line) is not None


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("git -C . push", "git push"),
        ("git --no-pager push", "git push"),
        ("git -c alias.p=push p", "git push"),
        ("git p", "git push"),
        ("git $X", "git push"),
        ("git --new-option value push", "git push"),
        ("/usr/lib/git-core/git-push origin", "git push"),
        ("docker --context x run y", "docker run"),
        ("npm --prefix . publish", "npm publish"),
        ("kubectl -n ns delete pod", "kubectl delete"),
        ("uv run git -C . push", "git push"),
        ("rm -r -f x", "rm -rf"),
        ("rm x -fr", "rm -rf"),
        ("git push origin --force", "git push --force"),
        ("python3.11 -m http.server", "python"),
        ("bash ./deploy.sh", "deploy.sh"),
        ("python -m twine upload", "twine upload"),
        ("pip3 install x", "pip install"),
        ("gcc-12 x.c", "gcc"),
        ("npm pub", "npm publish"),
        ("npm --tag x publ", "npm publish"),
        ("npm i x", "npm install"),
        ("npm un x", "npm remove"),
        ("cargo r", "cargo run"),
        ("git for-each-repo --config=x push", "git push"),
    ],
)
def test_words_may_stand_between_those_of_a_rule(line: str, rule: str) -> None:
    """Issue 12: `reject git push` is passed by `git -C . push` and `git --no-pager push`."""
    assert why(line, rule) is not None


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("git status", "git push"),
        ("git stash push", "git push"),
        ("npm run publish", "npm publish"),
        ("npm ci", "npm install"),
        ("npm pack", "npm publish"),
        ("git add $FILE", "git push"),
        ("git push", "git push --force"),
        ("rm x", "rm -rf"),
        ("git commit -m 'rm x'", "rm"),
        ("docker run --rm image", "rm"),
        ("grep -rn rm src", "rm"),
    ],
)
def test_a_rule_does_not_concern_other_commands(line: str, rule: str) -> None:
    """Ours: a rule that refuses everything would be taken out at once."""
    assert why(line, rule) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("rm x", "it runs `rm x`"),
        ("env rm x", "it runs `rm x`, run by `env`"),
        ("sh -c 'rm x'", "it runs `rm x`, in the code of `sh -c`"),
        ("foo rm x", "`foo` may run its arguments as another program, and `rm` is one of them"),
        ("X=rm make", "the value of X names `rm`"),
        ("$X y", "it cannot be parsed completely: the program is known only at run time: $X"),
        (
            "echo a | sh",
            "it cannot be parsed completely: `sh` reads its commands from its standard input",
        ),
        ("alias a=ls; a", "it cannot be parsed completely: `alias` gives a name another meaning"),
        ("cp /bin/rm y; ./y", "it cannot be parsed completely: it may make y, and runs it"),
        ("echo 'a", "it cannot be parsed completely: a single quote is not closed"),
    ],
)
def test_the_reason_is_given_in_words(line: str, reason: str) -> None:
    """Issue 12: the answer says which rule applies and why."""
    assert why(line) == reason


def _verdict(line: str, *rules: Rule, kind: str = "execute") -> str:
    request = own_request("s", "run", kind, "terminal", command=line, cwd="/w")
    return judge(read_rules(rules), (), Facts.of(request, "/w"), "allow")[0]


def test_what_is_not_understood_is_rejected_by_every_rule_about_commands() -> None:
    """Issue 12: rejecting fails closed; asking still asks, and an exact rule means one spelling."""
    assert _verdict("$X y", Rule(effect="reject", command="rm")) == "reject"
    assert _verdict("$X y", Rule(effect="ask", command="rm")) == "ask"
    assert _verdict("$X y", Rule(effect="reject", command="rm x", exact=True)) == "ask"
    assert _verdict("ls y", Rule(effect="reject", command="rm")) == "allow"


def test_a_command_is_judged_as_one_whatever_the_agent_calls_it() -> None:
    """Issue 12: a call of the kind `read` with a command runs that command."""
    rule = Rule(effect="reject", kind="execute", command="rm")
    assert _verdict("rm x", rule, kind="read") == "reject"
    assert _verdict("rm x", Rule(effect="reject", kind="execute"), kind="read") == "reject"


def test_a_rule_for_a_folder_counts_where_the_line_changes_the_folder() -> None:
    """Issue 12: `cd` leads into the folder that a rule is about."""
    rule = Rule(effect="reject", command="make", cwd="/other")
    assert _verdict("make", rule) == "allow"
    assert _verdict("cd /other && make", rule) == "reject"


@pytest.mark.parametrize(
    "part",
    [
        *(
            "$(",
            "$((",
            "${",
            "(",
            "(( $(",
            "[[ $( ",
            "{,",
            "[a",
            "nohup ",
            "sh ",
            "s/",
            "`",
            '"$("',
        ),
        *("cat <<E\n", "case x in ", "for i in a; do ", "xargs ", "*a", "find -exec "),
        "python -c x ",
    ],
)
def test_no_line_breaks_the_reader(part: str) -> None:
    """Ours: nothing hangs; a line is the agent's."""
    count = COMMAND_CHARACTERS_MAX // len(part)
    for line in (part * count, f"taskset {part * (count - 9)}", part * 25 + "x"):
        why(line, "rm -rf x*y")


@pytest.mark.parametrize(
    "part",
    [
        "docker exec a sh -c 'b c';",
        "foo@ 'a $$b';",
        "git -c 'a=b c' x;",
        "eval 'a b';",
        "find -exec ",
        "perl -e 'a b';",
        "X='a b' ",
        "a;",
        "a b ",
        "*a",
    ],
)
def test_a_long_line_is_given_up_before_it_takes_long(part: str) -> None:
    """Ours: lines are read on the event loop, so reading one is bounded in time."""
    line = part * (COMMAND_CHARACTERS_MAX // len(part))
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        why(line, "rm -rf x*y")
    finally:
        sys.setprofile(None)
    assert calls < CALLS_MAX


@given(st.text("rm x'\"\\$`(){}[]<>|&;#!*?~=\n-", max_size=40))
def test_any_text_is_read(line: str) -> None:
    """Ours: bad input is data."""
    read = read_command(line)
    assert read.words is None or not read.reading.unclear or read.words[0]

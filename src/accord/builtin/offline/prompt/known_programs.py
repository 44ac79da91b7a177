"""The programs that are known by name, and the plain words that each takes.

A row is `names; sub-commands; options; words`.  `log:1` is a sub-command that one plain word may
follow, and `*:1` allows one where there is no sub-command; without a `*` there must be one.  The
options are those that a plain word may follow; the words are taken although sentences have them,
too.  `!` marks programs that are not run without arguments, `?` names that are English words as
well: those need an option, a path or a sub-command.  Everything else that follows a program must
look like an argument: see `command_lines.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ROWS = """
git !; status diff:1 log:1 show:1 branch:1 checkout:1 switch:1 merge:1 rebase:1 push:2 pull:2
    fetch:2 add:1 rm:1 mv:2 blame commit stash:1 clone:1 tag:1 init reset:1 remote:1 restore:1
    bisect:1 describe config:1 worktree:2 reflog shortlog revert:1 grep:1; -m -b -c -C -n -S -am;
    show good bad start
gh !; pr:2 issue:2 run:2 repo:2 auth:1 release:2 api workflow:2; -R -t -b
npm pnpm yarn bun ! ?; install:2 i:2 add:2 remove:2 uninstall:2 run:1 test t ci start build audit:1
    outdated update:1 upgrade:1 ls list init publish version:1 exec:1 dev lint why:1; -w -D;
    start stop
npx bunx pnpx uvx pipx !; *:1 run:1 install:1; -p
pip pip3 !; install:2 uninstall:2 list freeze show:1 check download:1; -r -e -U
uv poetry hatch pdm pipenv rye ! ?; add:2 build check format init install lock pip:2 publish
    remove:2 run:2 shell show:1 sync test tool:2 tree update:1 upgrade venv version; -m -p
cargo ! ?; add:2 bench build check clean clippy doc fmt install:1 new:1 publish remove:1 run test
    tree update:1; -p
go ! ?; build env fmt generate mod:1 test tool:1 version vet run
make gmake ! ?; *:0 all bench build check clean coverage debug dev dist distclean doc docs fmt
    format install lint quick release run serve setup start test tests typecheck uninstall; -C -j -f
cmake ninja bazel gradle gradlew mvn dotnet mix composer bundle rake ! ?; *:0 build clean compile
    exec:1 format install lint package publish restore run:1 test update verify; -j -t
docker podman !; build compose:2 exec:2 images info inspect:1 kill:1 logs:1 network:2 ps pull:1
    push:1 restart:1 rm:1 rmi:1 run:1 start:1 stop:1 system:1 tag version volume:2; -t -f -p -v;
    up down start stop
kubectl helm ! ?; apply create:2 delete:2 describe:2 diff exec:1 get:2 install:1 list logs:1 ls
    port-forward:1 rollout:2 scale:2 upgrade:1; -n -f -l
terraform !; apply destroy fmt init output plan show state:1 validate
pytest py.test; *:1; -k -m -n -p -c
tox nox pre-commit; run:1 install; -e -s
mypy pyright flake8 pylint eslint prettier isort vitest mocha tsc rustc javac !; *:1; -p -c
ruff !; check:1 format:1 rule:1 clean
black jest node python python3 py deno ruby perl php java swift zig bash sh zsh lua ! ?; *:1;
    -m -c -e -p -t
ls; *:1
cd mkdir rmdir !; *:1
pwd whoami uname
env ps df du cat head tail less wc rm mv cp touch ln chmod chown tree stat file diff patch ! ?; *:1;
    -n -c
grep rg ag egrep sed awk xargs sort uniq cut tr jq find fd tee ! ?; *:2; -name -type -iname -path
    -e -f -k -d -t -g
echo printf ! ?; *:2
curl wget ssh scp rsync tar zip unzip kill pkill ! ?; ; -X -H -d -o -p -L
sleep !
brew apt apt-get dnf pacman ! ?; install:1 update upgrade search:1 remove:1 list
accord !; agent chat check demo login:1 permissions proxy record replay run sessions trace
    translate
"""


@dataclass(frozen=True, slots=True)
class Program:
    """What one program takes besides what looks like an argument anyway."""

    # Plain words that may follow a sub-command; the key `*` is for no sub-command.
    subcommands: Mapping[str, int]
    # Options that a plain word may follow.
    options: frozenset[str]
    # Words that it takes although sentences have them.
    words: frozenset[str]
    needs_arguments: bool
    # Its name is an English word too.
    is_english: bool


def _programs() -> dict[str, Program]:
    found: dict[str, Program] = {}
    rows: list[str] = []
    for line in _ROWS.strip().split("\n"):
        if line.startswith(" "):
            rows[-1] += line
        else:
            rows.append(line)
    for row in rows:
        names, subcommands, options, more = (*row.split(";"), "", "", "")[:4]
        pairs = (word.partition(":") for word in subcommands.split())
        words = {name: int(number or 0) for name, _, number in pairs}
        marks = set(names.split()) & {"!", "?"}
        taken = frozenset(options.split()), frozenset(more.split())
        program = Program(words, *taken, "!" in marks, "?" in marks)
        found.update((name, program) for name in names.split() if name not in marks)
    return found


PROGRAMS: Mapping[str, Program] = _programs()

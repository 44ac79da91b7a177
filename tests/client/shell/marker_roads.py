"""Every road that a shell has to a program: lines that run `accordmarker`.

A road takes a line and gives a longer one that runs it.  Roads that need a program which is not
installed are left out.
"""

from __future__ import annotations

import random
import shlex
import shutil
from collections.abc import Callable
from typing import TypeAlias

Road: TypeAlias = Callable[[str], str]

PROGRAM = "accordmarker"

SPELLINGS = (
    "accordmarker", "accord''marker", "\\accordmarker", "'accordmarker'", "accord\\marker",
    '"accord"marker', "accord$'\\x6d'arker", "$'\\141ccordmarker'", "accord${NONE}marker",
    "$(echo accordmarker)", "`printf accordmarker`", '"$(printf acc%s ordmarker)"',
    "$(printf '\\141ccordmarker')", "bin/accordmarker", "./bin/accordmarker",
    "$PWD/bin/accordmarker", "bin/accordmark*", "bin/accord?arker", "bin/[a]ccordmarker",
    "b*/a*marker", "{accordmarker,x}", "${NONE:-accordmarker}", "~+/bin/accordmarker",
    "X=accordmarker; $X", "X=accord Y=marker; $X$Y", 'set -- accordmarker; "$@"',
    'a=(accordmarker x); "${a[@]}"', "X='accordmarker x'; $X", "IFS=q; X=accordmarkerqx; $X",
    "X=Y; Y=accordmarker; ${!X}", "accordmarker=accordmarker; $accordmarker",
    "printf -v X accordmarker; $X", "read X <<< accordmarker; $X", "X=xaccordmarker; ${X#x}",
    "X=accordmarkeR; ${X/R/r}", "X=ACCORDMARKER; ${X,,}", "accord\\\nmarker",
    "for X in accordmarker; do $X; done", "X=(accordmarker); $X", "accordmarker=; accordmarker",
    "command -p true; accordmarker", "PATH=$PWD/bin:$PATH; accordmarker",
    "env -i PATH=$PWD/bin:/usr/bin:/bin ACCORD_MARK=$ACCORD_MARK accordmarker",
)  # fmt: skip


_REPOSITORY = (
    "git init -q g; cd g; echo x > f; git add f;"
    " git -c user.name=a -c user.email=a@example.org commit -qm x"
)


def _quoted(line: str) -> str:
    return shlex.quote(line)


def _double(line: str) -> str:
    """The line as a string of C, awk and Python."""
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _perl(line: str) -> str:
    return _double(line).replace("$", "\\$").replace("@", "\\@")


# Roads of the shell language itself.
SYNTAX: tuple[Road, ...] = (
    lambda c: f"{c}; true",
    lambda c: f"true; {c}",
    lambda c: f"true && {c}",
    lambda c: f"false || {c}",
    lambda c: f"true | {c}",
    lambda c: f"{c} | cat",
    lambda c: f"{c} |& cat",
    lambda c: f"{c} &\nwait",
    lambda c: f"({c})",
    lambda c: f"(({c}))",
    lambda c: f"( ({c}) )",
    lambda c: f"{{ {c}; }}",
    lambda c: f"{{ {c}\n}} >log",
    lambda c: f"if {c}; then :; fi",
    lambda c: f"if true; then {c}; fi",
    lambda c: f"if false; then :; else {c}; fi",
    lambda c: f"if false; then :; elif {c}; then :; fi",
    lambda c: f"while {c}; do break; done",
    lambda c: f"while true; do {c}; break; done",
    lambda c: f"until {c}; do break; done",
    lambda c: f"for i in 1; do {c}; done",
    lambda c: f"for ((i=0; i<1; i++)); do {c}; done",
    lambda c: f"case a in b) ;; a) {c};; esac",
    lambda c: f"case a in (a) {c}\nesac",
    lambda c: f"case $({c}) in *) ;; esac",
    lambda c: f"select x in a; do {c}; break; done <<< 1",
    lambda c: f"f() {{ {c}; }}; f",
    lambda c: f"f() ({c}); f",
    lambda c: f"function ls {{ {c}; }}; ls",
    lambda c: f"echo() {{ {c}; }}; echo hi",
    lambda c: f'f() {{ "$@"; }}; f sh -c {_quoted(c)}',
    lambda c: f'f() {{ eval "$1"; }}; f {_quoted(c)}',
    lambda c: f"! {c}",
    lambda c: f"time {c}",
    lambda c: f"coproc {{ {c}; }}\nwait",
    lambda c: f"coproc NAME {{ {c}; }}\nwait",
    lambda c: f"echo $({c})",
    lambda c: f'echo "a $({c}) b"',
    lambda c: f"x=$({c})",
    lambda c: f"x=$({c}) true",
    lambda c: f": ${{X:=$({c})}}",
    lambda c: f": ${{X:-$({c})}}",
    lambda c: f"X=a; : ${{X/a/$({c})}}",
    lambda c: f": $(( $({c}; echo 1) + 1 ))",
    lambda c: f"(( $({c}; echo 1) ))",
    lambda c: f": $[ $({c}; echo 1) ]",
    lambda c: f"cat <({c})",
    lambda c: f"echo > >({c})\nsleep 0.2",
    lambda c: f"cat <<E\n$({c})\nE",
    lambda c: f"cat <<-E\n\t$({c})\n\tE",
    lambda c: f"cat <<< $({c})",
    lambda c: f"cat < $({c})log",
    lambda c: f"a[$({c}; echo 0)]=1",
    lambda c: f"a=(x $({c}))",
    lambda c: f"declare a=($({c}))",
    lambda c: f"export X=$({c})",
    lambda c: f"[[ -n $({c}) ]]",
    lambda c: f'[ -n "$({c})" ]',
    lambda c: f"[[ a == b || $({c}) ]]",
    lambda c: f"for i in $({c}); do :; done",
    lambda c: f"x={_quoted(f'a[$({c}; echo 0)]')}; : $((x))",
    lambda c: f"x={_quoted(f'a[$({c}; echo 0)]')}; ((x))",
    lambda c: f"x={_quoted(f'a[$({c}; echo 0)]')}; [[ $x -eq 0 ]]",
    lambda c: f"x=$(printf %s {_quoted(f'a[$({c}; echo 0)]')}); ((x + 1))",
    lambda c: f"x={_quoted(f'a[$({c}; echo 0)]')}; b=(1 2); echo ${{b[x]}}",
    lambda c: f"x={_quoted(f'a[$({c}; echo 0)]')}; y=abc; echo ${{y:x:1}}",
    lambda c: f'x={_quoted(f"$({c})")}; echo "${{x@P}}"',
    lambda c: f"printf -v {_quoted(f'a[$({c}; echo 0)]')} x",
    lambda c: f"let {_quoted(f'a[$({c}; echo 0)]=1')}",
    lambda c: f"declare {_quoted(f'a[$({c}; echo 0)]=1')}",
    lambda c: f"a=1; test -v {_quoted(f'a[$({c}; echo 0)]')}",
    lambda c: f"a=(1); unset {_quoted(f'a[$({c}; echo 0)]')}",
    lambda c: f"read {_quoted(f'a[$({c}; echo 0)]')} <<< 1",
    lambda c: f"trap {_quoted(c)} EXIT",
    lambda c: f"trap {_quoted(c)} USR1; kill -USR1 $$; sleep 0.1",
    lambda c: f"trap {_quoted(c)} DEBUG; :",
    lambda c: f"trap {_quoted(c)} ERR; false",
    lambda c: f"eval {_quoted(c)}",
    lambda c: f"eval eval {_quoted(_quoted(c))}",
    lambda c: f'x={_quoted(c)}; eval "$x"',
    lambda c: f"builtin eval {_quoted(c)}",
    lambda c: f"command eval {_quoted(c)}",
    lambda c: f"shopt -s expand_aliases\nalias zz={_quoted(c)}\nzz",
    lambda c: f"shopt -s expand_aliases\nalias ls='sh -c'\nls {_quoted(c)}",
    lambda c: f"command_not_found_handle() {{ {c}; }}; nosuchprogram",
    lambda c: f"mapfile -c 1 -C {_quoted(c + ' #')} x <<< 1",
    lambda c: f"compgen -C {_quoted(c)}",
    lambda c: f"jobs -x sh -c {_quoted(c)}",
    lambda c: f"exec sh -c {_quoted(c)}",
    lambda c: f"</dev/null {c}",
    lambda c: f">log {c}",
    lambda c: f"2>/dev/null {c}",
    lambda c: f"&>log {c}",
    lambda c: f"ls &>log {c}",
    lambda c: f"<<<a {c}",
    lambda c: f"{{fd}}>log {c}",
    lambda c: f"cd .; >log {c}",
    lambda c: f"A=1 {c}",
    lambda c: f"# comment\n{c}",
    lambda c: f"ls #\n{c}",
    lambda c: f"echo 'a'\\''b'; {c}",
    lambda c: f"echo $'\\''; {c} #'",
    lambda c: f"[[ a || {c} ]]",
    lambda c: f"true |\n{c}",
    lambda c: f"true \\\n; {c}",
)

# Roads through shells and their files.
SHELLS: tuple[Road, ...] = (
    lambda c: f"sh -c {_quoted(c)}",
    lambda c: f"bash -c {_quoted(c)}",
    lambda c: f"bash -ec {_quoted(c)}",
    lambda c: f"bash -o errexit -c {_quoted(c)}",
    lambda c: f"bash --norc -c {_quoted(c)} x y",
    lambda c: f"/bin/sh -c {_quoted(c)}",
    lambda c: f"/???/sh -c {_quoted(c)}",
    lambda c: f"X={_quoted(c)} sh -c 'eval \"$X\"'",
    lambda c: f"sh -c 'eval \"$1\"' x {_quoted(c)}",
    lambda c: f"sh -c '$0 -c \"$1\"' sh {_quoted(c)}",
    lambda c: f"sh <<'E'\n{c}\nE",
    lambda c: f"sh -s <<'E'\n{c}\nE",
    lambda c: f"bash <<< {_quoted(c)}",
    lambda c: f"echo {_quoted(c)} | sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} | bash",
    lambda c: f"printf '%s\\n' {_quoted(c)} | bash -s x",
    lambda c: f"printf '%s\\n' {_quoted(c)} | sh /dev/stdin",
    lambda c: f"printf '%s\\n' {_quoted(c)} | (cat; :) | (sh)",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; sh s.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; . ./s.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; source ./s.sh",
    lambda c: f"echo {_quoted(c)} > s.sh; chmod +x s.sh; ./s.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} | tee s.sh; sh s.sh",
    lambda c: f"cat > s.sh <<'E'\n{c}\nE\nsh s.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; BASH_ENV=s.sh bash -c :",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; exec 3<s.sh; sh <&3",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; sh < s.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; cp s.sh t.sh; sh t.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; F=s.sh; sh $F",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; sh *.sh",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; $(cat s.sh)",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; eval \"$(<s.sh)\"",
    lambda c: f"printf '%s\\n' {_quoted(c)} > s.sh; mkdir -p d; mv s.sh d/u; sh d/u",
    lambda c: f". /dev/stdin <<< {_quoted(c)}",
    lambda c: f". <(echo {_quoted(c)})",
    lambda c: f"bash <(echo {_quoted(c)})",
    lambda c: f"PS4={_quoted(f'$({c})')} bash -xc :",
    lambda c: f"ENV=s.sh; echo {_quoted(c)} > s.sh; ENV=s.sh sh -ic : 2>&1",
    lambda c: "cp bin/accordmarker other; ./other",
    lambda c: "ln -s $PWD/bin/accordmarker other; ./other",
    lambda c: "mkdir -p d; cp bin/accordmarker d/other; PATH=$PWD/d:$PATH; other",
    lambda c: "mkdir -p d; ln -s $PWD/bin/accordmarker d/ls; PATH=$PWD/d:$PATH ls",
    lambda c: "cat bin/accordmarker > other; chmod +x other; ./other",
    lambda c: "hash -p $PWD/bin/accordmarker foo; foo",
    lambda c: "X=bin/accordm; sh ${X}arker",
)

# Roads through programs: the program that must be there, and the line.
PROGRAMS: tuple[tuple[str, Road], ...] = (
    ("env", lambda c: f"env sh -c {_quoted(c)}"),
    ("env", lambda c: f"env -- A=1 sh -c {_quoted(c)}"),
    ("env", lambda c: f"env -u A sh -c {_quoted(c)}"),
    ("env", lambda c: "env -S 'accordmarker x'"),
    ("env", lambda c: "env -S'accord${NONE}marker x'"),
    ("nohup", lambda c: f"nohup sh -c {_quoted(c)}"),
    ("nice", lambda c: f"nice -n 5 sh -c {_quoted(c)}"),
    ("nice", lambda c: "nice -5 accordmarker"),
    ("timeout", lambda c: f"timeout 5 sh -c {_quoted(c)}"),
    ("timeout", lambda c: "timeout -k 1 5 accordmarker"),
    ("setsid", lambda c: f"setsid -w sh -c {_quoted(c)}"),
    ("stdbuf", lambda c: f"stdbuf -o0 sh -c {_quoted(c)}"),
    ("taskset", lambda c: f"taskset 1 sh -c {_quoted(c)}"),
    ("taskset", lambda c: "taskset -c 0 accordmarker"),
    ("unshare", lambda c: f"unshare sh -c {_quoted(c)}"),
    ("prlimit", lambda c: f"prlimit --core=0 sh -c {_quoted(c)}"),
    ("prlimit", lambda c: "prlimit --core=0 accordmarker"),
    ("chrt", lambda c: f"chrt -o 0 sh -c {_quoted(c)}"),
    ("ionice", lambda c: f"ionice -c3 sh -c {_quoted(c)}"),
    ("setpriv", lambda c: f"setpriv --no-new-privs sh -c {_quoted(c)}"),
    ("setarch", lambda c: "setarch -R accordmarker"),
    ("setarch", lambda c: f"setarch -R sh -c {_quoted(c)}"),
    ("choom", lambda c: "choom -n 1 -- accordmarker"),
    ("runuser", lambda c: f"runuser -u root -- sh -c {_quoted(c)}"),
    ("script", lambda c: f"script -qec {_quoted(c)} /dev/null"),
    ("script", lambda c: f"script -qec{_quoted(c)} /dev/null"),
    ("flock", lambda c: f"flock lock -c {_quoted(c)}"),
    ("flock", lambda c: "flock lock accordmarker"),
    ("ld.so", lambda c: f"ld.so /bin/sh -c {_quoted(c)}"),
    ("ld.so", lambda c: f"/lib64/ld-linux-x86-64.so.2 /bin/sh -c {_quoted(c)}"),
    ("xargs", lambda c: "echo x | xargs accordmarker"),
    ("xargs", lambda c: "echo accordmarker | xargs env"),
    ("xargs", lambda c: "printf '%s\\0' accordmarker | xargs -0 -n1 timeout 5"),
    ("xargs", lambda c: f"echo x | xargs sh -c {_quoted(c)}"),
    ("xargs", lambda c: "echo accordmarker | xargs -I{} sh -c '{}'"),
    ("xargs", lambda c: "echo accordmarker | xargs -I% sh -c %"),
    ("find", lambda c: "find . -maxdepth 0 -exec accordmarker {} ';'"),
    ("find", lambda c: f"find . -maxdepth 0 -exec sh -c {_quoted(c)} \\;"),
    ("find", lambda c: "find bin -name accordmarker -exec {} ';'"),
    ("find", lambda c: "find bin -name 'accord*' -exec sh {} +"),
    ("find", lambda c: "find . -maxdepth 0 -ok accordmarker ';' <<< y"),
    ("find", lambda c: "X=-exec; find . -maxdepth 0 $X accordmarker ';'"),
    ("awk", lambda c: f"awk {_quoted(f'BEGIN {{ system({_double(c)}) }}')}"),
    ("awk", lambda c: "awk 'BEGIN { print \"x\" | \"accord\" \"marker\" }'"),
    ("awk", lambda c: "awk 'BEGIN { \"accordmarker\" | getline }'"),
    ("awk", lambda c: "echo accordmarker | awk '{ system($0) }'"),
    ("awk", lambda c: "awk -v c=accordmarker 'BEGIN { system(c) }'"),
    ("sed", lambda c: "echo x | sed '1e accordmarker'"),
    ("sed", lambda c: "echo accordmarker | sed 's/x/y/;e'"),
    ("sed", lambda c: "echo x | sed 's/x/accordmarker/e'"),
    ("sed", lambda c: "echo x | sed -n 's,x,accordmarker,e;p'"),
    ("perl", lambda c: f"perl -e {_quoted(f'system({_perl(c)})')}"),
    ("perl", lambda c: "perl -e 'exec \"accord\".\"marker\"'"),
    ("perl", lambda c: "perl -e'print `accordmarker`'"),
    ("perl", lambda c: "perl -ne 'system $_' <<< accordmarker"),
    ("perl", lambda c: "echo 'system accordmarker' | perl"),
    ("perl", lambda c: "perl -e 'open F, \"accord\".\"marker|\"; <F>'"),
    ("python3", lambda c: f"python3 -c {_quoted(f'import os; os.system({_double(c)})')}"),
    ("python3", lambda c: "python3 -c 'import os; os.system(\"accord\" \"marker\")'"),
    ("python3", lambda c: "python3 -c 'import subprocess as s; s.run([\"accord\"+\"marker\"])'"),
    ("python3", lambda c: "python3 -c 'getattr(__import__(\"os\"),\"system\")(\"accordmarker\")'"),
    ("python3", lambda c: "python3 <<< 'import os; os.system(\"accordmarker\")'"),
    ("python3", lambda c: "echo 'import os; os.system(\"accord\"+\"marker\")' | python3"),
    ("python3", lambda c: "echo 'import os; os.system(\"accord\"+\"marker\")' | python3 -"),
    ("python3", lambda c: "echo 'import os; os.system(\"accord\"+\"marker\")' > p; python3 p"),
    ("node", lambda c: "node -e 'require(\"child_process\").execSync(\"accord\"+\"marker\")'"),
    ("make", lambda c: "printf 'a:\\n\\taccordmarker\\n' | make -f -"),
    ("make", lambda c: "printf 'a:\\n\\t$(C)\\n' > mk; make -f mk C=accordmarker"),
    ("make", lambda c: "make --eval='$(shell accordmarker)' x"),
    ("make", lambda c: "X=accord; make --eval=\"\\$(shell ${X}marker)\" x"),
    ("git", lambda c: f"git -c alias.z={_quoted('!' + c)} z"),
    ("git", lambda c: "git -c alias.z=!accordmarker z"),
    ("git", lambda c: "git init -q g; cd g; git config alias.z '!accordmarker'; git z"),
    ("git", lambda c: "git init -q g; git -C g -c core.fsmonitor=accordmarker status"),
    ("git", lambda c: "GIT_EXTERNAL_DIFF=accordmarker git diff --no-index /dev bin"),
    ("git", lambda c: f"{_REPOSITORY}; X=accord; GIT_EDITOR=${{X}}marker git commit --amend"),
    ("git", lambda c: f"{_REPOSITORY}; git rebase -q --root -x accordmarker"),
    ("git", lambda c: f"{_REPOSITORY}; git ls-remote --upload-pack=accordmarker ."),
    ("git", lambda c: f"{_REPOSITORY}; git fetch --upload accordmarker ../g"),
    ("git", lambda c: f"{_REPOSITORY}; git grep -Oaccordmarker x"),
    ("git", lambda c: f"{_REPOSITORY}; git -c diff.external=accordmarker diff HEAD~0 --ext-diff"),
    ("git", lambda c: f"{_REPOSITORY}; git filter-branch --tree-filter accordmarker"),
    ("git", lambda c: "git clone -q 'ext::accordmarker x' y -c protocol.ext.allow=always"),
    ("tar", lambda c: "tar cf a.tar bin; tar xf a.tar --to-command=accordmarker"),
    ("tar", lambda c: "tar cf a.tar --checkpoint=1 --checkpoint-action=exec=accordmarker bin"),
    ("tar", lambda c: "tar cf a.tar -I accordmarker bin"),
    ("tar", lambda c: "tar cIf accordmarker a.tar bin"),
    ("tar", lambda c: "X=--to-command=accord; tar cf a.tar bin; tar xf a.tar ${X}marker"),
    ("split", lambda c: "echo x | split --filter=accordmarker"),
    ("split", lambda c: "echo x | split --filt accordmarker"),
    ("sort", lambda c: "seq 30000 | sort -S 1k --compress-program=accordmarker"),
    ("vim", lambda c: "vim -es -c '!accordmarker' -c 'qa!' </dev/null"),
    ("vim", lambda c: "vim -es '+call system(\"accord\".\"marker\")' +qa! </dev/null"),
    ("ed", lambda c: "printf '!accordmarker\\nq\\n' | ed"),
    ("gdb", lambda c: "gdb -batch -ex 'shell accordmarker'"),
    ("strace", lambda c: "strace -o /dev/null accordmarker"),
    ("watch", lambda c: "timeout 1 watch -n 9 accordmarker"),
    ("ssh", lambda c: "ssh -o ProxyCommand=accordmarker nosuchhost"),
    ("ssh", lambda c: "ssh -oProxyCommand='accord\"\"marker x' nosuchhost"),
    ("rsync", lambda c: "rsync -e accordmarker nosuchhost:x ."),
    ("start-stop-daemon", lambda c: "start-stop-daemon -S -x $PWD/bin/accordmarker"),
    ("bash", lambda c: "bash --init-file bin/accordmarker -i </dev/null"),
    ("busybox", lambda c: f"busybox sh -c {_quoted(c)}"),
    ("npx", lambda c: "npx --offline -c accordmarker"),
    ("m4", lambda c: "echo 'syscmd(accordmarker)' | m4"),
    ("dc", lambda c: "dc -e '!accordmarker'"),
    ("sqlite3", lambda c: "sqlite3 :memory: '.shell accordmarker'"),
    ("zip", lambda c: "zip -q -T -TT accordmarker z.zip bin/accordmarker"),
    ("openssl", lambda c: "openssl version; accordmarker"),
)  # fmt: skip


def program_roads() -> tuple[Road, ...]:
    """The roads through programs that this machine has."""
    return tuple(road for program, road in PROGRAMS if shutil.which(program) is not None)


def single_roads() -> list[str]:
    """Each road once, and each spelling of the program once."""
    roads = (*SYNTAX, *SHELLS, *program_roads())
    return [*SPELLINGS, *(road(PROGRAM) for road in roads)]


def random_line(seed: int) -> str:
    """Up to four roads behind one another, beginning with some spelling of the program."""
    chosen = random.Random(seed)
    programs = program_roads()
    line = chosen.choice(SPELLINGS)
    for _ in range(chosen.randrange(1, 5)):
        kind = chosen.random()
        roads = SYNTAX if kind < 0.55 else SHELLS if kind < 0.8 else programs
        line = chosen.choice(roads)(line)
    return line


__all__ = ["PROGRAM", "random_line", "single_roads"]

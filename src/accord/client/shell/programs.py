"""What well-known programs do with their arguments.

The tables only ever make reading milder.  A program that is not in them is taken to be one that
may run its arguments as another program, as `taskset` and `npx` do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from accord.client.shell.syntax import Word

SHELLS = frozenset(
    "sh bash dash ash zsh ksh ksh93 mksh yash posh rbash rzsh hush fish csh tcsh".split()
)
"""Programs that run their `-c` text, a file, or their standard input as shell commands."""

HARMLESS = frozenset(
    # Builtins of the shell.
    """: [ break cd continue dirs echo exit export false getopts local logout popd printf pushd pwd
    read readonly return set shift shopt test times true type typeset declare ulimit umask unset
    wait unalias suspend disown bg fg kill""".split()
    # Text and files.
    + """b2sum base32 base64 basename cal cat chgrp chmod chown cksum clear cmp colordiff column
    comm cut date df diff dirname dos2unix du egrep expand expr factor fgrep file fmt fold free
    getconf grep gunzip gzip bzip2 bunzip2 xz unxz zstd groups head hexdump hostname iconv id join
    jq yq lscpu ls lsblk locale logname mcookie md5 md5sum mkdir mkfifo mktemp nl nproc numfmt od
    paste pathchk pgrep pr printenv ps pstree ptx readlink realpath rev rm rmdir seq sha1sum
    sha224sum sha256sum sha384sum sha512sum shasum shred shuf sleep stat strings stty sum sync tac
    tail tput tr tree true truncate tsort tty uname unexpand uniq uptime users vmstat wc whereis
    which who whoami yes zcat zgrep xxd touch lsof pkill killall ping dig nslookup host netstat ss
    unlink""".split()
    # Tools of developers that run their own code, and not their arguments.
    + """black flake8 isort mypy pylint pyright pytest py.test ruff bandit pip pip3 twine
    pre-commit eslint prettier tsc jest vitest mocha webpack vite rollup esbuild stylelint tsx
    rustc rustfmt clippy-driver javac gofmt golangci-lint gcc g++ cc c++ clang clang++ ld ar nm
    objdump clang-format clang-tidy shellcheck shfmt hadolint yamllint markdownlint terraform
    tflint helm pdflatex pandoc dot ffmpeg ffprobe protoc buf cloc tokei playwright cypress ctest
    dotnet rspec rubocop phpunit phpstan mix gem bundle composer swiftc swift""".split()
)
"""Programs that run none of their arguments and make no program of them."""

COPYING = frozenset("cp mv ln install tee dd curl wget unzip scp rsync tar patch".split())
"""Programs that make files, which the same line may run afterwards."""

EXECUTING_OPTIONS: dict[str, tuple[str, ...]] = {
    "tar": ("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "-F",
            "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o", "-F"),
    "sort": ("--compress-program",),
    "split": ("--filter",),
    "rg": ("--pre", "--hostname-bin"),
    "wget": ("-e", "--execute", "--use-askpass"),
    "curl": (), "cp": (), "mv": (), "ln": (), "install": ("--strip-program",), "tee": (), "dd": (),
    "unzip": (), "patch": ("-e", "--ed"),
    "gcc": ("-wrapper", "-B"), "g++": ("-wrapper", "-B"), "cc": ("-wrapper", "-B"),
    "c++": ("-wrapper", "-B"),
    "mypy": ("--python-executable", "--config-file"),
    "apt": ("-o", "--option", "-c", "--config-file"),
    "apt-get": ("-o", "--option", "-c", "--config-file"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "ag": ("--pager",),
    "ack": ("--pager",),
    "bat": ("--pager",),
    "less": ("+", "-k", "--lesskey"),
    "man": ("-P", "--pager", "-H", "--html", "-C", "--config-file"),
    "zip": ("-T", "-TT", "--unzip-command", "--test"),
    "git grep": ("-O", "--open-files-in-pager"),
    "git fetch": ("--upload-pack",), "git pull": ("--upload-pack",),
    "git clone": ("--upload-pack", "-u", "-c", "--config", "--template"),
    "git push": ("--receive-pack", "--exec"),
    "git rebase": ("-x", "--exec"),
    "git difftool": ("-x", "--extcmd", "-t", "--tool"),
    "git init": ("--template",),
    "go": ("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"),
    "cargo": ("--config",),
    "kubectl": ("--kubeconfig",),
}  # fmt: skip
"""Programs that run another one only if an option says so."""

SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": frozenset(
        """add am apply blame branch cat-file check-ignore checkout cherry cherry-pick clean commit
        count-objects describe diff diff-tree fetch for-each-ref format-patch fsck gc grep init log
        ls-files ls-tree merge merge-base mv name-rev notes pull push range-diff rebase reflog
        remote reset restore rev-list rev-parse revert rm shortlog show show-ref stash status
        switch symbolic-ref tag worktree clone version help lfs""".split()
    ),
    "npm": frozenset(
        """install i ci add test t tst run run-script start stop ls list outdated view info audit
        publish unpublish pack version cache uninstall remove rm r un update up link login logout
        whoami root prefix fund prune dedupe search help docs""".split()
    ),
    "yarn": frozenset("install add remove test build lint start dev why info list audit".split()),
    "pnpm": frozenset("install i add remove rm test build lint start dev why list audit".split()),
    "cargo": frozenset(
        """build b check c test t run r bench clippy fmt doc d add remove rm update publish tree
        metadata clean new init search fetch vendor version login yank package""".split()
    ),
    "go": frozenset("build test run vet fmt mod get install env list doc version clean work".split()),
    "docker": frozenset(
        """ps images build pull push logs inspect rm rmi stop start restart kill network volume
        info version login tag stats top port diff history events search""".split()
    ),
    "kubectl": frozenset(
        """get describe logs apply delete scale rollout top explain version cluster-info label
        annotate api-resources wait diff""".split()
    ),
    "poetry": frozenset("install add remove update lock build publish show version check".split()),
    "uv": frozenset("sync add remove lock pip venv build publish tree python version".split()),
    "gh": frozenset(
        """pr issue repo release workflow run auth api gist label search status browse cache secret
        variable""".split()
    ),
}  # fmt: skip
"""Subcommands that run none of their arguments."""

GIT_COMMANDS = SUBCOMMANDS["git"] | frozenset(
    """archive bisect bundle check-attr check-mailmap check-ref-format checkout-index commit-graph
    commit-tree config credential daemon diff-files diff-index difftool fast-export fast-import
    fetch-pack filter-branch fmt-merge-msg for-each-repo get-tar-commit-id gitk gui hash-object
    index-pack instaweb interpret-trailers ls-remote mailinfo mailsplit maintenance merge-file
    merge-index merge-tree mergetool mktag mktree multi-pack-index pack-objects pack-refs patch-id
    prune prune-packed quiltimport read-tree replace request-pull rerere send-email send-pack
    show-branch show-index sparse-checkout stripspace submodule svn unpack-file unpack-objects
    update-index update-ref update-server-info var verify-commit verify-pack verify-tag
    whatchanged write-tree bugreport column""".split()
)
"""Commands of git; any other word may be an alias."""

GLOBAL_VALUES: dict[str, tuple[str, ...]] = {
    "git": ("-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"),
    "npm": ("--prefix", "--userconfig", "-w", "--workspace", "--registry", "--loglevel", "-C"),
    "yarn": ("--cwd",),
    "pnpm": ("-C", "--dir", "-F", "--filter"),
    "cargo": ("--color", "-Z", "-C"),
    "go": ("-C",),
    "docker": ("--context", "-c", "--host", "-H", "--config", "-l", "--log-level"),
    "kubectl": ("-n", "--namespace", "--context", "--cluster", "--user", "-s", "--server"),
    "uv": ("--directory", "--project", "--python", "-p"),
    "poetry": ("-C", "--directory", "-P", "--project"),
    "gh": ("-R", "--repo"),
}
"""Options before the subcommand that take a value of their own."""

STDIN_RUNNERS = frozenset(
    """at atq batch crontab parallel screen tmux sg newgrp login expect m4 ed ex telnet ftp
    sftp lftp""".split()
)
"""Programs that run what they read, or what is typed into them, so that it cannot be seen."""

OPERANDS_BEFORE: dict[str, int] = {"chroot": 2, "ssh": 2, "nsenter": 1, "unshare": 1, "rsh": 2}
"""Programs that start a shell when there are fewer operands than this."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program whose last arguments are a command.

    `values` are its options with a value, `flags` those without, `operands` what stands before the
    command.
    """

    values: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False


def _wrapper(values: str = "", flags: str = "", operands: int = 0, *, assigns: bool = False) -> Wrapper:
    return Wrapper(frozenset(values.split()), frozenset(flags.split()), operands, assigns)


WRAPPERS: dict[str, Wrapper] = {
    "env": _wrapper("-u --unset -C --chdir", "-i - --ignore-environment -0 -v", assigns=True),
    "nohup": _wrapper(),
    "command": _wrapper("", "-p"),
    "builtin": _wrapper(),
    "exec": _wrapper("-a", "-c -l -cl"),
    "time": _wrapper("-f --format -o --output", "-p -v -a -q"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n --class --classdata", "-t"),
    "timeout": _wrapper("-k --kill-after -s --signal", "--foreground --preserve-status -v", 1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "setsid": _wrapper("", "-c -f -w --ctty --fork --wait"),
    "sudo": _wrapper("-u --user -g --group -p -h -C -D -R -T", "-n -E -H -k -S -b", assigns=True),
    "doas": _wrapper("-u -C", "-n -L"),
    "taskset": _wrapper("", "-a --all-tasks", 1),
    "xargs": _wrapper(
        "-n -P -L -s -d -a -E --max-args --max-procs --max-lines --delimiter --arg-file",
        "-0 -r -t -x --null --no-run-if-empty --verbose -0r -r0",
    ),
}
"""Wrappers whose arguments we can tell from the command that they run."""

_VERSION = re.compile(r"(python|pypy|perl|ruby|lua|node|php|tclsh|wish)[-0-9.]*$")

INTERPRETERS: dict[str, str] = {
    **dict.fromkeys(("python", "pypy"), "c"),
    **dict.fromkeys(("perl",), "eE"),
    **dict.fromkeys(("ruby", "lua", "luajit", "osascript", "Rscript", "R", "julia"), "e"),
    **dict.fromkeys(("node", "nodejs", "bun"), "ep"),
    **dict.fromkeys(("deno", "php", "tclsh", "wish", "guile", "pwsh"), "rcBRE"),
    **dict.fromkeys(("vi", "vim", "nvim", "view", "emacs", "gdb", "lldb"), "c"),
    **dict.fromkeys(("sqlite3", "psql", "mysql", "mariadb", "bc", "dc"), "ce"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "sed", "gsed"), ""),
}
"""Interpreters of other languages, and the letters of the options that take code."""

_STARTS_PROGRAMS = re.compile(
    r"(?<![A-Za-z0-9_])(?:system\w*|popen\w*|p?exec(?:l|v|e|p|File|Sync)*|p?spawn\w*|fork|pty"
    r"|subprocess|child_process|eval|__import__|importlib|getattr|globals|locals|vars|compile"
    r"|ctypes|cffi|runpy|pickle|marshal|codecs|b64decode|fromhex|unhexlify|syscall|qx|shell_exec"
    r"|passthru|proc_open|pcntl_exec|Kernel|Process|Open3|send|__send__|public_send|instance_eval"
    r"|Function|constructor|binding|dlopen|posix|multiprocessing|startfile|loadstring|dofile"
    r"|os\.execute)(?![A-Za-z0-9_])|`|%x|\\x[0-9a-fA-F]|\\[0-7]{3}|\\u[0-9a-fA-F]"
)
EDITORS = frozenset("vi vim nvim view".split())
"""Interpreters that take code behind a `+`."""

_CONSOLES = EDITORS | frozenset("emacs gdb lldb sqlite3 psql mysql mariadb bc dc".split())
_CONSOLE_STARTS = re.compile(r"!|\\|\b(?:shell|make|term\w*|system\w*|source|pipe|python|start-process)\b")
_SED_EXECUTES = re.compile(
    r"(?:^|[;{}\n/$!0-9])\s*e(?:\s|;|\}|$)"
    r"|s(?P<d>[^\w\s])(?:\\.|(?!(?P=d)).)*(?P=d)(?:\\.|(?!(?P=d)).)*(?P=d)[gpiImMw0-9]*e",
    re.DOTALL,
)


def program_name(word: Word) -> str:
    """The name of the program that a word runs, without version: `/usr/bin/python3.11` is python."""
    found = _VERSION.match(word.name)
    return found[1] if found else word.name


def starts_programs(program: str, code: str) -> bool:
    """Whether code in another language may start a program that it does not name openly."""
    if program in ("sed", "gsed"):
        return _SED_EXECUTES.search(code) is not None
    if program in ("awk", "gawk", "mawk", "nawk"):
        return "system" in code or _awk_pipes(code)
    if program in _CONSOLES and _CONSOLE_STARTS.search(code):
        return True
    return _STARTS_PROGRAMS.search(code) is not None or (
        program in ("perl", "ruby") and "open" in code
    )


def _awk_pipes(code: str) -> bool:
    """Whether there is a `|` outside of strings and of what is surely a regular expression."""
    at, before = 0, ";"
    while at < len(code):
        char = code[at]
        if char == '"' or (char == "/" and before in "({,;!~&|\n}"):
            found = re.compile(r'"(?:\\.|[^"\\])*"|/(?:\\.|[^/\\\n])*/', re.DOTALL).match(code, at)
            if found is None:
                return True
            at, before = found.end(), '"'
            continue
        if char == "|":
            if code[at + 1 : at + 2] != "|":
                return True
            at += 1
        at += 1
        before = before if char in " \t" else char
    return False


def could_execute(program: str, words: list[Word]) -> bool:
    """Whether one of the words may be an option that makes the program run another."""
    options = EXECUTING_OPTIONS.get(program, ())
    if not options:
        return False
    if program == "tar" and words and re.match(r"[A-Za-z]*[IF]", words[0].text):
        return True
    return any(word.is_tainted or _is_option(word.text, options) for word in words)


def _is_option(text: str, options: tuple[str, ...]) -> bool:
    name = text.partition("=")[0]
    for option in options:
        if option.startswith("--"):
            # Long options may be shortened.
            if len(name) > 2 and option.startswith(name):
                return True
        elif len(option) == 2 and option[0] == "-":
            # Short options may be joined, and their values may follow at once.
            if text[:1] == "-" and text[:2] != "--" and option[1] in text:
                return True
        elif text.startswith(option):
            return True
    return False


__all__ = [
    "COPYING",
    "EDITORS",
    "EXECUTING_OPTIONS",
    "GIT_COMMANDS",
    "GLOBAL_VALUES",
    "HARMLESS",
    "INTERPRETERS",
    "OPERANDS_BEFORE",
    "SHELLS",
    "STDIN_RUNNERS",
    "SUBCOMMANDS",
    "WRAPPERS",
    "Wrapper",
    "could_execute",
    "program_name",
    "starts_programs",
]

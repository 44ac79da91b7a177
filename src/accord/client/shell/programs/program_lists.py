"""Tables of well-known programs: what they do with their arguments.

The tables only ever make reading milder.  A program that is not in them is taken to be one that
may run its arguments as another program, as `taskset` and `npx` do.
"""

from __future__ import annotations

from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = _words("""
    : [ bg break cd continue declare dirs disown echo exit export false fg getopts kill
    local logout popd printf pushd pwd read readonly return set shift shopt suspend test
    times true type typeset ulimit umask unalias unset wait
""")
"""Commands of the shell itself that run none of their arguments."""

_TEXT_AND_FILES = _words("""
    b2sum base32 base64 basename bc bunzip2 bzip2 cal cat chgrp chmod chown cksum clear cmp
    colordiff column comm cut date df diff dig dirname dos2unix du egrep expand expr factor
    fgrep file fmt fold free getconf grep groups gunzip gzip head hexdump host hostname
    iconv id join jq killall locale logname ls lsblk lscpu lsof mcookie md5 md5sum mkdir
    mkfifo mktemp netstat nl nproc nslookup numfmt od paste pathchk pgrep ping pkill pr
    printenv ps pstree ptx readlink realpath rev rm rmdir seq sha1sum sha224sum sha256sum
    sha384sum sha512sum shasum shred shuf sleep ss stat strings stty sum sync tac tail touch
    tput tr tree truncate tsort tty uname unexpand uniq unlink unxz uptime users vmstat wc
    whereis which who whoami xxd xz yes yq zcat zgrep zstd
""")
# They run their own code, and not their arguments.
_DEVELOPMENT = _words("""
    bandit black clang-format esbuild eslint ffmpeg ffprobe flake8 gofmt golangci-lint
    hadolint isort jest markdownlint mocha mypy phpstan pip pip3 prettier py.test pylint
    pyright pytest rollup rubocop ruff rustfmt shellcheck shfmt stylelint tflint tokei tsc
    twine vite vitest webpack yamllint
""")
STATIC = _words("""
    ack ag apt apt-get bandit bat black clang-format docker fd fdfind ffmpeg ffprobe flake8 gh
    gofmt golangci-lint hadolint isort kubectl less man markdownlint mypy pyright rg ruff
    rustfmt shellcheck shfmt tflint tokei tsc twine yamllint zip
""")
"""Tools that run no code of a project, although some obey settings of their own."""

IDLE = BUILTINS | _TEXT_AND_FILES
"""Programs that run no code of a project either."""

HARMLESS = BUILTINS | _TEXT_AND_FILES | _DEVELOPMENT
"""Programs that run none of their arguments and make no program of them."""

COPYING = _words("""
    cp curl dd install ln mv patch rsync scp tar tee unzip wget
""")
"""Programs that make files, which the same line may run afterwards."""

WRITING = _words("""
    csplit dos2unix iconv ptx shuf sort split tree uniq xxd yq
""")
"""Harmless programs that write a file which one of their words names."""

UNPACKING = _words("""
    7z ar bunzip2 bzip2 cpio csplit gunzip gzip patch split tar unxz unzip xz zstd
""")
"""Programs that make files whose names do not stand in the line."""

EXECUTING_OPTIONS: dict[str, frozenset[str]] = {
    "tar": _words("""
        --to-command --checkpoint-action --use-compress-program -I -F --info-script
        --new-volume-script --rsh-command --rmt-command -T --files-from
    """),
    "rsync": _words("-e --rsh --rsync-path"),
    "scp": _words("-S -o -F"),
    "sort": _words("--compress-program"),
    "split": _words("--filter"),
    "rg": _words("--pre --hostname-bin"),
    "wget": _words("-e --execute --use-askpass --config"),
    "pylint": _words("--init-hook --load-plugins"),
    "pyright": _words("--pythonpath"),
    "uv": _words("--python -p"),
    "yq": _words("--security-enable-system-operator"),
    "curl": _words(""),
    "cp": _words(""),
    "mv": _words(""),
    "ln": _words(""),
    "install": _words("--strip-program"),
    "tee": _words(""),
    "dd": _words(""),
    "unzip": _words(""),
    "patch": _words("-e --ed"),
    "pip": _words("--python --editor"),
    "npm": _words("--script-shell --editor --viewer --browser --git --shell"),
    "gh": _words("--upload-pack -c --config -u --template"),
    "twine": _words("--sign-with"),
    "mypy": _words("--python-executable --config-file"),
    "apt": _words("-o --option -c --config-file"),
    "apt-get": _words("-o --option -c --config-file"),
    "fd": _words("-x -X --exec --exec-batch"),
    "fdfind": _words("-x -X --exec --exec-batch"),
    "ag": _words("--pager"),
    "ack": _words("--pager"),
    "bat": _words("--pager"),
    "less": _words("+ -k --lesskey"),
    "man": _words("-P --pager -H --html -C --config-file"),
    "zip": _words("-T -TT --unzip-command --test"),
    "git grep": _words("-O --open-files-in-pager"),
    "git fetch": _words("--upload-pack"),
    "git pull": _words("--upload-pack"),
    "git clone": _words("--upload-pack -u -c --config --template"),
    "git push": _words("--receive-pack --exec"),
    "git rebase": _words("-x --exec"),
    "git difftool": _words("-x --extcmd -t --tool"),
    "git init": _words("--template"),
    "go": _words("-exec --exec -toolexec --toolexec -vettool --vettool -ldflags --ldflags -w"),
    "cargo": _words("--config"),
    "kubectl": _words("--kubeconfig"),
}
"""Programs that run another one only if an option says so."""

SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": _words("""
        add am apply blame branch cat-file check-ignore checkout cherry cherry-pick
        clean clone commit count-objects describe diff diff-tree fetch for-each-ref
        format-patch fsck gc grep help init lfs log ls-files ls-tree merge merge-base mv
        name-rev notes pull push range-diff rebase reflog remote reset restore rev-list
        rev-parse revert rm shortlog show show-ref stash status switch symbolic-ref tag
        version worktree
    """),
    "npm": _words("""
        add audit cache ci dedupe docs fund help i info install link list login logout
        ls outdated pack prefix prune publish r remove rm root run run-script search
        start stop t test tst un uninstall unpublish up update version view whoami
    """),
    "yarn": _words("""
        add audit build dev info install lint list remove start test why
    """),
    "pnpm": _words("""
        add audit build dev i install lint list remove rm start test why
    """),
    "cargo": _words("""
        add b bench build c check clean clippy d doc fetch fmt init login metadata new
        package publish r remove rm run search t test tree update vendor version yank
    """),
    "go": _words("""
        build clean doc env fmt get install list mod run test version vet work
    """),
    "docker": _words("""
        build diff events history images info inspect kill login logs network port ps
        pull push restart rm rmi search start stats stop tag top version volume
    """),
    "kubectl": _words("""
        annotate api-resources apply cluster-info delete describe diff explain get label
        logs rollout scale top version wait
    """),
    "poetry": _words("""
        add build check install lock publish remove show update version
    """),
    "uv": _words("""
        add build lock pip publish python remove sync tree venv version
    """),
    "gh": _words("""
        api auth browse cache gist issue label pr release repo run search secret status
        variable workflow
    """),
}
"""Subcommands that run none of their arguments."""

GIT_COMMANDS = SUBCOMMANDS["git"] | _words("""
    archive bisect bugreport bundle check-attr check-mailmap check-ref-format checkout-index
    column commit-graph commit-tree config credential daemon diff-files diff-index difftool
    fast-export fast-import fetch-pack filter-branch fmt-merge-msg for-each-repo
    get-tar-commit-id gitk gui hash-object index-pack instaweb interpret-trailers ls-remote
    mailinfo mailsplit maintenance merge-file merge-index merge-tree mergetool mktag mktree
    multi-pack-index pack-objects pack-refs patch-id prune prune-packed quiltimport
    read-tree replace request-pull rerere send-email send-pack show-branch show-index
    sparse-checkout stripspace submodule svn unpack-file unpack-objects update-index
    update-ref update-server-info var verify-commit verify-pack verify-tag whatchanged
    write-tree
""")
"""Commands of git; any other word may be an alias."""


def _aliases(**verbs: str) -> dict[str, str]:
    return {
        alias: verb.replace("_", "-")
        for verb, aliases in verbs.items()
        for alias in aliases.split()
    }


VERB_ALIASES: dict[str, dict[str, str]] = {
    "npm": _aliases(
        ci="clean-install ic install-clean isntall-clean",
        config="c",
        dedupe="ddp",
        exec="x",
        init="create innit",
        install="add i in ins inst insta instal isnt isnta isntal isntall",
        install_ci_test="cit clean-install-test sit",
        install_test="it",
        link="ln",
        ls="la list ll",
        rebuild="rb",
        run="run-script rum urn",
        search="find s se",
        test="t tst",
        uninstall="r remove rm un unlink",
        update="udpate up upgrade",
        version="verison",
        view="info show v",
    ),
    "pnpm": _aliases(install="i", remove="rm un uninstall", list="ls", test="t", update="up"),
    "cargo": _aliases(build="b", check="c", doc="d", remove="rm", run="r", test="t"),
}
"""Other names of subcommands."""

GLOBAL_VALUES: dict[str, frozenset[str]] = {
    "git": _words("-C --git-dir --work-tree --namespace --super-prefix --attr-source"),
    "npm": _words("--prefix --userconfig -w --workspace --registry --loglevel -C"),
    "yarn": _words("--cwd"),
    "pnpm": _words("-C --dir -F --filter"),
    "cargo": _words("--color -Z -C"),
    "go": _words("-C"),
    "docker": _words("--context -c --host -H --config -l --log-level"),
    "kubectl": _words("-n --namespace --context --cluster --user -s --server"),
    "uv": _words("--directory --project --python -p"),
    "poetry": _words("-C --directory -P --project"),
    "gh": _words("-R --repo"),
}
"""Options before the subcommand that take a value of their own."""

GLOBAL_FLAGS: dict[str, frozenset[str]] = {
    "git": _words("-p -P --paginate --no-pager --bare --no-optional-locks"),
    "docker": _words("-D --debug --tls"),
}
"""Options before the subcommand that take no value."""

STDIN_RUNNERS = _words("""
    at atq batch crontab ed ex expect ftp lftp login m4 newgrp parallel run-parts screen
    sftp sg telnet tmux
""")
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


def _wrapper(
    values: str = "", flags: str = "", operands: int = 0, *, assigns: bool = False
) -> Wrapper:
    return Wrapper(_words(values), _words(flags), operands, assigns)


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

INTERPRETERS: dict[str, str] = {
    **dict.fromkeys(_words("python pypy vi vim nvim view emacs gdb lldb"), "c"),
    **dict.fromkeys(_words("perl"), "eE"),
    **dict.fromkeys(
        _words("ruby lua luajit osascript Rscript R julia awk gawk mawk nawk sed gsed"), "e"
    ),
    **dict.fromkeys(_words("node nodejs bun"), "ep"),
    **dict.fromkeys(_words("deno php tclsh wish guile pwsh"), "rcBRE"),
    **dict.fromkeys(_words("sqlite3 psql mysql mariadb dc"), "ce"),
}
"""Interpreters of other languages, and the letters of the options that take code."""

EDITORS = _words("""
    nvim vi view vim
""")
"""Interpreters that take code behind a `+`."""

STREAM_EDITORS = _words("""
    awk gawk gsed mawk nawk sed
""")
"""Interpreters that take their code as an ordinary word."""

CONSOLES = EDITORS | _words("""
    dc emacs gdb lldb mariadb mysql psql sqlite3
""")
"""Interpreters whose language has signs and words of its own for starting a program."""

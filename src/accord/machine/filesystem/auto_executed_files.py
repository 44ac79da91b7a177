"""Files that something executes on its own.

"On its own" means that nobody starts the project's build or tests: git runs a hook at the next
commit, an editor obeys its settings when the folder is opened, a shell reads its start-up file, a
CI server runs what was pushed.  Permission to edit files is not permission to change these.

It must not know permissions: it only names such files.

Always holds
    * A path is judged by every part of it, so everything inside an executed folder counts, and
      the folder itself too.
    * Case, compatible letter forms and invisible characters make no difference: some file systems
      know none.
    * `executed_place` judges a spelling; `touched_places` also where links really lead.

What the project's own build and tests run (a Makefile, package.json, conftest.py, build.rs) is not
in the list: that is ordinary source code, and running it is asked for as a command.
"""

from __future__ import annotations

import os
import unicodedata
from fnmatch import fnmatchcase
from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FOLDERS: Final = frozenset(
    _words("""
    .git .hg .svn .bzr .jj git~1
    .githooks .git-hooks .hooks .husky .lefthook
    .vscode .vscode-server .idea .fleet .zed .devcontainer .emacs.d .vim .nvim
    .cursor .windsurf .claude .codex .gemini .qwen .goose .opencode .continue .roo .kiro .crush
    .accord
    .ssh .gnupg .config .cargo .bundle .ipython .jupyter .direnv .mise .venv venv
    .circleci .buildkite .woodpecker .semaphore .teamcity .builds .tekton .azure-pipelines .ci
    cron.d cron.hourly cron.daily cron.weekly cron.monthly crontabs
    launchagents launchdaemons autostart profile.d
    """)
)
"""Whatever lies in one of these is run or obeyed by the program that the folder belongs to."""

_SEQUENCES: Final = (
    (".github", "workflows"),
    (".github", "actions"),
    (".gitea", "workflows"),
    (".gitea", "actions"),
    (".forgejo", "workflows"),
    (".forgejo", "actions"),
    (".gitlab", "ci"),
    (".local", "bin"),
    (".local", "share", "applications"),
    (".local", "share", "systemd"),
    (".local", "state", "accord"),
    ("application support", "accord"),
    (".yarn", "plugins"),
    (".yarn", "releases"),
    ("systemd", "system"),
    ("systemd", "user"),
    ("spool", "cron"),
)
"""Folders that count only inside the ones before them."""

_GIT_HOOKS: Final = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive proc-receive
    post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite
    sendemail-validate fsmonitor-watchman
"""
"""A hook has one of these names wherever `core.hooksPath` says that hooks are."""

_NAMES: Final = _words(
    f"""
    {_GIT_HOOKS}
    .gitmodules .gitconfig .hgrc
    .pre-commit-config.y*ml .pre-commit-hooks.y*ml .overcommit.yml .huskyrc* .lintstagedrc*
    lint-staged.config.* lefthook.* .lefthook.* lefthook-local.* .lefthook-local.*
    *.code-workspace .devcontainer.json .exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc
    .dir-locals.el .dir-locals-2.el .emacs
    .mcp.json opencode.json opencode.jsonc .aider.conf.yml
    .envrc .direnvrc .env .mise.toml .mise.*.toml mise.toml mise.*.toml .rtx.toml .tool-versions
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .logout
    .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .aliases .cshrc .tcshrc config.fish
    .inputrc
    .xprofile .xinitrc .xsession .xsessionrc .pam_environment .tmux.conf .screenrc
    .gdbinit .lldbinit .psqlrc .sqliterc .irbrc .pryrc .rprofile .renviron .curlrc .wgetrc
    authorized_keys authorized_keys2 crontab
    .gitlab-ci.y*ml .travis.y*ml .drone.* bitbucket-pipelines.y*ml azure-pipelines*.y*ml
    .azure-pipelines*.y*ml jenkinsfile jenkinsfile.* *.jenkinsfile appveyor.y*ml .appveyor.y*ml
    .cirrus.* .woodpecker.y*ml .build.yml .gitpod.y*ml .readthedocs.y*ml cloudbuild.y*ml
    buildspec.y*ml codefresh.y*ml netlify.toml vercel.json
    sitecustomize.py usercustomize.py *.pth .pythonrc .pythonrc.py .pdbrc pyvenv.cfg
    .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pip.conf pip.ini .gemrc .mailcap
    rust-toolchain rust-toolchain.toml
    """
)
"""Names of files that count in any folder."""

_PLAIN_NAMES: Final = frozenset(name for name in _NAMES if "*" not in name)
_NAME_PATTERNS: Final = tuple(name for name in _NAMES if "*" in name)
# Some agents keep whole working copies of projects inside their own folders.
_WORKTREES: Final = frozenset({"worktree", "worktrees"})
_AGENT_FOLDERS: Final = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode"})


def executed_place(path: str) -> str | None:
    """The outermost part of the path that makes it executed, such as `.git`; None if none does.

    It is given as the list has it, so that a path and a pattern can be compared by it.
    """
    parts = _parts(path)
    if path.startswith("/") and parts[:1] == ["etc"]:
        return "/etc"
    for at, part in enumerate(parts):
        named = part if part in _FOLDERS else _named(part)
        if named is not None:
            return named
        for sequence in _SEQUENCES:
            here = tuple(parts[at : at + len(sequence)])
            # A path that ends within the sequence may be a folder that is put there whole.
            if here == sequence[: len(here)]:
                return "/".join(sequence)
    # A file of this name makes a folder a repository, whose configuration git obeys.
    return "head" if parts[-1:] == ["head"] else None


def is_git_hook(path: str) -> bool:
    """Whether the last part of the path is the name of a hook of git."""
    return _parts(path)[-1:] != [] and _parts(path)[-1] in _GIT_HOOKS.split()


def touched_places(path: str) -> tuple[str, ...]:
    """What makes a change of this path a change of something executed: by name or through links."""
    found = (executed_place(path), executed_place(os.path.realpath(path)))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def is_executed(path: str) -> bool:
    """Whether something executes this file, by its name or by where links on the way lead."""
    return bool(touched_places(path))


def _named(part: str) -> str | None:
    if part in _PLAIN_NAMES:
        return part
    return next((one for one in _NAME_PATTERNS if fnmatchcase(part, one)), None)


def _parts(path: str) -> list[str]:
    parts = [_folded(part) for part in path.split("/") if part not in ("", ".")]
    for at in range(len(parts) - 1, 0, -1):
        if parts[at] in _WORKTREES and parts[at - 1] in _AGENT_FOLDERS:
            return parts[: at - 1] + parts[at + 1 :]
    return parts


def _folded(part: str) -> str:
    plain = unicodedata.normalize("NFKC", part)
    seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    # Some file systems drop dots and spaces at the end.
    folded = seen.casefold()
    return folded.rstrip(". ") or folded

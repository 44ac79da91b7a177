"""What was denied in a run, and the flag that would have allowed it.

Must not know how a run works, or what its exit code is.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from accord import PermissionRequest
from accord.client.audit.services import why_denied
from accord.client.permissions.changed_files import CHANGING_KINDS
from accord.client.permissions.request import Decided
from accord.machine.console.control_characters import visible_line
from accord.machine.redaction.redactor import Redactor

DENIED_SHOWN_MAX = 5
SUBJECT_CHARACTERS_MAX = 200


def denial_sentence(denied: Sequence[Decided]) -> str:
    """Say what was denied, and which flag would have allowed it."""
    lines = ["permission was denied for:"]
    for one in denied[:DENIED_SHOWN_MAX]:
        lines.append(f"  {one.request.kind}: {_subject(one.request)}")
        if one.rule is not None or one.by != "default":
            lines.append(f"    {_shown(why_denied(one))}")
    if len(denied) > DENIED_SHOWN_MAX:
        lines.append(f"  and {len(denied) - DENIED_SHOWN_MAX} more")
    undecided = [one for one in denied if one.by == "default" and one.rule is None]
    lacking = {one.request.kind for one in undecided if one.beyond is None}
    if lacking:
        flag = ",".join(sorted(lacking))
        lines.append(
            f"use `--allow {flag}` to allow it, --ask to be asked, or --policy FILE for rules"
        )
    lines += dict.fromkeys(_beyond(one) for one in undecided if one.beyond is not None)
    return "\n".join(lines)


def _beyond(decided: Decided) -> str:
    """Explain why the flag for a kind is not enough, and which one is."""
    # A call with a diff counts as an edit, whatever its kind.
    said = decided.request.kind
    kind = said if said in CHANGING_KINDS else "edit"
    path, why = decided.beyond or (None, "")
    if path is None:
        return f"`--allow {kind}` is for files of the session's folders, and {why}; --ask asks"
    shown = shlex.quote(f"{kind}={visible_line(path)}")
    return f"`--allow {kind}` does not cover {visible_line(path)}: {why}; `--allow {shown}` does"


def _subject(request: PermissionRequest) -> str:
    """Return the subject of a request on one line: some agents ask just "Run command?".

    Secrets are removed, because many people read CI logs.  Both ends of a long command are shown,
    since it may start with many variables.
    """
    shown = _shown(request.command or request.title)
    if len(shown) <= SUBJECT_CHARACTERS_MAX:
        return shown
    half = SUBJECT_CHARACTERS_MAX // 2
    return f"{shown[:half]} … {shown[-half:]}"


def _shown(text: str) -> str:
    return visible_line(" ".join(Redactor.of_environment().line(text).split()))

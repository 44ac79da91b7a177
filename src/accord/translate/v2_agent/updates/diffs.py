"""Diffs: v2's changes and patch as v1's two texts, or as a line of text where there are none.

The whole of v2's diff is kept on the first of what is made of it, and the others say so, so that
it can be put together again.
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, keep, take
from accord.translate.v2_agent.session_context import TranslationContext
from accord.translate.v2_agent.updates.git_patches import Hunk, hunks_of, texts

VERBS: Final = {"add": "added", "delete": "deleted", "modify": "modified"}
PAIRS: Final = {"move": "moved", "copy": "copied"}


def diff_to_v1(diff: Json, context: TranslationContext) -> list[Json]:
    """What v1 shows of a diff."""
    # The first drafts of v2 said it as v1 does.
    early: Json = {name: diff[name] for name in ("path", "oldText", "newText") if name in diff}
    kept: Json = {**early, **take(diff, OFFICIAL)}
    exact = _kept_texts(diff, kept)
    if exact is not None:
        return [exact]
    changes: list[Json] = diff.get("changes") or []
    patch = _patch_text(diff)
    said = [_change_to_v1(one, patch, len(changes) == 1, context) for one in changes]
    if any(one["type"] == "content" for one in said):
        if patch is not None and not any(one["type"] == "diff" for one in said):
            # Nothing of it can be shown as texts: the patch says more than a line per file.
            said = [text_item(patch)]
        context.lost("diff")
    if not said:
        said = [text_item(patch or "no changes")]
    first, *others = said
    if first["type"] == "content":
        keep(first, OFFICIAL, "raw", diff)
    else:
        if isinstance(diff.get("_meta"), dict):
            first["_meta"] = diff["_meta"]
        keep(first, OFFICIAL, "changes", changes)
        if "patch" in diff:
            keep(first, OFFICIAL, "patch", diff["patch"])
    for other in others:
        keep(other, OFFICIAL, "continues", True)
    return said


def text_item(text: str) -> Json:
    """A text as content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def _kept_texts(diff: Json, kept: Json) -> Json | None:
    """Both texts, where the diff was v1's before."""
    path = kept.get("path", _only_path(diff))
    new_text = kept.get("newText")
    if not isinstance(path, str) or not isinstance(new_text, str):
        return None
    said: Json = {"type": "diff", "path": path, "newText": new_text}
    if isinstance(kept.get("oldText"), str) or ("oldText" in kept and kept["oldText"] is None):
        said["oldText"] = kept["oldText"]
    if "_meta" in diff:
        said["_meta"] = diff["_meta"]
    return said


def _only_path(diff: Json) -> Any:
    changes: list[Json] = diff.get("changes") or []
    return changes[0].get("path") if len(changes) == 1 else None


def _patch_text(diff: Json) -> str | None:
    patch = diff.get("patch")
    return patch["text"] if isinstance(patch, dict) and patch["format"] == "git_patch" else None


def _change_to_v1(change: Json, patch: str | None, only: bool, context: TranslationContext) -> Json:
    operation, path = change["operation"], change.get("path")
    if operation in PAIRS:
        return text_item(f"{PAIRS[operation]} {change['oldPath']} -> {path}")
    if operation not in VERBS:
        return text_item(f"{operation} {path or ''}".rstrip())
    assert isinstance(path, str)
    hunks = hunks_of(patch, path, only=only) if patch is not None else []
    found = _texts(
        operation, path, hunks, is_empty=patch is not None and not hunks, context=context
    )
    if found is None:
        return text_item(f"{VERBS[operation]} {path}")
    old_text, new_text = found
    said: Json = {"type": "diff", "path": path, "newText": new_text}
    if old_text is not None:
        said["oldText"] = old_text
    return said


def _texts(
    operation: str, path: str, hunks: list[Hunk], *, is_empty: bool, context: TranslationContext
) -> tuple[str | None, str] | None:
    read_text = context.around.read_text
    if operation == "delete":
        context.lost("deleted file")
        old = "".join(line for hunk in hunks for line in hunk.old) if hunks else read_text(path)
        return old or "", ""
    if operation == "add":
        if not hunks and not is_empty:
            return None
        return None, "".join(line for hunk in hunks for line in hunk.new)
    return texts(hunks, path, read_text)

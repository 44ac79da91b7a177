"""What has no counterpart is kept in `_meta`, and comes out of it again."""

from typing import Any

import pytest

from accord.schema.codec import to_python
from accord.translate.meta_store import DRAFT, OFFICIAL, draft_meta, keep, kept, take


def test_what_is_kept_is_taken_and_nothing_is_left() -> None:
    holder: dict[str, Any] = {"a": 1}
    keep(holder, OFFICIAL, "status", "paused")
    keep(holder, OFFICIAL, "kind", "_x")
    assert kept(holder, OFFICIAL) == {"status": "paused", "kind": "_x"}
    assert take(holder, OFFICIAL) == {"status": "paused", "kind": "_x"}
    assert holder == {"a": 1}


def test_values_of_the_draft_are_kept_on_a_struct_too() -> None:
    meta = draft_meta({"pid": 7})
    assert {key: to_python(raw) for key, raw in meta.items()} == {DRAFT: {"pid": 7}}


def test_what_others_keep_stays() -> None:
    holder: dict[str, Any] = {"_meta": {"example.com/a": 1}}
    keep(holder, DRAFT, "pid", 7)
    keep(holder, OFFICIAL, "cost", None)
    assert take(holder, DRAFT) == {"pid": 7}
    assert holder == {"_meta": {"example.com/a": 1, OFFICIAL: {"cost": None}}}


@pytest.mark.parametrize("meta", [None, 5, "x", [], {}, {OFFICIAL: "words"}])
def test_what_is_no_object_holds_nothing(meta: Any) -> None:
    holder = {"_meta": meta}
    assert kept(holder, OFFICIAL) == {}
    assert take(holder, OFFICIAL) == {}
    assert holder == {"_meta": meta}
    keep(holder, OFFICIAL, "a", 1)
    assert kept(holder, OFFICIAL) == {"a": 1}


def test_where_there_is_no_meta_there_is_nothing() -> None:
    assert take({}, OFFICIAL) == {}

"""The W3C keys in `_meta`, without OpenTelemetry."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.spans.interface import NO_SPAN, TRACE_KEYS, NoSpan, below, without_trace
from accord.schema.struct import Raw
from tests.gateway.gateway_process import ROOT

JSON = st.recursive(
    st.none() | st.booleans() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
PARAMS = st.dictionaries(st.text(), JSON, max_size=3) | st.fixed_dictionaries(
    {"_meta": JSON | st.dictionaries(st.sampled_from([*TRACE_KEYS, "mine"]), st.text())}
)


class Recorded(NoSpan):
    """A span with keys."""

    keys: Mapping[str, str] = MappingProxyType({"traceparent": "00-1-2-01"})


def raw(value: object) -> Raw:
    return Raw(json.dumps(value).encode())


@given(JSON)
def test_without_spans_params_stay_as_they_are(params: object) -> None:
    """Ours: byte for byte."""
    given = raw(params)
    assert below(NO_SPAN, given) is given


@given(PARAMS)
def test_params_continue_at_a_span(params: dict[str, Any]) -> None:
    """Ours: nothing else of them changes."""
    read = json.loads(bytes(below(Recorded(), raw(params))))
    meta = params.get("_meta")
    kept = meta if isinstance(meta, dict) else {}
    assert read == {**params, "_meta": {**kept, "traceparent": "00-1-2-01"}}


@given(PARAMS)
def test_what_is_sent_again_belongs_to_no_trace(params: dict[str, Any]) -> None:
    """Ours: a session that is opened again does so long after its trace."""
    found = without_trace(params)
    assert not set(TRACE_KEYS) & set(found.get("_meta") or {})
    assert without_trace(found) == found
    rest = {key: one for key, one in params.items() if key != "_meta"}
    assert {key: one for key, one in found.items() if key != "_meta"} == rest


def test_a_gateway_imports_nothing_of_opentelemetry() -> None:
    """Issue 17: an extra."""
    program = (
        "import sys, accord.cli.server_setup.gateway_server as server;"
        "server.span_export({});"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0

"""The rules that a recording can break, as data.

The ids are those of docs/reference/rules.md; `JSON-RPC` and `SCHEMA` stand for rules that follow
from the specification of JSON-RPC 2.0 or from the protocol's schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from accord.protocol.negotiation import Dialect
from accord.tracing.validation.dialects import DIALECTS

Level = Literal["must", "should"]


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule in the three dialects; `must` makes a recording invalid, `should` is only shown."""

    ids: tuple[str, str, str]
    level: Level
    sentence: str

    def id_in(self, dialect: Dialect) -> str:
        """Return the id of the rule in a dialect."""
        return self.ids[DIALECTS[dialect].rule_column]


def _rule(sentence: str, *ids: str, level: Level = "must") -> BrokenRule:
    one, two, three = ids if len(ids) == 3 else ids * 3
    return BrokenRule((one, two, three), level, sentence)


AGENT_NOISE = _rule("an agent's stdout carries messages and nothing else", "TR-STDIO-03")
CLIENT_NOISE = _rule("an agent's stdin carries messages and nothing else", "TR-STDIO-04")
UNVERSIONED = _rule('every message has "jsonrpc": "2.0"', "V1-GEN-01")
ARRAY = _rule("a message is an object, not an array", "V1-GEN-14", "V2-GEN-06", "V1-GEN-14")
OUTCOME = _rule("an answer has either a result or an error", "V1-GEN-03")
UNASKED = _rule("an answer repeats the id of an open request", "V1-GEN-02")
ID_TYPE = _rule("an answer repeats the id with the same JSON type", "V1-GEN-02")
NULL_ID = _rule(
    "the id of a request is a string or an integer",
    "V1-GEN-05",
    "V2-GEN-01",
    "V1-GEN-05",
    level="should",
)
REUSED_ID = _rule(
    "an id is not reused while its request is open", "JSON-RPC", "V2-GEN-02", "JSON-RPC"
)
BAD_ERROR = _rule("an error has an integer code and a message", "JSON-RPC")
TOO_DEEP = _rule("a message is nested at most 128 levels deep", "LIM-01")
TOO_EARLY = _rule(
    "no request is sent before initialize is answered", "V1-INIT-01", "V2-INIT-05", "V1-INIT-01"
)
UNKNOWN_METHOD = _rule("a method outside the protocol starts with _", "V1-EXT-03")
WRONG_KIND = _rule("a request has an id and a notification has none", "SCHEMA")
SCHEMA = _rule("a message has the type of its method", "SCHEMA")
UNKNOWN_KEY = _rule("custom keys are only in _meta", "V1-GEN-09", "V1-GEN-09", "SCHEMA")
AGENT_GATE = _rule(
    "an agent calls only what the client advertised", "V1-CAP-08", "V2-INIT-09", "D26-17"
)
CLIENT_GATE = _rule(
    "a client calls only what the agent advertised", "V1-CAP-09", "V2-INIT-09", "D26-17"
)
RELATIVE_PATH = _rule("paths are absolute", "V1-GEN-06")
FINAL_STATUS = _rule(
    "the final status of a tool call does not change", "V1-TOOL-13", "V1-TOOL-13", "D26-32"
)
STATUS_BACK = _rule(
    "the status of a tool call only moves forward",
    "V1-TOOL-03",
    "V1-TOOL-03",
    "D26-32",
    level="should",
)
NOT_OFFERED = _rule(
    "a permission is answered with an option that was offered",
    "V1-PERM-03",
    "V2-PERM-08",
    "D26-10",
)
CANCEL_ERROR = _rule(
    "a cancelled turn ends with a stop reason, not with an error",
    "V1-CANCEL-06",
    "V1-CANCEL-09",
    "D26-15",
)

ALL: tuple[BrokenRule, ...] = (
    AGENT_NOISE,
    CLIENT_NOISE,
    UNVERSIONED,
    ARRAY,
    OUTCOME,
    UNASKED,
    ID_TYPE,
    NULL_ID,
    REUSED_ID,
    BAD_ERROR,
    TOO_DEEP,
    TOO_EARLY,
    UNKNOWN_METHOD,
    WRONG_KIND,
    SCHEMA,
    UNKNOWN_KEY,
    AGENT_GATE,
    CLIENT_GATE,
    RELATIVE_PATH,
    FINAL_STATUS,
    STATUS_BACK,
    NOT_OFFERED,
    CANCEL_ERROR,
)

"""Checks that params and results, as plain JSON, are valid in one version.

Good input is checked by the native decoder and then left as it came, unknown fields included.
What only the tolerant reader takes is written again as that reader understood it, so that the
other side is never handed what nobody may send.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal, TypeAlias

from accord.schema.codec import decode_slowly, encode, native, to_python
from accord.schema.invalid import Invalid
from accord.schema.method import Method
from accord.schema.struct import Raw
from accord.translate.message import Json

Spoken: TypeAlias = Literal["v1", "v2", "draft"]


def methods_of(spoken: Spoken) -> dict[str, Method]:
    """All methods of a version by name, of both sides."""
    module = _module(spoken)
    # `mcp/message` is a request to the client and a notification to the agent, alike but for the
    # result that the request has.
    return {**module.AGENT_METHODS, **module.CLIENT_METHODS}


def _module(spoken: Spoken) -> ModuleType:
    # Loaded when used: a translator needs two of the three.
    if spoken == "v1":
        from accord.schema.v1 import methods as v1_methods

        return v1_methods
    if spoken == "v2":
        from accord.schema.v2 import methods as v2_methods

        return v2_methods
    from accord.schema.draft import methods as draft_methods

    return draft_methods


def read_params(method: Method | None, raw: bytes | Raw) -> Json:
    """Check the params of a message; those of an unknown method are returned unchanged.

    Raises:
        Invalid: they are not of this method's type; says where and why.
    """
    value = to_python(raw) if method is None else _read(method, method.params, raw)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid("$", "Expected `object`")
    return value


def read_result(method: Method | None, raw: bytes | Raw) -> Any:
    """Check the result of a request, as `read_params` does.

    Raises:
        Invalid: it is not of this method's type; says where and why.
    """
    return to_python(raw) if method is None else _read(method, method.result, raw)


def require_meta(raw: bytes | Raw) -> None:
    """Refuse params whose `_meta` is not an object; tolerant readers would ignore it.

    Raises:
        Invalid: it is not.
    """
    if b'"_meta"' not in bytes(raw):
        return
    value = to_python(raw)
    meta = value.get("_meta") if isinstance(value, dict) else None
    if meta is not None and not isinstance(meta, dict):
        raise Invalid("$._meta", "Expected `object`")


def _read(method: Method, wanted: Any, raw: bytes | Raw) -> Any:
    try:
        native(wanted).decode(raw)
        return to_python(raw)
    except (ValueError, RecursionError):
        pass
    if wanted is method.params:
        return to_python(encode(method.decode_params(raw)))
    return to_python(encode(method.decode_result(raw)))


def refused(method: Method | None, params: bytes) -> Invalid | None:
    """Return why params that we made must not be sent; None if they are valid."""
    if method is None:
        return None
    try:
        native(method.params).decode(params)
    except (ValueError, RecursionError):
        try:
            decode_slowly(method.params, params)
        except Invalid as error:
            return error
    return None

"""Checks the options of a client before anything is started.

Each check raises `LocalProtocolError` with a sentence that names the mistake and the way out.
"""

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from accord.client.connection.extensions import Extensions
from accord.client.connection.implementation import Implementation
from accord.client.session.retry import Retry
from accord.connection.limits import Limits
from accord.errors import LocalProtocolError

_TERMINAL_METHODS = ("create", "output", "wait_for_exit", "kill", "release")


def check_versions(versions: object, known: tuple[int, ...]) -> tuple[int, ...]:
    """Check that these are versions that we speak."""
    if not isinstance(versions, Iterable) or isinstance(versions, str | bytes):
        raise LocalProtocolError(f"versions are a list such as [1] or [1, 2], not {versions!r}")
    chosen = tuple(versions)
    if not chosen or not set(chosen) <= set(known):
        raise LocalProtocolError(f"versions are some of {known}, not {chosen}")
    return chosen


def check_services(chosen: Mapping[str, Any]) -> None:
    """Check that each service is an object with the right methods, not a class or a callback."""
    permissions = chosen.get("permissions")
    if permissions is not None and not _serves(permissions, "decide"):
        hint = "for a callback, write Permissions.ask(callback)"
        if permissions is True:
            hint = "to allow everything, write Permissions.allow_all()"
        elif permissions is False:
            hint = "to refuse everything, leave it out or write Permissions.deny_all()"
        elif isinstance(permissions, type):
            hint = f"make one: {permissions.__name__}()"
        elif isinstance(getattr(permissions, "__self__", None), type):
            # `Permissions.allow_all` without the parentheses.
            hint = f"call it: {permissions.__self__.__name__}.{permissions.__name__}()"
        raise LocalProtocolError(f"permissions= takes a Permissions object; {hint}")
    may_write = getattr(permissions, "may_write", None)
    if may_write is not None and not _takes(may_write, "at", "content"):
        raise LocalProtocolError(
            "permissions= has a may_write without at= and content=; at= is the real path that the"
            " file is written at, and without it nothing protects against swapped links"
        )
    files = chosen.get("files")
    if _is_given(files) and not (_serves(files, "read_text") or _serves(files, "write_text")):
        raise LocalProtocolError(
            f"files= takes an object with read_text or write_text, or False, not {files!r}"
        )
    if _is_given(files) and _serves(files, "locate", "write_text"):
        assert files is not None
        if not _takes(files.write_text, "at"):
            raise LocalProtocolError(
                "files= has locate, so its write_text must take at=, the path that locate returned"
            )
    terminals = chosen.get("terminals")
    if _is_given(terminals) and not _serves(terminals, *_TERMINAL_METHODS):
        methods = ", ".join(_TERMINAL_METHODS)
        raise LocalProtocolError(
            f"terminals= takes an object with {methods}, or False, not {terminals!r}"
        )
    elicitation = chosen.get("elicitation")
    if elicitation is not None and not _serves(elicitation, "create", "capabilities"):
        raise LocalProtocolError(
            "elicitation= takes an Elicitations object;"
            " for callbacks, write Elicitations(on_form=..., on_url=...)"
        )


def check_values(chosen: Mapping[str, Any]) -> None:
    """Check the options that are plain values; None is the same as leaving one out."""
    _check(chosen, _VALUES)


def check_draft_values(chosen: Mapping[str, Any]) -> None:
    """Check the options for agents of the 2026-02 draft."""
    _check(chosen, _DRAFT_VALUES)


def check_program(**chosen: object) -> None:
    """Check how a program is started: its folder, its variables, its stderr."""
    _check(chosen, _PROGRAM_VALUES)


def _check(
    chosen: Mapping[str, Any], table: Mapping[str, tuple[Callable[[Any], bool], str]]
) -> None:
    for name, (fits, what) in table.items():
        value = chosen.get(name)
        if value is not None and not fits(value):
            raise LocalProtocolError(f"{name}= takes {what}, not {value!r}")


def transport_maker(transport: object) -> Callable[[], Any] | None:
    """The function that makes transports; None where this is a transport itself."""
    if _serves(transport, "start", "write", "aclose"):
        return None
    if not isinstance(transport, type) and callable(transport):
        return transport
    raise LocalProtocolError(
        f"Client.connect takes a URL or a transport, not {transport!r};"
        " to start a program, write Client.spawn"
    )


def check_not_remote(**chosen: object) -> None:
    """Check that there is no option for remote agents beside a transport."""
    given = [f"{name}=" for name, value in chosen.items() if value is not None]
    if given:
        raise LocalProtocolError(f"{', '.join(given)} only go with a URL, not with a transport")


def _is_environment(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(part, str) for item in value.items() for part in item
    )


_PROGRAM_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "cwd": (lambda value: isinstance(value, str | os.PathLike), "a folder"),
    "env": (_is_environment, "a mapping of names to values, all of them text"),
    "stderr": (callable, "a function that takes bytes"),
    "login_terminal": (
        lambda value: isinstance(value, bool) or callable(value),
        "True, False, or a function that runs a command in a terminal",
    ),
}


_SHOWN = frozenset({"diff_viewer", "code_navigation"})


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "framing": (lambda value: value in ("lines", "content-length"), "lines or content-length"),
    "info": (lambda value: isinstance(value, Implementation), "an Implementation"),
    "limits": (lambda value: isinstance(value, Limits), "Limits, such as Limits(depth=64)"),
    "retry": (
        lambda value: _is_count(value) or isinstance(value, Retry),
        "how often to try again, 0 or more, or a Retry",
    ),
    "strict": (_is_flag, "True or False"),
    "unstable": (_is_flag, "True or False"),
    "login": (
        lambda value: isinstance(value, str) or callable(value),
        "the id of a login method, or a function that chooses one",
    ),
    "on_auth_status": (callable, "a function"),
    "extensions": (lambda value: isinstance(value, Extensions), "an Extensions object"),
    "traffic": (callable, "a function that takes a direction and bytes"),
    "draft": (
        lambda value: all(hasattr(value, name) for name in ("credential", "dialects", "ui")),
        "DraftOptions",
    ),
}

_DRAFT_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "dialects": (
        lambda value: _serves(value, "recall", "remember", "forget"),
        "an object with recall, remember and forget",
    ),
    "credential": (
        lambda value: callable(value) or hasattr(value, "method"),
        "a Credential, or a function that returns one",
    ),
    "ui": (
        lambda value: isinstance(value, Collection) and set(value) <= _SHOWN,
        "some of 'diff_viewer', 'code_navigation'",
    ),
    "address": (lambda value: isinstance(value, str), "text that names the agent"),
}
DRAFT_WORDS = tuple(_DRAFT_VALUES)
"""The options for agents of the 2026-02 draft."""


def _is_given(service: object) -> bool:
    return service is not None and not isinstance(service, bool)


def _takes(method: Callable[..., Any], *parameters: str) -> bool:
    """Whether a method can be called with these keywords."""
    try:
        found = inspect.signature(method).parameters
    except (TypeError, ValueError):
        return True
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found.values())
    return takes_any or set(parameters) <= found.keys()


def _serves(service: object, *methods: str) -> bool:
    if isinstance(service, type):
        return False
    return all(callable(getattr(service, method, None)) for method in methods)

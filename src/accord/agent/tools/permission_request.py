"""Permission requests: the question, and the options that the user may choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from accord.agent.argument_checks import check_enum_value
from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    from accord.schema.v2 import PermissionOptionKind


WIDE_OPTION_ID = "allow_every"


class PermissionOption(NamedTuple):
    """One answer that the user may give; `kind` says what it means."""

    option_id: str
    name: str
    kind: PermissionOptionKind

    @property
    def allows(self) -> bool:
        """Whether choosing it is consent; an unknown kind is not."""
        return self.kind in ("allow_once", "allow_always")

    @property
    def is_remembered(self) -> bool:
        """Whether the answer counts for later requests too."""
        return self.kind.endswith("_always")


def usual_options(act: str, every: str = "") -> tuple[PermissionOption, ...]:
    """The options to offer for an act; the name of each lasting one says what it covers.

    `every` describes what the wide answer covers; there is none without it.
    """
    wide = PermissionOption(WIDE_OPTION_ID, f"Allow {every} for this session", "allow_always")
    return (
        PermissionOption("allow_once", "Allow once", "allow_once"),
        PermissionOption("allow_always", f"Always allow {act} for this session", "allow_always"),
        *((wide,) if every else ()),
        PermissionOption("reject_once", "Reject", "reject_once"),
        PermissionOption("reject_always", f"Always reject {act} for this session", "reject_always"),
    )


class PermissionAsk(NamedTuple):
    """A question to the user, for any version.  `tool_call` is a patch of v2."""

    title: str
    reason: str | None
    tool_call: Any
    options: tuple[PermissionOption, ...]
    command: str | None = None
    cwd: str | None = None
    # What a lasting answer covers, for clients that do not show the names of options.
    covers: str | None = None
    # Called with what decided, where the client says so.
    heard: Callable[[str | None], None] = lambda _: None


class OptionLike(Protocol):
    """One option: a unique id, a name for the user, and a kind that says what it means."""

    @property
    def option_id(self) -> str:
        """The id of the option."""
        ...

    @property
    def name(self) -> str:
        """The label that the user reads."""
        ...

    @property
    def kind(self) -> str:
        """Whether it allows or rejects, once or always."""
        ...


def permission_options(given: Iterable[OptionLike]) -> tuple[PermissionOption, ...]:
    """Check the options of a question."""
    options = tuple(_option(one) for one in given)
    ids = {option.option_id for option in options}
    if not ids or len(ids) != len(options):
        raise LocalProtocolError("a permission request needs options, each with its own id")
    return options


def _option(given: OptionLike) -> PermissionOption:
    values: list[str] = []
    for name in ("option_id", "name", "kind"):
        value = getattr(given, name, None)
        if not isinstance(value, str):
            raise LocalProtocolError(
                f"a permission option needs option_id, name and kind, each as text: {given!r}"
            )
        values.append(value)
    option_id, name, kind = values
    return PermissionOption(option_id, name, check_enum_value("PermissionOptionKind", kind))

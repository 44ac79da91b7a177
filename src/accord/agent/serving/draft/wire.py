"""The agent's words in the 2026-02 draft.

The draft has nine kinds of update and plain texts for messages.  What it has no kind for is left
out, or told as `_acp/session_update` in v1's words to a client that asked for that.

What always holds
    * The first piece of a message has index 0, so that two messages never run together.
    * A mode or an option is told when it differs from what the client knows, once per change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from accord.agent.serving.draft.client_requests import DraftWays
from accord.agent.serving.draft.terminals import Printed
from accord.agent.serving.draft.tool_calls import DraftCalls, kept_meta, placeholder
from accord.agent.serving.stable_plans import StablePlans
from accord.agent.serving.v1.tool_calls import TERMINAL_BYTES_STEP
from accord.agent.serving.v1.wire import V1Wire
from accord.agent.serving.wire import Features, HeldAgain
from accord.agent.session.options import MODE_OPTION_ID
from accord.agent.tools.permission_options import PermissionAsk
from accord.schema import draft, v2
from accord.schema.codec import encode, to_raw
from accord.schema.struct import UNSET, Raw
from accord.translate.draft.mode_names import DEFAULT_MODE, ModeNames

OFFICIAL_UPDATE = "_acp/session_update"

Say = Callable[[str, Any], Sequence[Any]]
Post = Callable[[str, bytes], None]


class DraftWire:
    """Says updates as the draft does, and remembers what the client knows."""

    version = 1
    pieces_alike = False
    held_again: HeldAgain = "none"
    bounds_queue = True
    cancels_tool_calls = False
    has_states = False
    client_methods: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self, features: Features, modes: ModeNames, post_official: Post | None = None
    ) -> None:
        self.features = features
        self.modes = modes
        self.open_pages: set[str] = set()
        self.terminals: dict[str, Printed] = {}
        self.calls = DraftCalls(self.terminals)
        self.made_ways: DraftWays | None = None
        self._post_official = post_official
        # The message that is being told in each session, and how many pieces of it were.
        self._message: dict[str, tuple[str, int]] = {}
        self._plans = StablePlans()
        self._values: dict[str, dict[str, Any]] = {}
        # Who changes an option, while it is told.
        self.source = "agent"
        # The messages of each past that is being told again.
        self.counted: dict[str, set[str]] = {}

    @property
    def ways(self) -> DraftWays:
        """How this client is asked."""
        assert self.made_ways is not None, "the wire is not in use yet"
        return self.made_ways

    # ---- updates

    @cached_property
    def _sayings(self) -> dict[Any, Say]:
        agent = (draft.AgentMessageChunk, "agent")
        user = (draft.UserMessageChunk, "user")
        thought = (draft.ThoughtMessageChunk, "thought")
        return {
            v2.AgentMessageChunk: self._chunk(*agent),
            v2.AgentMessage: self._whole(*agent),
            v2.UserMessageChunk: self._chunk(*user),
            v2.UserMessage: self._whole(*user),
            v2.AgentThoughtChunk: self._chunk(*thought),
            v2.AgentThought: self._whole(*thought),
            v2.ToolCallUpdate: self.calls.update,
            v2.ToolCallContentChunk: self.calls.content,
            v2.TerminalUpdate: self._terminal,
            v2.TerminalOutputChunk: self._terminal_output,
            v2.PlanUpdate: self._plan,
            v2.PlanRemoved: self._plan,
            v2.AvailableCommandsUpdate: self._commands,
            v2.ConfigOptionUpdate: self._options,
        }

    def updates(self, session_id: str, update: Any) -> Sequence[bytes]:
        """None, one or several notifications for an update of v2."""
        saying = self._sayings.get(type(update))
        if saying is None:
            self._tell_officially(session_id, update)
            return ()
        return self.encoded(session_id, saying(session_id, update))

    def envelope(self, session_id: str) -> tuple[bytes, bytes]:
        """Nothing: what is told is whole."""
        return b"", b""

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The params, each as JSON already."""
        return list(map(Raw, self.updates(session_id, update)))

    def encoded(self, session_id: str, said: Sequence[Any]) -> Sequence[bytes]:
        """Updates of the draft in their envelopes."""
        return [encode(draft.update_notification(session_id, one)) for one in said]

    @cached_property
    def _official(self) -> V1Wire:
        return V1Wire(Features())

    def _tell_officially(self, session_id: str, update: Any) -> None:
        if self._post_official is not None and type(update) is not v2.StateUpdate:
            for params in self._official.updates(session_id, update):
                self._post_official(OFFICIAL_UPDATE, params)

    def forget(self, session_id: str) -> None:
        """A replay tells everything from the start."""
        self._plans.forget(session_id)
        self.calls.forget(session_id)
        self._message.pop(session_id, None)
        for terminal_id, printed in list(self.terminals.items()):
            if printed.shown_in is not None and printed.shown_in[0] == session_id:
                del self.terminals[terminal_id]

    # ---- messages

    def _chunk(self, data: Any, author: str) -> Say:
        def say(session_id: str, update: Any) -> Sequence[Any]:
            return (self._piece(data, author, session_id, update.message_id, update.content),)

        return say

    def _whole(self, data: Any, author: str) -> Say:
        def say(session_id: str, update: Any) -> Sequence[Any]:
            blocks = update.content if isinstance(update.content, list) else []
            # A message that is said anew as a whole is another one to the draft.
            self._message.pop(session_id, None)
            last = len(blocks) - 1
            said = [
                self._piece(data, author, session_id, update.message_id, block, final=at == last)
                for at, block in enumerate(blocks)
            ]
            self._message.pop(session_id, None)
            return said

        return say

    def _piece(
        self,
        data: Any,
        author: str,
        session_id: str,
        message_id: str,
        block: Any,
        *,
        final: bool = False,
    ) -> Any:
        key = f"{author}:{message_id}"
        current, index = self._message.get(session_id, ("", 0))
        if current != key:
            index = 0
        self._message[session_id] = (key, index + 1)
        if author != "thought" and session_id in self.counted:
            self.counted[session_id].add(key)
        about: dict[str, Any] = {"messageId": message_id} if index == 0 else {}
        is_text = isinstance(block, v2.TextContent)
        if not is_text:
            about["block"] = block
        fields: dict[str, Any] = {"content": block.text if is_text else placeholder(block)}
        if author == "thought":
            fields["visible"] = not _is_hidden(block)
        elif final:
            fields["final"] = True
        return data(index=index, meta=kept_meta(about), **fields)

    # ---- terminals of our own

    def _terminal(self, session_id: str, update: Any) -> Sequence[Any]:
        printed = self._printed(update.terminal_id)
        if isinstance(update.command, str):
            printed.command = update.command
        if isinstance(update.output, v2.TerminalOutput):
            fresh = self.terminals[update.terminal_id] = Printed(printed.command, is_ours=True)
            fresh.shown_in = printed.shown_in
            printed = fresh
            printed.add_bytes(update.output.data)
        if isinstance(update.exit_status, v2.TerminalExitStatus):
            code = update.exit_status.exit_code
            printed.exit_code = code if isinstance(code, int) else -1
            printed.is_over = True
            return self._print_again(printed)
        return ()

    def _terminal_output(self, session_id: str, update: Any) -> Sequence[Any]:
        printed = self._printed(update.terminal_id)
        printed.add_bytes(update.data)
        if printed.printed_bytes - printed.said_bytes < TERMINAL_BYTES_STEP + printed.said_bytes:
            return ()
        return self._print_again(printed)

    def _printed(self, terminal_id: str) -> Printed:
        printed = self.terminals.get(terminal_id)
        if printed is None:
            printed = self.terminals[terminal_id] = Printed(None, is_ours=True)
        return printed

    def _print_again(self, printed: Printed) -> Sequence[Any]:
        if printed.shown_in is None:
            return ()
        printed.said_bytes = printed.printed_bytes
        return self.calls.show_again(printed.shown_in)

    # ---- the session

    def _plan(self, session_id: str, update: Any) -> Sequence[Any]:
        if isinstance(update, v2.PlanRemoved):
            return (draft.Plan(plan_id=update.plan_id, steps=[]),)
        if not isinstance(update.plan, v2.PlanItems):
            worded = self._plans.stable(session_id, update)
            if worded is None:
                return ()
            return self._sayings[type(worded)](session_id, worded)
        plan = update.plan
        steps = [
            draft.PlanStep(
                id=f"step_{number}",
                description=entry.content,
                status=entry.status,
                meta=kept_meta({"priority": entry.priority} if entry.priority != "medium" else {}),
            )
            for number, entry in enumerate(plan.entries, 1)
        ]
        return (draft.Plan(plan_id=plan.plan_id, steps=steps),)

    def _commands(self, _session_id: str, update: Any) -> Sequence[Any]:
        commands = [
            _command(one) for one in update.available_commands if isinstance(one, v2.Command)
        ]
        return (draft.AvailableCommands(commands=commands),)

    def know_values(self, session_id: str, values: Mapping[str, Any]) -> None:
        """The client knows these values of a session's options."""
        self._values[session_id] = dict(values)

    def _options(self, session_id: str, update: Any) -> Sequence[Any]:
        """One update for each option whose value the client does not know yet."""
        known = self._values.setdefault(session_id, {})
        said: list[Any] = []
        for option in update.config_options:
            key = getattr(option, "config_id", None)
            if key is None or known.get(key, UNSET) == option.current_value:
                continue
            before, known[key] = known.get(key), option.current_value
            if key == MODE_OPTION_ID:
                said.append(self._mode(before, option.current_value))
            else:
                said.append(
                    draft.ConfigOptionUpdate(
                        key=key,
                        previous_value=to_raw(before),
                        current_value=to_raw(option.current_value),
                        source=self.source,
                    )
                )
        return said

    def _mode(self, before: Any, now: str) -> draft.CurrentModeUpdate:
        previous = DEFAULT_MODE if before is None else self.modes.draft(before)
        return draft.CurrentModeUpdate(previous_mode=previous, current_mode=self.modes.draft(now))

    # ---- permission: `ways` asks, so nobody asks for these two

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """See `draft_asking.py`."""
        raise NotImplementedError

    def permission_choice(self, result: Raw) -> str | None:
        """See `draft_asking.py`."""
        raise NotImplementedError


def _is_hidden(block: Any) -> bool:
    annotations = getattr(block, "annotations", None)
    return isinstance(annotations, v2.Annotations) and annotations.audience == ["assistant"]


def _command(command: v2.Command) -> draft.Command:
    hint = command.input.hint if isinstance(command.input, v2.TextCommandInput) else None
    return draft.Command(
        name=command.name,
        description=command.description,
        meta=kept_meta({} if hint is None else {"input": {"hint": hint}}),
    )


__all__ = ["DraftWire"]

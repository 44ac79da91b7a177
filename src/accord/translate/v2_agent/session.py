"""One session as this translator knows it: its parts, and which of them says what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accord.translate.message import Json
from accord.translate.v2_agent.config_options import Options
from accord.translate.v2_agent.session_context import TranslationContext
from accord.translate.v2_agent.turns import Asking, Turns
from accord.translate.v2_agent.updates.messages import Messages
from accord.translate.v2_agent.updates.plans import Plans
from accord.translate.v2_agent.updates.session_info_and_notices import Facts
from accord.translate.v2_agent.updates.tool_calls import ToolCalls

Saying = Callable[[Json], Sequence[Json]]


class Session:
    """The state of one session; `sayings` has what says an update of v2 in v1, by its kind."""

    def __init__(self, context: TranslationContext, session_id: str, ask: Asking) -> None:
        self._context = context
        self.session_id = session_id
        self.messages = Messages(context)
        self.turns = Turns(context, session_id, self.messages, ask)
        self.calls = ToolCalls(context, session_id)
        self.start_over()

    def start_over(self) -> None:
        """All is told again from the start; the prompts that are open stay open."""
        context = self._context
        self.calls.flush()
        self.options = Options(context)
        self.messages = self.turns.messages = Messages(context)
        self.calls = ToolCalls(context, self.session_id)
        self.plans = Plans(context)
        self.facts = Facts(context)
        self.sayings = self._sayings()

    def _sayings(self) -> dict[str, Saying]:
        messages, calls, plans, facts = self.messages, self.calls, self.plans, self.facts
        return {
            "agent_message_chunk": messages.chunk,
            "agent_thought_chunk": messages.chunk,
            "user_message_chunk": self._user_chunk,
            "agent_message": messages.whole,
            "agent_thought": messages.whole,
            "user_message": self._user_message,
            "tool_call_update": calls.patch,
            "tool_call_content_chunk": calls.append,
            "terminal_update": calls.terminal,
            "terminal_output_chunk": calls.output,
            "plan_update": plans.update,
            "plan_removed": plans.removed,
            "available_commands_update": facts.commands,
            "config_option_update": self.options.update,
            "session_info_update": facts.info,
            "usage_update": facts.usage,
            "notice": facts.notice,
            "compaction_update": facts.compaction,
            "compaction_summary_chunk": facts.compaction_chunk,
            "subagent_update": facts.subagent,
            "session_message": facts.session_message,
            "session_message_chunk": facts.session_message_chunk,
        }

    def _user_chunk(self, update: Json) -> Sequence[Json]:
        said = self.turns.echo(update)
        return self.messages.chunk(update) if said is None else said

    def _user_message(self, update: Json) -> Sequence[Json]:
        said = self.turns.echo(update)
        return self.messages.whole(update) if said is None else said

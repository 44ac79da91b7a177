"""Decides what an agent may do: by rules, remembered answers, and finally the user.

It must not know the wire.  `rule_matcher.py` says how rules match, `grants.py` what is remembered,
`approvals.py` what an approved tool call covers.

Always holds
    * An option that was not offered, an answer that is not understood and a callback that raises
      are never approvals; each is logged and refused.
    * Requests reach the user one at a time, in order; each is answered, and a cancelled one leaves
      the queue.
    * Rules and grants are checked when a request comes, and again when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

import anyio

from accord.client.callbacks import call
from accord.client.permissions.approvals import Act, approve
from accord.client.permissions.callback_answers import (
    Answer,
    Callback,
    DecisionListener,
    Unclear,
    check_callback,
    read_answer,
    refusal,
)
from accord.client.permissions.command_patterns import terminal_line
from accord.client.permissions.grants import Grant, Grants, LastingScope, Place
from accord.client.permissions.path_and_host_patterns import PlacedPath, place
from accord.client.permissions.request import (
    CANCELLED,
    LASTING_KINDS,
    Decided,
    DecidedBy,
    Decision,
    PermissionOption,
    PermissionRequest,
    own_request,
)
from accord.client.permissions.rule_matcher import (
    Facts,
    ReadRule,
    judge,
    read_rules,
    rules_of,
)
from accord.client.permissions.rules import Effect, Rule, check_effect
from accord.client.permissions.state import SessionPermissions, SharedPermissions
from accord.machine.redacted_logs import logger

_log = logger("accord.client")


class Permissions:
    """Decides for the user, or asks.  By default, everything that needs a user is refused."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        otherwise: Effect = "ask",
        ask: Callback | None = None,
        grants: Grants | None = None,
        per_session: bool = False,
        on_decided: DecisionListener | None = None,
        before_decision: Callable[[], None] | None = None,
    ) -> None:
        """`ask` is called one request at a time; with `per_session`, one per session.

        `on_decided` is called once for every decision, with the agent's name.  `before_decision`
        is called before a request is decided, to read rules or grants again that may have changed.
        """
        check_effect(otherwise, "otherwise")
        if ask is not None:
            check_callback(ask)
        kept = Grants() if grants is None else grants
        self._shared = SharedPermissions(
            read_rules(rules), otherwise, ask, kept, per_session, on_decided, before_decision
        )
        self._connection = 0
        self._agent: str | None = None
        self._sessions: dict[str, SessionPermissions] = {}
        # The rules that settled requests which are still to be reported, by the request's `id`.
        self._grounds: dict[int, tuple[Rule | None, str | None]] = {}

    @classmethod
    def allow_all(cls) -> Permissions:
        """Approve everything.  For agents that are sandboxed by other means."""
        return cls(otherwise="allow")

    @classmethod
    def deny_all(cls) -> Permissions:
        """Refuse everything that needs a permission."""
        return cls(otherwise="reject")

    @classmethod
    def ask(
        cls, callback: Callback, *, grants: Grants | None = None, per_session: bool = False
    ) -> Permissions:
        """Ask by a callback, usually async.

        It returns an option or its id, True or False (allow or reject once), None (dismissed), or
        a `Decision` that says how long the answer is remembered.
        """
        check_callback(callback)
        return cls(ask=callback, grants=grants, per_session=per_session)

    @classmethod
    def policy(
        cls,
        rules: Iterable[Rule],
        *,
        otherwise: Effect | Callback = "reject",
        ask: Callback | None = None,
        grants: Grants | None = None,
    ) -> Permissions:
        """Decide by rules.  `otherwise` is for requests that no rule covers; a callback asks.

        `ask` is called for rules with that effect; without it they refuse.
        """
        if callable(otherwise):
            return cls(rules, otherwise="ask", ask=otherwise, grants=grants)
        return cls(rules, otherwise=otherwise, ask=ask, grants=grants)

    def derived(
        self,
        *,
        ask: Callback | None = None,
        per_session: bool | None = None,
        on_decided: DecisionListener | None = None,
        before_decision: Callable[[], None] | None = None,
    ) -> Permissions:
        """The same rules and remembered answers, with another callback or other listeners."""
        shared, other = self._shared, copy(self)
        other._shared = replace(
            shared,
            callback=ask or shared.callback,
            per_session=shared.per_session if per_session is None else per_session,
            on_decided=on_decided or shared.on_decided,
            before_decision=before_decision or shared.before_decision,
        )
        return other

    @property
    def can_allow(self) -> bool:
        """Whether a user, a rule or a remembered answer may allow anything at all."""
        return self._shared.can_allow

    # ---- rules and remembered answers

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(read.rule for read in self._shared.rules)

    def add_rule(self, rule: Rule) -> None:
        """Add a rule, from the next decision on."""
        self._shared.rules.extend(read_rules([rule]))

    def remove_rule(self, rule: Rule) -> bool:
        """Remove a written rule; approvals that rest on it end."""
        kept = [read for read in self._shared.rules if read.rule != rule]
        removed = len(kept) < len(self._shared.rules)
        self._shared.rules[:] = kept
        return removed

    def remembered(self) -> tuple[Grant, ...]:
        """Every remembered answer: of running sessions, of workspaces, and permanent ones."""
        return (*self._shared.session_grants, *self._shared.grants)

    def revoke(self, grant_id: str) -> bool:
        """Forget a remembered answer, in running sessions too; False when there is none."""
        return self._shared.session_grants.revoke(grant_id) or self._shared.grants.revoke(grant_id)

    def restore(self, grant: Grant) -> bool:
        """Undo a `revoke`; False if there is a newer answer on the same subject."""
        return self._shared.restore(grant)

    def waiting(self, session_id: str | None = None) -> int:
        """The number of requests behind the one that the user sees."""
        return self._shared.waiting(self._connection, session_id)

    # ---- connections and sessions

    def for_connection(self, agent: str | None = None) -> Permissions:
        """The permissions of one connection, with the same rules, user and grants.

        Sessions are separate, since two agents may use the same session id.  Answers remembered
        for `agent` hold for that agent only.
        """
        other = copy(self)
        other._connection = next(self._shared.connections)
        # The answers of an agent without a name must not hold for all others.
        other._agent = agent or ""
        other._sessions, other._grounds = {}, {}
        return other

    def add_session(self, session_id: str, cwd: str) -> None:
        """A session works in this directory, which relative patterns and the workspace mean."""
        placed = place(cwd, None)
        self._session(session_id).workspace = None if placed is None else placed.real

    def add_roots(self, session_id: str, roots: Sequence[str]) -> None:
        """A session has these folders, with its directory; rules to edit mean files in them."""
        placed = [place(root, None) for root in roots]
        self._session(session_id).roots = tuple(one.real for one in placed if one is not None)

    def remove_session(self, session_id: str) -> None:
        """The session is closed: forget the answers for it."""
        self.cancel_session(session_id)
        self._sessions.pop(session_id, None)
        self._shared.session_grants.end_session(session_id, self._connection)

    def cancel_session(self, session_id: str) -> None:
        """The turn was cancelled: cancel its open requests and end its approvals."""
        self.end_turn(session_id)
        state = self._sessions.get(session_id)
        for scope in tuple(state.asking) if state is not None else ():
            scope.cancel()

    def end_turn(self, session_id: str) -> None:
        """The turn is over: end the approvals of its tool calls."""
        state = self._sessions.get(session_id)
        if state is not None:
            state.approvals.clear()

    def end_connection(self) -> None:
        """The agent is gone: close all its sessions."""
        for session_id in tuple(self._sessions):
            self.remove_session(session_id)

    # ---- decisions

    async def decide(self, request: PermissionRequest) -> Decision:
        """The answer to a request; never an option that was not offered."""
        shared = self._shared
        if shared.before_decision is not None:
            shared.before_decision()
        if shared.on_decided is None:
            return await self._decide(request)
        decision = CANCELLED
        try:
            decision = await self._decide(request)
        finally:
            # Also where nobody waits for the answer any more.
            self._report(request, decision)
        return decision

    async def _decide(self, request: PermissionRequest) -> Decision:
        facts = self._facts(request)
        decision = self._settle(request, facts)
        if decision is None:
            decision = await self._ask_user(request, facts)
        option = request.option(decision.option_id or "")
        if request.tool_call is not None and (option is None or not option.allows):
            # A refusal ends earlier approvals of the same call.
            approvals = self._session(request.session_id).approvals
            approvals.drop(request.tool_call.tool_call_id)
        return decision

    async def may_write(
        self, session_id: str, path: str, *, at: str | None = None, content: str | None = None
    ) -> bool:
        """Whether a file may be written: at `at`, where the path really leads, if that is known."""
        title, paths = f"Write {path}", (path,)
        request = own_request(session_id, title, "edit", "write", paths=paths, new_text=content)
        facts = self._facts(request)
        target = facts.paths[0]
        if at is not None:
            target = PlacedPath(at, path if target is None else target.spelled)
            facts = replace(facts, paths=(target,))
        return await self._unasked(request, facts, Act.of(facts, content))

    async def may_run(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> bool:
        """Whether a terminal may run this command."""
        request = _run_request(session_id, command, args, cwd, env)
        facts = self._facts(request)
        return await self._unasked(request, facts, Act.of(facts))

    def why_refused(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> str | None:
        """The rule that refuses a command, and why; None if no rule about commands does."""
        request = _run_request(session_id, command, args, cwd, env)
        facts = self._facts(request)
        effect, grounds = self._judge(request, facts)
        return grounds[0].refusal(facts) if effect == "reject" and grounds else None

    def reads_freely(self, session_id: str) -> bool:
        """Whether no rule restricts reading, so that `may_read` need not be awaited."""
        return not self._against_reading(session_id)

    def _against_reading(self, session_id: str) -> list[ReadRule]:
        return [
            read
            for read in (*self._shared.rules, *self._shared.grants_at(self._place(session_id)))
            if read.rule.effect != "allow" and (read.rule.path or read.rule.kind == "read")
        ]

    async def may_read(self, session_id: str, path: str) -> bool:
        """Whether a file in the session's folders may be read: yes, unless a rule restricts it."""
        against = self._against_reading(session_id)
        if not against:
            return True
        request = own_request(session_id, f"Read {path}", "read", "read", paths=(path,))
        facts = self._facts(request)
        if all(read.touches(facts) == "no" for read in against):
            return True
        return await self._unasked(request, facts, None)

    # ---- internals

    def _session(self, session_id: str) -> SessionPermissions:
        return self._sessions.setdefault(session_id, SessionPermissions())

    def _place(self, session_id: str) -> Place:
        state = self._sessions.get(session_id)
        return Place(
            session_id=session_id,
            connection=self._connection,
            workspace=None if state is None else state.workspace,
            agent=self._agent,
        )

    def _facts(self, request: PermissionRequest) -> Facts:
        state = self._session(request.session_id)
        return Facts.of(request, state.workspace, state.roots)

    def _judge(
        self, request: PermissionRequest, facts: Facts
    ) -> tuple[Effect, tuple[ReadRule, ...]]:
        grants = self._shared.grants_at(self._place(request.session_id))
        return judge(self._shared.rules, grants, facts, self._shared.otherwise)

    def _settle(self, request: PermissionRequest, facts: Facts) -> Decision | None:
        """The decision without the user; None when the user must be asked."""
        effect, grounds = self._judge(request, facts)
        settled = self._settled(request, facts, effect, grounds)
        if settled is not None and grounds and self._shared.on_decided is not None:
            why = grounds[0].why(facts) if effect == "reject" else None
            self._grounds[id(request)] = grounds[0].rule, why
        return settled

    def _settled(
        self,
        request: PermissionRequest,
        facts: Facts,
        effect: Effect,
        grounds: tuple[ReadRule, ...],
    ) -> Decision | None:
        by = self._by(grounds)
        if not request.usable_options:
            return Decision(None, by=by)
        if effect == "allow":
            # With "always" the agent would remember more than a narrow rule allows.
            broad = not any(read.rule.is_bounded for read in grounds)
            option = request.of_kind("allow_once", *(("allow_always",) if broad else ()))
            if option is not None:
                self._approved(request, facts, grounds, seen=False)
                return Decision(option.option_id, by=by)
        if effect == "reject" or self._shared.callback is None:
            # A rule that says "ask" does not refuse; there is just nobody to ask.
            return refusal(request, by if effect == "reject" else "default")
        return None

    def _by(self, grounds: tuple[ReadRule, ...]) -> DecidedBy:
        """The origin of a decision without the user."""
        if not grounds:
            return "default"
        written = any(grounds[0] is one for one in self._shared.rules)
        return "rule" if written else "remembered"

    async def _unasked(self, request: PermissionRequest, facts: Facts, act: Act | None) -> bool:
        """Whether an operation is allowed that the agent did not ask for."""
        if act is not None and self._judge(request, facts)[0] != "reject":
            if self._covers(request, act):
                return True
            open_call = self._session(request.session_id).approvals.open_call(act)
            request = replace(request, approved_call=open_call)
        option = request.option((await self.decide(request)).option_id or "")
        return option is not None and option.allows

    def _covers(self, request: PermissionRequest, act: Act) -> bool:
        """Whether an approved call covers an act; the approval is then used up."""
        covered = self._session(request.session_id).approvals.spend(act, self._shared.holds)
        if covered and self._shared.on_decided is not None:
            made = Decided(request, allowed=True, cancelled=False, by="call")
            self._shared.on_decided(made, self._agent)
        return covered

    def _report(self, request: PermissionRequest, decision: Decision) -> None:
        assert self._shared.on_decided is not None
        option = request.option(decision.option_id or "")
        scope: str = decision.scope
        if scope == "once" and option is not None and option.scope is not None:
            # The option itself says how long it holds.
            scope = option.scope
        rule, why = self._grounds.pop(id(request), (None, None))
        made = Decided(
            request,
            allowed=option is not None and option.allows,
            cancelled=option is None,
            by=decision.by,
            rule=rule,
            scope=scope,
            beyond=self._facts(request).beyond_its_kind(),
            why=why,
        )
        self._shared.on_decided(made, self._agent)

    async def _ask_user(self, request: PermissionRequest, facts: Facts) -> Decision:
        state = self._session(request.session_id)
        shared = self._shared
        key = shared.line(self._connection, request.session_id)
        if shared.queue.is_full(key):
            waiting = shared.queue.waiting(key)
            _log.error("more than %d permission requests are waiting; refused", waiting)
            return refusal(request, "default")
        decision = CANCELLED
        with anyio.CancelScope() as scope:
            state.asking.add(scope)
            try:
                async with shared.queue.turn(key):
                    # The previous answer or a new rule may settle it.
                    settled = self._settle(request, facts)
                    if settled is not None:
                        return settled
                    answer = await self._call(shared.callback, request)
                    if not scope.cancel_called:
                        decision = self._take(request, facts, answer)
            finally:
                state.asking.discard(scope)
        return decision

    async def _call(
        self, callback: Callback | None, request: PermissionRequest
    ) -> Answer | Unclear:
        assert callback is not None, "without a callback every request is settled before"
        try:
            answer: Answer = await call(callback, request)
            return answer
        except Exception as error:  # noqa: BLE001 - an error of the callback approves nothing
            _log.exception("asking for permission failed; refused: %s", request.title)
            return Unclear(f"the callback failed: {error!r}")

    def _take(self, request: PermissionRequest, facts: Facts, answer: Answer | Unclear) -> Decision:
        """Turn the answer into a decision, and remember it for as long as it says."""
        read = answer if isinstance(answer, Unclear) else read_answer(request, answer)
        if isinstance(read, Unclear):
            _log.error("permission refused, the answer is not understood: %s", read.reason)
            return refusal(request, "default")
        decision, option = read
        if option is None:
            return decision
        grounds = self._remember(request, facts, decision, option)
        if option.allows:
            self._approved(request, facts, grounds, seen=True)
        return decision

    def _remember(
        self,
        request: PermissionRequest,
        facts: Facts,
        decision: Decision,
        option: PermissionOption,
    ) -> tuple[ReadRule, ...]:
        scope = decision.scope
        if not (option.allows or option.rejects):
            return ()
        if scope == "once":
            if option.kind not in LASTING_KINDS:
                return ()
            # The agent remembers it in its own way; we remember it for the session.
            scope = option.scope or "session"
        here = self._place(request.session_id)
        if scope == "workspace" and here.workspace is None:
            scope = "session"
        effect: Effect = "allow" if option.allows else "reject"
        rules: tuple[Rule, ...] = () if decision.rule is None else (decision.rule,)
        rules = rules or rules_of(facts, effect, bind_cwd=scope != "always")
        kept = self._keep(rules, scope, here)
        if not rules or len(kept) < len(rules):
            _log.warning("this answer cannot be remembered and holds only once: %s", request.title)
        return kept

    def _keep(
        self, rules: Sequence[Rule], scope: LastingScope, here: Place
    ) -> tuple[ReadRule, ...]:
        grants = self._shared.session_grants if scope == "session" else self._shared.grants
        kept = [grants.add(rule, scope, here) for rule in rules]
        return tuple(grants.rule(grant.grant_id) for grant in kept if grant is not None)

    def _approved(
        self,
        request: PermissionRequest,
        facts: Facts,
        grounds: tuple[ReadRule, ...],
        *,
        seen: bool,
    ) -> None:
        if request.origin == "agent":
            approval = approve(request, facts, grounds, seen=seen)
            self._session(request.session_id).approvals.add(approval)


def _run_request(
    session_id: str,
    command: str,
    args: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str] | None,
) -> PermissionRequest:
    line = terminal_line(command, args, env)
    return own_request(session_id, f"Run {line}", "execute", "terminal", command=line, cwd=cwd)


__all__ = ["Callback", "Permissions"]

"""Two translators in a row, as one: the agent of the outer one is the client of the inner one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Key,
    Message,
    Out,
    Request,
    Side,
    Translator,
)


class Chain:
    """`outer` faces the client, `inner` the agent.

    Keys between the two need no map: what one asks is what the other is asked.  Only the host is
    shared, so that what is asked there gets keys of the chain's own.
    """

    def __init__(self, outer: Translator, inner: Translator) -> None:
        self._outer = outer
        self._inner = inner
        self._asked_host: dict[Key, tuple[Translator, Key]] = {}
        self._host_keys = 0

    @property
    def losses(self) -> dict[str, int]:
        """The losses of both."""
        found = dict(self._outer.losses)
        for kind, count in self._inner.losses.items():
            found[kind] = found.get(kind, 0) + count
        return found

    @property
    def wake_at(self) -> float | None:
        """The earlier `wake_at` of the two."""
        times = [one.wake_at for one in (self._outer, self._inner) if one.wake_at is not None]
        return min(times, default=None)

    def receive(self, side: Side, message: Message) -> Sequence[Out]:
        """Take a message and carry it through both; see `message.Translator`."""
        if side is CLIENT:
            return self._carry(self._outer, self._outer.receive(side, message))
        if side is AGENT:
            said = self._inner.receive(side, message)
            if len(said) == 1 and said[0][0] is CLIENT:
                # The path of streamed updates, which nearly always end at the client.
                outer = self._outer
                return self._carry(outer, outer.receive(AGENT, said[0][1]))
            return self._carry(self._inner, said)
        return self._from_host(message)

    def wake(self) -> Sequence[Out]:
        """Wake both translators of the chain."""
        return [
            *self._carry(self._inner, self._inner.wake()),
            *self._carry(self._outer, self._outer.wake()),
        ]

    def agent_gone(self, why: str) -> Sequence[Out]:
        """End both: the inner one answers its open requests, the outer one the rest."""
        return [
            *self._carry(self._inner, self._inner.agent_gone(why)),
            *self._outer.agent_gone(why),
        ]

    def _from_host(self, message: Message) -> Sequence[Out]:
        key = getattr(message, "key", None)
        if key is None:
            # Notifications of the host are for the one that asked for them; the other ignores them.
            return [
                *self._carry(self._inner, self._inner.receive(HOST, message)),
                *self._carry(self._outer, self._outer.receive(HOST, message)),
            ]
        asker = self._asked_host.pop(key, None)
        if asker is None:
            return ()
        translator, asked_key = asker
        answer = message._replace(key=asked_key)  # type: ignore[call-arg]
        return self._carry(translator, translator.receive(HOST, answer))

    def _carry(self, source: Translator, said: Sequence[Out]) -> Sequence[Out]:
        """Pass messages from one to the other until all have left the chain."""
        outer, inner = self._outer, self._inner
        if source is outer and len(said) == 1 and said[0][0] is CLIENT:
            return said
        outs: list[Out] = []
        waiting = deque((source, side, message) for side, message in said)
        while waiting:
            source, side, message = waiting.popleft()
            if side is HOST:
                outs.append((HOST, self._to_host(source, message)))
            elif source is outer and side is AGENT:
                waiting.extend((inner, *out) for out in inner.receive(CLIENT, message))
            elif source is inner and side is CLIENT:
                waiting.extend((outer, *out) for out in outer.receive(AGENT, message))
            else:
                outs.append((side, message))
        return outs

    def _to_host(self, source: Translator, message: Message) -> Message:
        if not isinstance(message, Request):
            return message
        self._host_keys += 1
        self._asked_host[self._host_keys] = (source, message.key)
        return message._replace(key=self._host_keys)

"""How much of the gateway each principal uses, and when a refused request may come again.

Two kinds of bounds: what is held until it is given back (connections, sessions, processes), and
what passes (frames, bytes), which a token bucket measures.

What always holds
    * What was taken is given back once, however often `release` is called.
    * The state of a principal that holds nothing and whose buckets are full again is forgotten when
      others come.
    * No principal's use costs another one anything.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Literal

from accord.errors import AccordError, RequestError
from accord.gateway.configuration.limits import UNLIMITED, PrincipalLimits

Resource = Literal["connections", "sessions", "processes"]

BURST_SECONDS: Final = 5.0
"""A bucket holds what its rate gives in this time."""
HELD_RETRY_SECONDS: Final = 5.0
"""When to come back for something that others hold: nobody knows when they will give it back."""
PRINCIPALS_MAX: Final = 100_000
"""Principals with state at the same time."""
TOO_MANY_REQUESTS: Final = 429

_CHECKED_PER_ACCOUNT: Final = 4
_SECONDS_SPARED: Final = 1e-4


class LimitReached(AccordError):
    """A principal has all that it may have; `retry_after` has the seconds to wait."""

    def __init__(self, limit: str, value: int, retry_after: float) -> None:
        super().__init__(f"the limit {limit} of this gateway is reached ({value})")
        self.limit = limit
        self.value = value
        self.retry_after = retry_after

    @property
    def retry_after_header(self) -> str:
        """The value of `Retry-After`: whole seconds."""
        return str(max(1, math.ceil(self.retry_after)))

    def request_error(self) -> RequestError:
        """Return the answer to a request: -32058, and -32008 once translated for the draft."""
        error = RequestError.rate_limited(str(self), self.retry_after)
        error.data["limit"] = self.limit
        return error


class Held:
    """One connection, session or process of a principal, until it is released."""

    def __init__(self, account: _Account, resource: Resource) -> None:
        self._account: _Account | None = account
        self._resource: Resource = resource

    def release(self) -> None:
        """Give it back; once more does nothing."""
        account, self._account = self._account, None
        if account is not None:
            account.held[self._resource] -= 1

    def __enter__(self) -> Held:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


@dataclass(slots=True)
class _Bucket:
    """Fills up at `rate` per second.  What is taken may exceed what is left, as a debt.

    So one frame of any size passes, and is paid for before the next.
    """

    name: str
    rate: int
    level: float
    at: float

    def fill(self, now: float) -> None:
        # A clock that goes back adds nothing.
        if now > self.at:
            self.level = min(self.rate * BURST_SECONDS, self.level + (now - self.at) * self.rate)
        self.at = now

    def is_full(self, now: float) -> bool:
        self.fill(now)
        return self.level >= self.rate * BURST_SECONDS

    def wait(self) -> float:
        """Return how long it takes until one frame, or one byte, is there."""
        seconds = (1 - self.level) / self.rate
        if seconds <= _SECONDS_SPARED:
            return 0.0
        # Rounded up, so that whoever waits as long is admitted, whatever the clock's precision.
        return math.ceil(seconds * 1000) / 1000


@dataclass(slots=True)
class _Account:
    """What one principal holds and has sent; None for a rate without a bound."""

    frames: _Bucket | None
    bytes: _Bucket | None
    held: dict[Resource, int] = field(
        default_factory=lambda: {"connections": 0, "sessions": 0, "processes": 0}
    )

    def buckets(self) -> tuple[_Bucket, ...]:
        return tuple(one for one in (self.frames, self.bytes) if one is not None)

    def is_idle(self, now: float) -> bool:
        return not any(self.held.values()) and all(one.is_full(now) for one in self.buckets())

    def empty_bucket(self) -> _Bucket | None:
        """Return the bucket that takes longest until something may pass again; None if it may."""
        found, longest = None, 0.0
        for bucket in (self.frames, self.bytes):
            if bucket is not None and bucket.level < 1 and (seconds := bucket.wait()) > longest:
                found, longest = bucket, seconds
        return found

    def charge(self, size: int) -> float:
        """Take one frame and so many bytes; return how long to wait after that."""
        wait = 0.0
        if self.frames is not None:
            self.frames.level -= 1
            if self.frames.level < 1:
                wait = self.frames.wait()
        if self.bytes is not None:
            self.bytes.level -= size
            if self.bytes.level < 1:
                wait = max(wait, self.bytes.wait())
        return wait


class Usage:
    """The accounts of all principals."""

    def __init__(
        self, limits: PrincipalLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._clock = clock
        # The one that was looked at longest ago first.
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def __len__(self) -> int:
        return len(self._accounts)

    def take(self, principal: str, resource: Resource) -> Held:
        """Take one connection, session or process for a principal.

        Raises:
            LimitReached: it has all that it may have.
        """
        account = self._account(principal)
        reached = self.reached(principal, resource)
        if reached is not None:
            raise reached
        account.held[resource] += 1
        return Held(account, resource)

    def reached(self, principal: str, resource: Resource) -> LimitReached | None:
        """Return why a principal may take no more of something now; None if it may."""
        bound: int = getattr(self._limits, resource)
        if bound == UNLIMITED or self.held(principal, resource) < bound:
            return None
        return LimitReached(resource, bound, HELD_RETRY_SECONDS)

    def held(self, principal: str, resource: Resource) -> int:
        """Return how many a principal holds."""
        account = self._accounts.get(principal)
        return 0 if account is None else account.held[resource]

    def admit(self, principal: str, size: int) -> None:
        """Count a frame of this size, for a request that can be refused.

        Raises:
            LimitReached: the principal sends too much; the frame is not counted.
        """
        account = self._filled(principal)
        empty = account.empty_bucket()
        if empty is not None:
            raise LimitReached(empty.name, empty.rate, empty.wait())
        account.charge(size)

    def charge(self, principal: str, size: int) -> float:
        """Count a frame that cannot be refused, such as an answer or a notification.

        Returns the seconds for which the principal's next frames should not be read.
        """
        return self._filled(principal).charge(size)

    def _filled(self, principal: str) -> _Account:
        """Return an account with what its buckets have gained until now."""
        account = self._account(principal)
        now = self._clock()
        if account.frames is not None:
            account.frames.fill(now)
        if account.bytes is not None:
            account.bytes.fill(now)
        return account

    def _account(self, principal: str) -> _Account:
        account = self._accounts.get(principal)
        if account is None:
            self._forget_idle()
            if len(self._accounts) >= PRINCIPALS_MAX:
                raise LimitReached("principals", PRINCIPALS_MAX, HELD_RETRY_SECONDS)
            account = _Account(self._bucket("frames_per_second"), self._bucket("bytes_per_second"))
            self._accounts[principal] = account
        return account

    def _bucket(self, name: str) -> _Bucket | None:
        rate: int = getattr(self._limits, name)
        if rate == UNLIMITED:
            return None
        return _Bucket(name, rate, rate * BURST_SECONDS, self._clock())

    def _forget_idle(self) -> None:
        """Look at a few accounts in turn, more than the one that is about to be added."""
        now = self._clock()
        for _ in range(min(_CHECKED_PER_ACCOUNT, len(self._accounts))):
            name, account = self._accounts.popitem(last=False)
            if not account.is_idle(now):
                self._accounts[name] = account


__all__ = ["Held", "LimitReached", "Resource", "Usage"]

"""`Agent`: how a program becomes an agent.

    agent = Agent("hello", version="1.0.0")

    @agent.on_prompt
    async def greet(turn: Turn) -> None:
        await turn.say(f"You said: {turn.text}")

    if __name__ == "__main__":
        agent.run()

One agent object may serve any number of connections, in any mix of versions.
"""

import gc
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from inspect import iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import anyio
from anyio.lowlevel import checkpoint

from accord.agent.argument_checks import check_enum_value, names
from accord.agent.callbacks import first
from accord.agent.definition import AgentDefinition, Extension, PromptType
from accord.agent.process_exit import INTERRUPTED, ProcessEnd, exit_code
from accord.agent.serving.connection import AgentHandler
from accord.agent.session.options_and_commands import (
    Choice,
    Mode,
    Offer,
    Option,
    SlashCommand,
    checked_choices,
)
from accord.agent.turn import Turn
from accord.connection import Connection, Limits
from accord.errors import AccordError, ConnectionLost, LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.transport.transport import Transport

if TYPE_CHECKING:
    from accord.agent.login import AuthMethod, StatusHook
    from accord.agent.serving.unstable.providers import Provider, ProviderConfig, ProviderHook
    from accord.schema.v2 import StopReason
    from accord.store import SessionStore
    from accord.transport.remote_limits import RemoteLimits
    from accord.transport.server.application import RemoteApplication
    from accord.transport.server.authorization import AuthHook

GARBAGE_THRESHOLDS = (10_000, 20, 20)

_log = logger("accord.agent")

PromptHandler = Callable[[Turn], Awaitable["StopReason | None"]]
CommandHandler = Callable[[Turn, str], Awaitable["StopReason | None"]]
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


class Agent:
    """An agent: its name, what it offers, and the functions that do the work."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        accepts: PromptType | Iterable[PromptType] = (),
        mcp: str | Iterable[str] = (),
        requires: str | Sequence[str] = (),
        versions: Iterable[int] = (1, 2),
        store: "SessionStore | None" = None,
        unstable: bool = False,
        early_v2: bool = False,
        session_models: bool = False,
        strict: bool | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`accepts` names prompt content beyond text and links; `mcp` transports beyond stdio;
        `requires` client capabilities that the agent needs.  `unstable` enables what the protocol
        has not settled on, `early_v2` and `session_models` what it had at first.
        """
        self._definition = AgentDefinition(
            name,
            version=version,
            title=title,
            accepts=accepts,
            mcp=mcp,
            requires=requires,
            versions=versions,
            store=store,
            unstable=unstable,
            early_v2=early_v2,
            session_models=session_models,
            strict=strict,
            limits=limits,
        )
        # Set while this agent is all that its process is for.
        self._process_end: ProcessEnd | None = None

    def __repr__(self) -> str:
        return f"<Agent {self.name!r} {self.version}>"

    @property
    def name(self) -> str:
        """The name of the agent for clients."""
        return self._definition.name

    @property
    def version(self) -> str:
        """The agent's own version."""
        return self._definition.version

    @property
    def title(self) -> str | None:
        """The agent's name for people, where it has one."""
        return self._definition.title

    @property
    def store(self) -> "SessionStore":
        """Where sessions are stored; it may be set until the first session is opened."""
        return self._definition.store

    @store.setter
    def store(self, store: "SessionStore") -> None:
        self._definition.store = store

    @property
    def offer(self) -> Offer:
        """The modes, options and slash commands of its sessions."""
        return self._definition.offer

    @property
    def limits(self) -> Limits:
        """The bounds that hold for each of its connections."""
        return self._definition.limits

    @property
    def auth_methods(self) -> "Mapping[str, AuthMethod]":
        """The ways to log in, by their ids."""
        return self._definition.auth_methods

    # ---- what it does

    def on_prompt(self, handler: PromptHandler) -> PromptHandler:
        """Register the function that answers prompts and returns the stop reason or None."""
        if self._definition.prompt_handler is not None:
            _log.warning("@agent.on_prompt was used twice; the last function answers prompts")
        self._definition.prompt_handler = _coroutine(handler, "turn")
        return handler

    def on_session(self, handler: F) -> F:
        """Register a function that gets every session when it is made, loaded or resumed."""
        self._definition.session_hook = _coroutine(handler, "session")
        return handler

    def on_initialized(self, function: Callable[[], None]) -> Callable[[], None]:
        """Register a plain function that runs once, right after the first answer to `initialize`.

        What it loads does not delay the start, and is there before the next request.
        """
        self._definition.initialized_hook = function
        return function

    def check_folder(self, check: Callable[[str], Awaitable[None]]) -> None:
        """Register a function that raises where no session can be opened in a folder."""
        self._definition.folder_check = check

    def command(
        self, name: str, description: str, *, hint: str | None = None
    ) -> Callable[[CommandHandler], CommandHandler]:
        """Register a slash command: `/name argument` runs the function instead of `on_prompt`."""

        def register(handler: CommandHandler) -> CommandHandler:
            self.offer.add_command(
                SlashCommand(name, description, hint, _coroutine(handler, "turn", "argument"))
            )
            return handler

        return register

    # ---- settings of its sessions

    def add_mode(
        self,
        mode_id: str,
        name: str,
        description: str | None = None,
        *,
        allow: str | Iterable[str] = (),
    ) -> None:
        """Add a mode; sessions start in the first.  Tool kinds in `allow` need no permission."""
        kinds = names(allow)
        for kind in kinds:
            check_enum_value("ToolKind", kind)
        self.offer.add_mode(Mode(mode_id, name, description, frozenset(kinds)))

    def add_option(
        self,
        option_id: str,
        name: str,
        choices: Sequence[str | tuple[str, str] | Choice],
        *,
        default: str | None = None,
        description: str | None = None,
        category: str | None = None,
    ) -> None:
        """Add an option with a list of values; `category="model"` makes it the model picker."""
        listed = checked_choices(option_id, choices)
        start = listed[0].value if default is None else default
        self.offer.add_option(Option(option_id, name, start, listed, description, category))

    def add_switch(
        self, option_id: str, name: str, *, default: bool = False, description: str | None = None
    ) -> None:
        """Add an option that is on or off."""
        self.offer.add_option(Option(option_id, name, default, (), description))

    # ---- logins

    def add_auth_method(
        self,
        method_id: str,
        name: str,
        description: str | None = None,
        *,
        terminal_args: Sequence[str] | None = None,
        terminal_env: dict[str, str] | None = None,
        required: bool = True,
    ) -> None:
        """Offer a way to log in; with `required`, sessions need a login first."""
        if method_id in self._definition.auth_methods:
            raise LocalProtocolError(f"there is a login method {method_id!r} already")
        from accord.agent.login import AuthMethod

        args = None if terminal_args is None else tuple(terminal_args)
        self._definition.auth_methods[method_id] = AuthMethod(
            method_id, name, description, args, dict(terminal_env or {})
        )
        self._definition.login_required = self._definition.login_required or required

    def on_authenticate(self, handler: F) -> F:
        """Register the login function: it gets the method's id, and raises if the login fails.

        With a second parameter it also gets the `Login`, through which it can ask the user.  With
        a parameter named `credentials` it serves clients of the 2026-02 draft, which send a secret
        with `api_key`, `oauth2` or `custom`, and returns when that login expires.
        """
        from accord.agent.login import login_hook

        self._definition.authenticate_hook, self._definition.reads_credentials = login_hook(
            _coroutine(handler)
        )
        return handler

    def knows_login(self, check: Callable[[], bool]) -> Callable[[], bool]:
        """Register a function that returns whether the user is logged in already.

        A login in a terminal happens in another process and leaves something behind, such as a
        token in a file; without this function, sessions would always be refused.  It is called
        often, so it must be fast.
        """
        self._definition.login_check = check
        return check

    def on_logout(self, handler: F) -> F:
        """Register the logout function."""
        self._definition.logout_hook = _coroutine(handler)
        return handler

    # ---- extensions

    def method(self, name: str) -> Callable[[F], F]:
        """Register an extension method; its name starts with `_`, its parameter is typed."""
        return self._extension(name, is_notification=False)

    def notification(self, name: str) -> Callable[[F], F]:
        """Register an extension notification; its name starts with `_`."""
        return self._extension(name, is_notification=True)

    def _extension(self, name: str, *, is_notification: bool) -> Callable[[F], F]:
        if not name.startswith("_"):
            raise LocalProtocolError(f"the name of an extension must start with `_`: {name!r}")
        if name in self._definition.extensions:
            raise LocalProtocolError(f"{name} is registered already")

        def register(handler: F) -> F:
            hints = get_type_hints(_coroutine(handler))
            hints.pop("return", None)
            wanted = next(iter(hints.values()), dict[str, Any])
            self._definition.extensions[name] = Extension(name, wanted, handler, is_notification)
            return handler

        return register

    # ---- what the protocol has not settled on
    #
    # All of it may be registered at any time; it does nothing unless the agent was made with
    # `unstable=True`, and then only what was registered is advertised.

    def add_provider(
        self,
        provider_id: str,
        supported: Iterable[str],
        *,
        required: bool = False,
        current: "ProviderConfig | None" = None,
    ) -> "Provider":
        """Let clients choose the service behind the model; the slot's `current` is their choice.

        `supported` names API families, such as `anthropic` and `openai`.
        """
        return self._definition.providers.add(provider_id, supported, required, current)

    def on_provider_change(self, handler: "ProviderHook") -> "ProviderHook":
        """Register a function that gets a slot before it changes; it may raise to refuse that."""
        self._definition.providers.hook = handler
        return handler

    def accept_system_prompt(self, *, override: bool = False) -> None:
        """Accept instructions from clients as `session.system_prompt`.

        With `override` these may replace the agent's own: see `session.system_prompt_overrides`.
        """
        self._definition.takes_system_prompt = True
        self._definition.takes_system_prompt_override = override

    def on_auth_status(self, handler: "StatusHook") -> "StatusHook":
        """Register a function that returns whether the user is logged in, and as whom.

        Without it the status follows from `authenticate` and `logout`.
        """
        self._definition.auth_status_hook = handler
        return handler

    async def auth_status_changed(self) -> None:
        """Send every client the login status if it has changed."""
        for login in list(self._definition.login_states):
            await login.announce()

    # ---- serving

    async def serve(self, transport: Transport, *, accept_batches: bool = False) -> None:
        """Serve one client until it goes away."""
        await self._serve_one(transport, accept_batches=accept_batches)

    async def _serve_one(
        self, transport: Transport, *, accept_batches: bool = False, principal: str = ""
    ) -> None:
        broken = await self._serve(transport, accept_batches=accept_batches, principal=principal)
        if broken is not None:
            _log.error("the connection was closed: %s", broken.message)

    async def _serve(
        self, transport: Transport, *, accept_batches: bool = False, principal: str = ""
    ) -> ConnectionLost | None:
        """Serve one client; return the error that ended the connection, if any."""
        handler = AgentHandler(self._definition)
        connection = Connection(
            transport,
            handler,
            limits=self._definition.limits,
            accept_batches=accept_batches,
            strict=self._definition.strict,
        )
        connection.principal = principal
        handler.connection = connection
        async with connection:
            try:
                await connection.closed.wait()
            finally:
                # The cancellation may come from `sys.exit` in a task of a handler: asyncio ends the
                # loop first, and the handler must notice before requests are refused.
                with anyio.CancelScope(shield=True):
                    await checkpoint()
            if self._process_end is not None:
                self._process_end.begin()
        if handler.exit is not None:
            raise handler.exit
        return connection.broken

    def asgi(
        self,
        *,
        auth: "AuthHook | None" = None,
        origins: Iterable[str] | None = None,
        hosts: Iterable[str] | None = None,
        path: str = "/acp",
        limits: "RemoteLimits | None" = None,
    ) -> "RemoteApplication":
        """Return an ASGI application that serves this agent over HTTP and WebSocket, at `path`.

        `auth` gets each request and returns the name of its sender, or None to refuse it; without
        it only clients on this computer are served.  `hosts` are the names that the application
        has, loopback names by default.  `origins` are those whose web pages may use it, besides
        its own.

        Raises:
            LocalProtocolError: an option is invalid.
        """
        from accord.transport.server.application import RemoteApplication

        return RemoteApplication(
            self._serve_remote, auth=auth, origins=origins, hosts=hosts, path=path, limits=limits
        )

    async def _serve_remote(self, transport: Transport, principal: str) -> None:
        await self._serve_one(transport, principal=principal)

    async def serve_stdio(self) -> None:
        """Serve the client that started this process.

        Raises:
            LocalProtocolError: stdin or stdout is closed.
            ConnectionLost: the client exceeded a limit or, in strict mode, broke a rule.
        """
        from accord.transport.stdio import StdioTransport

        transport = StdioTransport(stall_seconds=self._definition.limits.stall_seconds)
        broken = await self._serve(transport)
        if broken is not None:
            raise broken

    async def _serve_process(self, collects: bool) -> None:
        # The process belongs to the agent: imports stay, and a long session has many small objects
        # that are not garbage; collecting often would take a fifth of the time.
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        if collects:
            gc.enable()
        await self.serve_stdio()

    def run(self) -> None:
        """Serve stdin and stdout until the client goes away: the main function of an agent."""
        if sys.stdin is not None and sys.stdin.isatty():
            sys.stderr.write(
                f"{self.name} is an agent: it waits for a client on stdin."
                "  Configure it in an editor, or start it from a client.\n"
            )
        collects = gc.isenabled()
        gc.disable()  # until the event loop is loaded too
        process_end = self._process_end = ProcessEnd(self._definition.limits.close_seconds)
        code = 0
        try:
            anyio.run(self._serve_process, collects)
        except KeyboardInterrupt:
            code = INTERRUPTED
            sys.exit(code)
        except AccordError as error:
            # The message is complete; a traceback would not help.
            code = 1
            sys.exit(f"{self.name}: {error}")
        except (SystemExit, BaseExceptionGroup) as error:
            exits = error.subgroup(SystemExit) if isinstance(error, BaseExceptionGroup) else error
            if exits is None:
                raise
            ending = first(exits)
            code = exit_code(ending)
            raise ending from None
        finally:
            (gc.enable if collects else gc.disable)()  # even if the start failed
            self._process_end = None
            process_end.serving_ended(code)


def _coroutine(handler: F, *parameters: str) -> F:
    """Check that a function is `async` and takes these parameters.

    Raises:
        LocalProtocolError: it is not, or does not.
    """
    name = getattr(handler, "__name__", repr(handler))
    is_coroutine: bool = iscoroutinefunction(handler)
    if not is_coroutine:
        raise LocalProtocolError(f"{name} must be an `async def` function")
    if parameters:
        try:
            signature(handler).bind(*parameters)
        except TypeError:
            wanted = ", ".join(parameters)
            raise LocalProtocolError(f"{name} must take ({wanted})") from None
    return handler


__all__ = ["Agent", "CommandHandler", "PromptHandler", "PromptType"]

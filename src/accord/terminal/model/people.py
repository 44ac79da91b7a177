"""What the chat says about the other people of its session, in words.

This module does not know any screen, nor how a gateway tells these things.
"""

from __future__ import annotations

from collections.abc import Mapping

from accord.client.people import Author, PeopleEvent, Role, SessionPeople, author_of
from accord.terminal.model.chat import Chat, Tone
from accord.terminal.model.text.display_text import one_line
from accord.transcript import Message

NAMES_SHOWN_MAX = 5
"""Names in one line; the rest is counted."""
NAME_CHARACTERS_MAX = 40

_ARTICLES = {"viewer": "a viewer", "editor": "an editor", "admin": "an admin"}
ROLE_TEXTS: Mapping[Role, str] = {
    "viewer": "reads along",
    "editor": "also sends prompts, stops turns and changes settings",
    "admin": "also answers permission requests and invites others",
}
"""What each role may do, in a few words."""
_CLOSED = {
    "removed": "You were removed from this session.",
    "closed": "This session was closed.",
    "deleted": "This session was deleted.",
}


def other_author(message: Message, chat: Chat) -> str | None:
    """The name of somebody else who wrote a prompt; None for our own, and where nobody is named."""
    author: Author | None = author_of(message)
    if author is None or chat.people is None or author.user == chat.people.user:
        return None
    return _name(author.display_name)


def here_words(chat: Chat) -> str:
    """Name the others in the session, and our own role; empty if we are alone."""
    people = chat.people
    if people is None or (people.role == "admin" and not people.others):
        return ""
    names = [f"{_name(one.name)}{' (typing)' if one.typing else ''}" for one in people.others]
    more = len(names) - NAMES_SHOWN_MAX
    if more > 0:
        names = [*names[:NAMES_SHOWN_MAX], f"{more} more"]
    here = f"with {', '.join(names)}" if names else "nobody else is here"
    return f"{here} · you are {_ARTICLES[people.role]}"


def working_words(chat: Chat) -> str:
    """For whom the agent works while no turn of ours runs."""
    people = chat.people
    if people is None:
        return "Working on its own"
    author = people.turn or _last_author(chat)
    if author is None:
        return "Working"
    is_own = author.user == people.user
    return "Working on your prompt" if is_own else f"Working for {_name(author.display_name)}"


def ahead_words(chat: Chat) -> str:
    """Name the person whose turn ours waits for; empty if it waits for none."""
    author = None if chat.people is None else chat.people.turn
    if author is None or chat.people is None or author.user == chat.people.user:
        return ""
    return f"{_name(author.display_name)}'s turn is first"


def _last_author(chat: Chat) -> Author | None:
    for entry in reversed(chat.entries):
        if isinstance(entry, Message) and entry.role == "user":
            return author_of(entry)
    return None


def stop_refusal(chat: Chat) -> str | None:
    """Why the turn of somebody else cannot be stopped; None if it can."""
    people = chat.people
    if chat.is_busy or people is None or people.may_prompt:
        return None
    return (
        "You are a viewer in this session: you cannot stop its turns. To take part, ask"
        f" {_admins(people)} to make you an editor."
    )


def may_close(chat: Chat) -> bool:
    """Whether the session may end with its chat: it is nobody else's."""
    people = chat.people
    return people is None or (people.role == "admin" and len(people.members) == 1)


def others_answer(chat: Chat) -> bool:
    """Whether others may answer in our place what the agent asks."""
    people = chat.people
    return people is not None and not people.is_over and bool(people.others)


def refusal_words(chat: Chat) -> str | None:
    """Why no prompt can be sent in this session; None if one can."""
    people = chat.people
    if people is None or people.may_prompt:
        return None
    if people.is_over:
        return "This session is over for you, so the prompt was not sent."
    return (
        "You are a viewer in this session: you can read along, but not send prompts. To take part,"
        f" ask {_admins(people)} to make you an editor."
    )


def admin_words(chat: Chat) -> str | None:
    """Why we cannot invite anybody or change a role; None if we can."""
    people = chat.people
    if people is None:
        return "Nobody else can be here: no gateway shares this session."
    if people.is_over:
        return "This session is over for you."
    if people.role == "admin":
        return None
    return (
        f"You are {_ARTICLES[people.role]} in this session; only an admin can invite people or"
        f" change what they may do. Ask {_admins(people)}."
    )


def invitation_words(role: Role) -> str:
    """What an invitation is good for."""
    return f"This lets one person in as {_ARTICLES[role]}, once, within a day:"


def invitation_use(address: str) -> str:
    """How somebody uses an invitation; their key for the gateway is not part of it."""
    return f"accord chat '{address}' --token-env NAME_OF_THE_VARIABLE_WITH_THEIR_KEY"


def user_named(people: SessionPeople, name: str) -> str:
    """The id of the member with this id or displayed name; any other text is an id itself."""
    known = {one.user for one in people.members}
    shown = [one.user for one in people.members if _name(one.name) == name]
    return shown[0] if name not in known and len(shown) == 1 else name


def _admins(people: SessionPeople) -> str:
    names = [_name(one.name) for one in people.members if one.role == "admin"]
    return ", ".join(names[:NAMES_SHOWN_MAX]) or "an admin"


def member_rows(people: SessionPeople) -> list[tuple[str, str]]:
    """All members with what is known of them, for a list."""
    rows = []
    for one in people.members:
        you = " (you)" if one.user == people.user else ""
        state = "typing" if one.typing else "here" if one.here else "not here"
        primary = ", serves files and terminals" if one.user == people.primary else ""
        rows.append((f"{_name(one.name)}{you}", f"{one.role}, {state}{primary}"))
    return rows


def take_event(chat: Chat, event: PeopleEvent) -> None:
    """Show what happened among the people of the session."""
    people = chat.people
    if people is None:
        return
    known, chat.own_role = chat.own_role, people.role
    said = _words(event, people, known)
    if said is None:
        chat.changed()
    else:
        chat.remark(*said)


def _words(event: PeopleEvent, people: SessionPeople, known: str) -> tuple[str, Tone] | None:
    known_names = {one.user: one.name for one in people.members}
    name = _name(event.display_name or known_names.get(event.user, event.user))
    is_other = event.user != people.user
    match event.kind:
        case "join" if is_other:
            return f"{name} joined.", "info"
        case "leave" if is_other:
            return f"{name} left.", "info"
        case "members" if people.role != known:
            return f"You are {_ARTICLES[people.role]} of this session now.", "info"
        case "settled" if event.outcome == "answered" and is_other:
            return f"{name} answered the agent's question.", "info"
        case "closed":
            said = "The gateway had to end this session; open it again to go on."
            return _CLOSED.get(event.reason, said), "warning"
        case _:
            return None


def _name(name: str) -> str:
    return one_line(name, NAME_CHARACTERS_MAX)


__all__ = [
    "ROLE_TEXTS",
    "admin_words",
    "ahead_words",
    "here_words",
    "invitation_use",
    "invitation_words",
    "may_close",
    "member_rows",
    "other_author",
    "others_answer",
    "refusal_words",
    "stop_refusal",
    "take_event",
    "user_named",
    "working_words",
]

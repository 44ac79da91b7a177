"""The users of `--token-file`: one line for each, with a name and a token."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from accord.cli.usage_error import UsageError
from accord.gateway.access.api_keys import TOKEN_CHARS_MIN, digest_of
from accord.gateway.configuration.rights import EVERY_AGENT
from accord.gateway.configuration.users import User, is_user_name
from accord.transport.request_headers import is_token

# A name and a token.
_WORDS: Final = 2


def read_token_file(file: Path) -> dict[str, User]:
    """Return the users of a file; each may start sessions with every agent.

    Raises:
        UsageError: the file cannot be read, or a line is wrong.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file: {str(file)!r} cannot be read: {error}") from None
    names: dict[bytes, str] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where = f"--token-file: line {number}"
        # The line is not shown: it may be a token.
        if len(words) != _WORDS or not is_token(words[1]):
            raise UsageError(f"{where} must be a name and a token, in ASCII")
        name, token = words
        if not is_user_name(name):
            raise UsageError(
                f"{where}: a name has letters, digits and ._@- and begins with a letter or digit;"
                " `user` is taken"
            )
        if len(token) < TOKEN_CHARS_MIN:
            raise UsageError(
                f"{where}: the token can be guessed; it needs {TOKEN_CHARS_MIN} characters or more"
            )
        digest = digest_of(token)
        if digest in names:
            raise UsageError(f"--token-file: the token on line {number} is a duplicate")
        names[digest] = name
    if not names:
        raise UsageError(f"--token-file: {str(file)!r} has no token")
    return {name: _user(name, names) for name in names.values()}


def _user(name: str, names: dict[bytes, str]) -> User:
    keys = tuple(digest for digest, owner in names.items() if owner == name)
    return User(name=name, display_name=name, rights={EVERY_AGENT: "editor"}, keys=keys)

"""`accord permissions`: lists, explains and revokes the user's rules and remembered answers."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from accord.cli import permissions_explain
from accord.cli.console import complain, say, say_json
from accord.client.audit.services import shown_rule
from accord.client.permissions.grants import Grant
from accord.client.permissions.rules import Rule
from accord.configuration.config_file import load_config
from accord.configuration.grants_file import GrantsFile, grants_path
from accord.configuration.policy_file import Policy, load_policy, policy_path
from accord.configuration.user_paths import audit_file
from accord.errors import ConfigError
from accord.machine.console.control_characters import visible_line
from accord.machine.redaction.redactor import Redactor

DESCRIPTION = """\
Lists the rules in permissions.toml and the remembered answers, explains what they decide about a
command, and revokes answers. Remembered answers are stored in your state folder, not in the
projects.

exit codes: 0 done, 1 nothing to revoke, 2 wrong usage; for `explain`, see its --help
"""
EPILOG = """\
examples:
  accord permissions list
  accord permissions revoke grant_0011223344556677
  accord permissions revoke --here
  accord permissions explain "git push --force"
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord permissions`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    what = parser.add_subparsers(dest="what", required=True, metavar="list|revoke|explain")
    shown = what.add_parser("list", help="list rules and remembered answers")
    shown.add_argument("--json", action="store_true", help="print one JSON object")
    shown.add_argument("--here", action="store_true", help="only those for this folder")
    revoke = what.add_parser("revoke", help="forget remembered answers")
    revoke.add_argument("ids", nargs="*", metavar="ID", help="the id of an answer, as in the list")
    revoke.add_argument("--here", action="store_true", help="all answers for this folder")
    revoke.add_argument("--all", action="store_true", help="all answers")
    permissions_explain.add_arguments(
        what.add_parser(
            "explain",
            help="explain what would be decided about a command",
            formatter_class=RawDescriptionHelpFormatter,
        )
    )


def run(arguments: Namespace) -> int:
    """List, revoke or explain."""
    work = {"list": _list, "revoke": _revoke, "explain": permissions_explain.explain}
    try:
        return work[arguments.what](arguments)
    except ConfigError as error:
        complain(f"accord permissions: {error}")
        return 2


def _list(arguments: Namespace) -> int:
    config = load_config()
    path = config.permissions.policy or policy_path()
    policy = load_policy(path) or Policy()
    grants: Sequence[Grant] = GrantsFile(grants_path()).read()
    placed = policy.rules
    if arguments.here:
        here = os.path.realpath(".")
        grants = [one for one in grants if one.workspace in (None, here)]
        placed = tuple(one for one in placed if one.holds_in(here))
    if arguments.json:
        shown = {
            "policy": str(path),
            "otherwise": policy.otherwise,
            "rules": [{**_plain(one.rule), "workspace": one.workspace} for one in placed],
            "grants": [_plain_grant(one) for one in grants],
            "grantsFile": str(grants_path()),
            "auditLog": str(audit_file()) if config.permissions.audit else None,
        }
        say_json(json.dumps(Redactor.of_environment().value(shown, keep_ids=True), indent=2))
        return 0
    say(f"Rules in {path}:" if placed else f"No rules in {path}.")
    for one in placed:
        where = "" if one.workspace is None else f"  in {one.workspace}"
        say(f"  {visible_line(shown_rule(one.rule) + where)}")
    # The file has the exact command; the list may be shown to others.
    redactor = Redactor.of_environment()
    say("Remembered answers:" if grants else "No remembered answers.")
    for grant in grants:
        where = grant.workspace or "everywhere"
        who = f"  for {grant.agent}" if grant.agent else ""
        said = redactor.text(f"{shown_rule(grant.rule)}  in {where}{who}")
        say(f"  {grant.grant_id}  {visible_line(said)}")
    if config.permissions.audit:
        say(f"The audit log of agents' actions is {audit_file()}")
    return 0


def _revoke(arguments: Namespace) -> int:
    file = GrantsFile(grants_path())
    known = file.read()
    if arguments.all:
        wanted = [grant.grant_id for grant in known]
    elif arguments.here:
        here = os.path.realpath(".")
        wanted = [grant.grant_id for grant in known if grant.workspace == here]
    else:
        wanted = arguments.ids
        if not wanted:
            raise ConfigError("nothing selected: give an ID, --here or --all")
    gone, redactor = file.revoke(wanted), Redactor.of_environment()
    for grant in gone:
        say(f"revoked: {grant.grant_id}  {visible_line(redactor.text(shown_rule(grant.rule)))}")
    missing = set(wanted) - {grant.grant_id for grant in gone}
    for grant_id in sorted(missing):
        complain(f"accord permissions: there is no answer {grant_id}")
    return 1 if missing or not gone else 0


def _plain(rule: Rule) -> dict[str, Any]:
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return {name: value for name, value in values.items() if value is not None}


def _plain_grant(grant: Grant) -> dict[str, Any]:
    return {
        "id": grant.grant_id,
        "scope": grant.scope,
        "workspace": grant.workspace,
        "agent": grant.agent,
        **_plain(grant.rule),
    }

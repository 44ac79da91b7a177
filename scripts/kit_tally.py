"""How much of the rules the conformance kit covers.  `make rules` prints it.

A rule counts as covered when a check judges it and a broken peer of tests/defects proves that the
check can fail.  A rule with the reason why nothing can judge it is counted beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator


def tally(part_of: Callable[[str], str]) -> Iterator[str]:
    """Lines of a table: a row per part, for agents and clients covered / judged / binding."""
    from accord.conformance.check_definition import Role
    from accord.conformance.checks import gather
    from accord.conformance.rules import implied, load_for
    from accord.conformance.run.verdicts import covered
    from tests.defects.catalogue import MODULES, rules

    roles: tuple[Role, ...] = ("agent", "client")
    rows: dict[str, list[str]] = {}
    for role in roles:
        judged: set[str] = set()
        proven: set[str] = set()
        for side, version in MODULES:
            if side == role:
                judged |= covered(*gather(role, version))
                broken = set(rules(side, version))
                proven |= broken.union(*(implied(rule, role) for rule in broken))
        known = load_for(role)
        for part in dict.fromkeys(map(part_of, known)):
            of_part = [rule for rule in known.values() if part_of(rule.id) == part]
            bound = [rule for rule in of_part if rule.binds(role) or rule.id in judged]
            found = [rule for rule in bound if rule.id in judged]
            sure = [rule for rule in found if rule.id in proven]
            unseen = sum(1 for rule in bound if rule.unseen and rule.id not in judged)
            rows.setdefault(part, []).append(f"{len(sure)}/{len(found)}/{len(bound)} ({unseen})")
    yield f"{'':>12}  {'agents':>20}  {'clients':>20}"
    for part, cells in rows.items():
        if any(not cell.startswith("0/0/") for cell in cells):
            yield f"{part:>12}  " + "  ".join(f"{cell:>20}" for cell in cells)

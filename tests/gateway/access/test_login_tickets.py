"""Tickets: one login each, and soon."""

from __future__ import annotations

from accord.gateway.access.login_tickets import TICKET_SECONDS, TICKETS_MAX, LoginTickets
from tests.gateway.access.issuer import Clock

TOKEN = "a-token-of-the-tests"


def test_a_ticket_stands_for_its_token_once() -> None:
    tickets = LoginTickets(clock=Clock())
    ticket = tickets.make(TOKEN)
    assert ticket != TOKEN
    assert tickets.redeem(ticket) == TOKEN
    assert tickets.redeem(ticket) == ticket


def test_a_ticket_is_over_soon() -> None:
    clock = Clock()
    tickets = LoginTickets(clock=clock)
    ticket = tickets.make(TOKEN)
    clock.now += TICKET_SECONDS
    assert tickets.redeem(ticket) == ticket


def test_anything_else_stays_what_it_is() -> None:
    assert LoginTickets(clock=Clock()).redeem(TOKEN) == TOKEN


def test_the_oldest_of_too_many_is_forgotten() -> None:
    tickets = LoginTickets(clock=Clock())
    made = [tickets.make(TOKEN) for _ in range(TICKETS_MAX + 1)]
    assert tickets.redeem(made[0]) == made[0]
    assert tickets.redeem(made[1]) == TOKEN

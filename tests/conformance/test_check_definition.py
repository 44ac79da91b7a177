"""What checks find, and which verdict wins."""

import pytest

from accord.conformance.check_definition import Findings, shown, worst
from accord.conformance.frames.raw_peer import ErrorOf, Frame, as_json, brief


def test_a_failure_outweighs_what_passed_before_and_after() -> None:
    """Ours: one broken message is enough."""
    judge = Findings(("V1-GEN-01",))
    judge.passed("V1-GEN-01")
    judge.failed("V1-GEN-01", "broken", sent={"a": 1}, came=b"\xff")
    judge.passed("V1-GEN-01")
    found = judge.found["V1-GEN-01"]
    assert (found.verdict, found.said, found.sent, found.came) == (
        "fail",
        "broken",
        '{"a": 1}',
        "\\xff",
    )


def test_the_evidence_of_a_refusal_that_did_not_come_is_the_answer() -> None:
    """Issue 13: `{}` was shown for a request that was accepted."""
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"sessionId": "s"}}
    assert not ErrorOf(answer)
    assert shown(ErrorOf(answer)) == as_json(answer)
    refused = ErrorOf({"id": 7, "error": {"code": -32602, "message": "no"}})
    assert refused["code"] == -32602
    assert '"id": 7' in shown(refused)


def test_an_answer_in_words_is_json_and_names_no_ids() -> None:
    """Issue 13: Python was shown, and ids put equal reasons into groups of their own."""
    error = {"code": -32002, "message": "no such session", "data": {"sessionId": "s-1"}}
    assert brief({"jsonrpc": "2.0", "id": 7, "error": error}) == "error -32002: no such session"
    assert brief({"id": 7, "result": None}) == "null"
    assert brief({"id": 7, "result": ["x" * 400]}).endswith("x …")


def test_a_check_judges_only_the_rules_that_it_names() -> None:
    """Ours: what it says of others would be shown under the wrong name."""
    with pytest.raises(AssertionError):
        Findings(("V1-GEN-01",)).passed("V1-GEN-02")


def test_the_first_open_rule_fails_when_the_program_did_not_answer() -> None:
    """Ours: the others were not come to."""
    judge = Findings(("A", "B", "C"))
    judge.passed("A")
    judge.close("no answer", failing=True)
    assert [judge.found[name].verdict for name in "ABC"] == ["pass", "fail", "not_exercised"]


def test_rules_that_do_not_bind_are_skipped_once_nothing_was_found() -> None:
    """Ours: what was already judged stays judged."""
    judge = Findings(("A", "B"))
    assert not judge.judge("A", False, "wrong")
    judge.skip_open("no capability")
    assert [judge.found[name].verdict for name in "AB"] == ["fail", "skipped"]


def test_the_worst_verdict_of_several_checks_is_the_rules() -> None:
    """Issue: pass, fail, skipped, not exercised."""
    assert worst([]) == "not_exercised"
    assert worst(["skipped"]) == "skipped"
    assert worst(["skipped", "not_exercised"]) == "not_exercised"
    assert worst(["not_exercised", "pass", "skipped"]) == "pass"
    assert worst(["pass", "fail"]) == "fail"


def test_evidence_is_text_whatever_it_was() -> None:
    """Ours: frames as they were on the wire, messages as JSON."""
    frame = Frame(0.0, False, b'{"a":1}\n', {"a": 1})
    assert shown(frame) == '{"a":1}'
    assert shown([frame, frame]) == '{"a":1}\n{"a":1}'
    assert shown("text") == "text"
    assert shown({"é": None}) == '{"é": null}'

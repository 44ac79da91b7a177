"""How the benchmark turns results into medians, verdicts and an exit code."""

from typing import Any

import pytest

from benchmarks.cases import BUILT_IN, HELLO, OFFICIAL_PYTHON, OURS
from benchmarks.floors import FLOORS, judge
from benchmarks.report import failures, figures, floor_table, medians, tables
from benchmarks.run import conclude
from benchmarks.workload import condensed_count


def _stream(elapsed: float, *, cpu: float = 0.06, count: int = 20_000) -> dict[str, Any]:
    return {
        "elapsed_s": elapsed,
        "cpu_client_s": cpu,
        "count": count,
        "expected": 20_000,
        "agent": {"cpu_s": 0.04},
    }


def _rows(label: str, scenario: str, *results: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"scenario": scenario, "label": label, "round": number, "result": result}
        for number, result in enumerate(results)
    ]


def test_figures_are_per_message() -> None:
    """Ours: 20,000 messages in half a second, with 60 and 40 ms of CPU."""
    found = figures("stream", _stream(0.5))
    assert found["messages_per_s"] == pytest.approx(40_000)
    assert found["client_cpu_us"] == pytest.approx(3.0)
    assert found["agent_cpu_us"] == pytest.approx(2.0)


def test_a_replay_is_measured_by_the_past_that_was_loaded() -> None:
    """Ours: a condensed replay loads the same past, and must have all of its messages."""
    condensed = {**_stream(0.5, count=16_001), "expected": condensed_count(20_000)}
    assert figures("replay", condensed)["messages_per_s"] == pytest.approx(40_000)
    assert failures(_rows(OURS, "replay", {**condensed, "count": 16_000})) == [
        "replay accord round 0: 16000 of 16001 updates arrived"
    ]


def test_a_run_that_lost_updates_or_failed_has_no_figures_and_is_reported() -> None:
    """Ours: work that was not done must not look fast."""
    rows = _rows(OURS, "stream", _stream(0.1, count=19_999), {"error": "exit code 1"})
    assert medians(rows) == {}
    assert failures(rows) == [
        "stream accord round 0: 19999 of 20000 updates arrived",
        "stream accord round 1: exit code 1",
    ]


def test_a_floor_is_judged_by_the_ratio_of_medians() -> None:
    """Issue: medians over the rounds, so one slow round does not decide."""
    ours = _rows(OURS, "stream", _stream(0.1), _stream(0.1), _stream(9.0))
    theirs = _rows(OFFICIAL_PYTHON, "stream", _stream(0.7), _stream(0.7), _stream(0.1))
    verdict = judge(medians(ours + theirs))[0]
    assert verdict.floor.against == OFFICIAL_PYTHON
    assert verdict.value == pytest.approx(7.0)
    assert verdict.holds is True


def test_lower_is_better_for_start_memory_and_cpu() -> None:
    """Issue: 4 times sooner, at most 0.75 of the memory, at most 5 µs."""
    ours = _rows(OURS, "cold", {"start_ms": 100.0, "memory_mb": 30.0})
    theirs = _rows(OFFICIAL_PYTHON, "cold", {"start_ms": 500.0, "memory_mb": 60.0})
    slow = _rows(OURS, "stream", _stream(1.0, cpu=0.2))
    verdicts = {
        (one.floor.metric, one.floor.against): one for one in judge(medians(ours + theirs + slow))
    }
    assert verdicts["start_ms", OFFICIAL_PYTHON].value == pytest.approx(5.0)
    assert verdicts["start_ms", OFFICIAL_PYTHON].holds is True
    assert verdicts["memory_mb", OFFICIAL_PYTHON].holds is True
    assert verdicts["client_cpu_us", None].holds is False


def test_a_missed_floor_is_marked_and_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue: the floors are floors."""
    ours = _rows(OURS, "stream", _stream(0.5))
    theirs = _rows(OFFICIAL_PYTHON, "stream", _stream(0.5))
    assert conclude(ours + theirs) == 1
    assert "FAIL" in capsys.readouterr().out


def test_what_was_not_measured_is_said_and_does_not_fail(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: a run of one implementation has nothing to be compared with."""
    assert conclude(_rows(OFFICIAL_PYTHON, "stream", _stream(0.5))) == 0
    assert capsys.readouterr().out.count("none") == len(FLOORS)


def test_a_lost_update_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: even where no floor could be judged."""
    assert conclude(_rows(OURS, "stream", _stream(0.5, count=1))) == 1
    assert "1 of 20000 updates" in capsys.readouterr().out


def test_tables_show_a_line_for_each_implementation() -> None:
    """Ours: the table goes into the documentation as it is printed."""
    found = medians(_rows(OURS, "read", {"agent": {"read_s": 0.1, "bytes": 8 << 20}}))
    assert tables(found).splitlines()[1].split() == [OURS, "80", "-"]
    assert floor_table(judge(found)).count("\n") == len(FLOORS)


def test_the_built_in_agent_is_held_against_the_smallest_example() -> None:
    """Issue: `accord agent` answers in at most 1.5 times what `hello_agent.py` takes."""
    rows = _rows(HELLO, "cold", {"start_ms": 100.0, "memory_mb": 30.0})
    for start, holds in ((149.0, True), (151.0, False)):
        built_in = _rows(BUILT_IN, "cold", {"start_ms": start, "memory_mb": 30.0})
        verdicts = [one for one in judge(medians(rows + built_in)) if one.floor.label == BUILT_IN]
        assert [one.holds for one in verdicts] == [holds]

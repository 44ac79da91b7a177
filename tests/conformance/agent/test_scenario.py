"""Scenario files: what they may say, and what is wrong with one."""

from pathlib import Path

import pytest

from accord.conformance.agent.scenario import PURPOSES, SHIPPED, BadScenario, load_scenario


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scenarios_are_read(name: str) -> None:
    """Issue: one for our built-in agent, one generic."""
    scenario = load_scenario(name)
    assert scenario.prompt("say")
    assert scenario.files["notes.txt"] == "one apple\n"


def test_a_purpose_without_a_prompt_has_none() -> None:
    """Issue: such a rule is not exercised."""
    assert load_scenario("none").prompt("long") is None
    assert set(load_scenario("generic").prompts) <= set(PURPOSES)


def test_a_file_says_everything(tmp_path: Path) -> None:
    """Ours: environment, files, prompts, times."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\nseconds = 5\ntarget = "a.py"\nlogin = "key"\n'
        '[environment]\nX = "1"\n[files]\n"a.py" = "a"\n[prompts]\nlong = "sleep"\n'
        '[client]\ncancel = { signal = "INT" }\n'
    )
    scenario = load_scenario(str(path))
    assert (scenario.name, scenario.seconds, scenario.target) == ("mine", 5.0, "a.py")
    assert scenario.login == "key"
    assert scenario.environment == {"X": "1"}
    assert set(scenario.files) == {"a.py", "notes.txt"}
    assert scenario.prompt("long") == "sleep"


@pytest.mark.parametrize(
    "text",
    ["prompts = 5", "[prompts]\nlnog = 'x'", "[prompts]\nlong = 5", "odd = 1", "seconds = 0", "["],
)
def test_a_slip_is_found_at_once(tmp_path: Path, text: str) -> None:
    """Ours: a misspelt purpose would never be exercised."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(BadScenario):
        load_scenario(str(path))


def test_a_missing_file_is_said_so() -> None:
    """Ours."""
    with pytest.raises(BadScenario, match="nowhere"):
        load_scenario("nowhere.toml")


def test_any_agent_with_modes_is_asked_to_change_its_own() -> None:
    """An agent that does so unannounced shows only then."""
    assert load_scenario("generic").prompt("mode")

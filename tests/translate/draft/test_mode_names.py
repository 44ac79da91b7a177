"""The names of modes, and the trap of `ask`."""

import pytest

from accord.translate.draft.mode_names import ModeNames, draft_mode, official_mode


def test_an_official_ask_that_asks_for_permission_has_another_name() -> None:
    """The draft's table 7."""
    asking = {"id": "ask", "name": "Ask", "description": "Request permission before any changes"}
    assert draft_mode(asking) == "ask_permission"


def test_an_official_ask_that_says_nothing_is_not_taken_for_harmless() -> None:
    """Ours: an equal id alone never decides, and the safe reading wins."""
    assert draft_mode({"id": "ask"}) == "ask_permission"


def test_an_official_ask_that_answers_questions_is_the_drafts() -> None:
    """The draft's table 7: by description."""
    asking = {"id": "ask", "name": "Ask", "description": "Answers questions"}
    assert draft_mode(asking) == "ask"
    asking["description"] = "Answers questions, asks for approval"
    assert draft_mode(asking) == "ask_permission"


def test_the_drafts_ask_has_a_name_and_a_description_of_its_own() -> None:
    """The draft's table 7."""
    mode = official_mode("ask")
    assert mode == {
        "id": "ask_questions",
        "name": "Ask (questions only)",
        "description": "Answers questions and takes no action",
    }
    assert draft_mode(mode) == "ask"
    assert official_mode("deep_plan") == {"id": "deep_plan", "name": "Deep plan"}
    assert official_mode("_") == {"id": "_", "name": "_"} or official_mode("_")["name"]


@pytest.mark.parametrize("name", ["default", "plan", "code", "architect", "ask"])
def test_names_of_a_draft_agent_lead_there_and_back(name: str) -> None:
    """The draft's table 7."""
    names = ModeNames.of_draft(["default", "plan", "code", "architect", "ask"])
    assert names.draft(names.official(name)) == name
    assert names.knows(name)


def test_two_official_modes_never_share_a_name() -> None:
    """Ours: the table is one to one."""
    names = ModeNames.of_official([{"id": "ask"}, {"id": "ask_permission"}, {"id": "ask"}])
    assert names.draft_names == ["ask_permission", "ask_permission_2"]
    assert names.official("ask_permission") == "ask"
    assert names.official("ask_permission_2") == "ask_permission"
    assert names.draft("ask") == "ask_permission"


def test_names_that_nobody_offered_are_judged_by_themselves() -> None:
    """Ours."""
    names = ModeNames()
    assert names.draft("plan") == "plan"
    assert names.official("ask") == "ask_questions"
    assert not names.knows("plan")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("default", "ask_permission"),
        ("code", "auto-edit"),
        ("ask", "read-only"),
        ("plan", "plan"),
        ("architect", "read-only"),
        ("deep", "deep"),
    ],
)
def test_the_common_names_of_the_draft_stand_for_modes_of_the_same_meaning(
    name: str, meant: str
) -> None:
    """Issue 15: where the agent calls them otherwise."""
    ids = ("ask", "read-only", "auto-edit", "plan")
    assert ModeNames.of_official([{"id": one} for one in ids]).meant(name) == meant
    assert ModeNames().meant(name) == name

"""The exit code that the draft demands."""

from accord.translate.draft import exit_codes


def test_the_exit_code_that_the_draft_demands() -> None:
    """The draft's table 4.3."""
    assert exit_codes.exit_code_of(3, "SIGTERM") == 3
    assert exit_codes.exit_code_of(None, "SIGTERM") == 143
    assert exit_codes.exit_code_of(None, "kill") == 137
    assert exit_codes.exit_code_of(None, "SIGODD") == -1
    assert exit_codes.exit_code_of(None, None) == -1

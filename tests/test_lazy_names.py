"""How modules are loaded: what a start does not need stays out of it, and the collector waits."""

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from accord.lazy_names import undisturbed


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """As it was, whatever a test does to it."""
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


def test_nobody_looks_for_garbage_while_modules_load() -> None:
    """Ours: a tenth of an agent's start went there."""
    gc.enable()
    with undisturbed():
        assert not gc.isenabled()
        with undisturbed():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_is_back_when_a_module_fails_to_load() -> None:
    """Ours: a program may go on without it."""
    gc.enable()
    with pytest.raises(ImportError), undisturbed():
        raise ImportError
    assert gc.isenabled()


def test_a_program_without_a_collector_stays_without() -> None:
    """Ours: that is the program's choice."""
    gc.disable()
    with undisturbed():
        pass
    assert not gc.isenabled()


@pytest.mark.parametrize("is_frozen", [False, True])
def test_what_was_loaded_counts_as_old_unless_the_program_froze_some(is_frozen: bool) -> None:
    """Ours: what somebody froze stays frozen."""
    # Whatever other tests of this process have done.
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    gc.collect()
    gc.enable()
    if is_frozen:
        gc.freeze()
    try:
        with undisturbed():
            made = [[one] for one in range(1_000)]
            assert gc.get_count()[0] > gc.get_threshold()[0]
            frozen = gc.get_freeze_count()
        assert gc.get_count()[0] < 500
        assert (gc.get_freeze_count() > 0) == (frozen > 0) == is_frozen
        assert len(made) == 1_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_an_agent_answers_before_it_loads_what_its_turns_need() -> None:
    """Ours: its start is somebody's wait."""
    unneeded = (
        "accord.agent.tools.elicitation",
        "accord.agent.tools.files",
        "accord.agent.login",
        "accord.agent.session.agent_session",
        "accord.agent.terminals.command_runner",
        "accord.agent.tools.tool_call",
        "accord.client",
        "accord.store",
        "difflib",
        "pathlib",
        "shutil",
    )
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from accord import Agent, Turn\n"
        "import accord.agent.serving.v1.requests, accord.transport.stdio\n"
        "print(*set(sys.modules) - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True
    )
    loaded = set(done.stdout.split())
    assert loaded & set(unneeded) == set()
    # Every logger has the filter; what that filters with is loaded with the first record.
    ours = {name for name in loaded if name.startswith("accord.machine.")}
    assert ours == {"accord.machine.redacted_logs"}

"""The folders of the tests mirror those of the source, so that a test is found by what it tests."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src/accord"

# Folders without a counterpart in the source, and the reason for each.
SUBJECT_FOLDERS = {
    "agent/draft": "an agent behind the wire of a draft client: many modules at once",
    "agent/unstable": "the unstable methods, in both versions",
    "agent/v1": "an agent behind the wire of a v1 client: many modules at once",
    "agent/v2": "an agent behind the wire of a v2 client: many modules at once",
    "architecture": "the tree itself",
    "benchmarks": "the programs in benchmarks/",
    "browser": "pages in a real browser",
    "builtin/agent": "the built-in agent as a process",
    "cli/security": "hostile projects and texts against every command",
    "client/draft": "a client in front of a draft agent: many modules at once",
    "client/remote": "a client and an agent over a network",
    "defects": "programs that break one rule each",
    "docs": "the documents",
    "examples": "the programs in examples/",
    "fake_llm": "the model server of the tests",
    "faults": "processes that fail",
    "fuzz": "fuzz targets",
    "gateway/durability": "gateways whose connections, processes and disks fail",
    "interop": "the official SDKs and real agents",
    "kit_accuracy": "the accuracy of the conformance kit",
    "rules": "which test shows which rule",
    "shared_conversations": "conversations that the page reads too",
    "simulation": "simulated worlds",
    "terminal/real": "the terminal client in a real terminal",
    "translate/round_trips": "two translators in a row",
}
# Files that are about a whole folder in one respect.  A new file should rather be named after the
# module or folder that it tests, with the respect behind it: `test_sqlite_killed.py`.
SUBJECT_FILES = {
    ".": {"idle_clock"},
    "conformance": {"clients", "draft_checks", "faults"},
    "conformance/run": {"seen_prompts", "unprepared_programs"},
    "schema": {"comparison"},
    "schema/draft": {"messages"},
    "schema/v1": {"messages", "official_schema"},
    "schema/v2": {"official_schema", "unions"},
    "terminal/screen": {"snapshots"},
    "transport": {"bursts", "drain", "random_cuts"},
    "transport/http": {"cancellation", "faults", "resume", "tls"},
    "transport/server": {
        "access",
        "cuts",
        "examples",
        "first_bytes",
        "slow_clients",
        "stalled_reader",
        "versions",
    },
    "transport/server/websocket": {"idle_memory"},
    "transport/websocket": {"resume", "upgrade"},
}


def is_about_subject(folder: str) -> bool:
    """Whether this folder of tests, or one above it, has a subject of its own."""
    return any(folder == one or folder.startswith(f"{one}/") for one in SUBJECT_FOLDERS)


def names_module(subject: str, folder: Path) -> bool:
    """Whether a subject is a module or package of this folder or the folder, or begins with one."""
    names = {folder.name} | {
        path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()
    }
    return any(subject == name or subject.startswith(f"{name}_") for name in names)


def strays() -> list[str]:
    """Test files whose name does not lead to what they test."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.parent.relative_to(TESTS).as_posix()
        subject = path.stem.removeprefix("test_")
        if is_about_subject(folder) or subject in SUBJECT_FILES.get(folder, ()):
            continue
        if not (SOURCE / folder).is_dir() or not names_module(subject, SOURCE / folder):
            found.append(path.relative_to(TESTS).as_posix())
    return found


def test_every_test_file_names_what_it_tests() -> None:
    """Issue 15: the tests' folders mirror the source's."""
    assert strays() == []


def test_the_lists_of_subjects_have_no_entry_too_many() -> None:
    """Ours: an entry that is not needed hides the next stray file."""
    assert [one for one in SUBJECT_FOLDERS if not (TESTS / one).is_dir()] == []
    assert [one for one in SUBJECT_FOLDERS if (SOURCE / one).is_dir()] == []
    for folder, subjects in SUBJECT_FILES.items():
        for subject in subjects:
            assert (TESTS / folder / f"test_{subject}.py").is_file(), (folder, subject)
            assert not names_module(subject, SOURCE / folder), (folder, subject)


def test_a_stray_file_is_noticed() -> None:
    """Ours: the check can fail."""
    store = SOURCE / "store"
    assert names_module("sqlite", store)
    assert names_module("sqlite_killed", store)
    assert names_module("store_equivalence", store)
    assert not names_module("killed", store)
    assert not names_module("sqliteish", store)

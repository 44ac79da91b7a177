"""What no file of the project may contain: machines, package indexes, dead links."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# The words are put together here, so that this file does not contain them.
FOLDERS_OF_MACHINES = ("work", "farm", "root")
INDEX_HOSTS = (
    "python" + "hosted",
    "py" + "pi.org",
    "registry.npm" + "js",
    "www.npm" + "js",
    "debian.org/" + "debian",
)
FORBIDDEN = re.compile(
    rf"/(?:{'|'.join(FOLDERS_OF_MACHINES)})/[a-z.]|{'|'.join(map(re.escape, INDEX_HOSTS))}"
)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")


def files_of_the_project() -> list[Path]:
    """Everything that is tracked or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_machine_or_a_package_index() -> None:
    """Ours: a checkout works anywhere, with whatever index its user has."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in files_of_the_project()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        for match in FORBIDDEN.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line", [f"cwd = '/{FOLDERS_OF_MACHINES[0]}/main'", f"https://{INDEX_HOSTS[1]}/simple"]
)
def test_the_forbidden_words_are_recognised(line: str) -> None:
    """Ours: a pattern that never matches would forbid nothing."""
    assert FORBIDDEN.search(line)


def test_lock_files_pin_by_hash_and_name_no_source() -> None:
    """Ours: what is installed is what was checked, from wherever it comes."""
    for path in [ROOT / "requirements.lock", *(ROOT / "requirements").glob("*.lock")]:
        text = path.read_text()
        assert "://" not in text, path.name
        assert not re.search(r"^-", text, re.MULTILINE), f"{path.name} holds an option"
        for entry in re.split(r"\n(?=\S)", text.strip()):
            assert "==" in entry, f"{path.name}: {entry}"
            assert "--hash=sha256:" in entry, f"{path.name}: {entry}"
    npm = (ROOT / "package-lock.json").read_text()
    assert '"resolved"' not in npm
    assert npm.count('"integrity"') == npm.count('"node_modules/')


def test_links_between_our_documents_lead_somewhere() -> None:
    """Ours: a document that moves takes its links along."""
    dead = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in files_of_the_project()
        if path.suffix == ".md"
        for target in LINK.findall(path.read_text())
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert dead == []

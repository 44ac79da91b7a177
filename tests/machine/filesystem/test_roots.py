"""What counts as beneath a root: by handles, never by text, with openat2 and without."""

import errno
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from accord.machine.errors import FileFailure, FileMissing, NotAFile, OutsideRoots
from accord.machine.filesystem import openat2
from accord.machine.filesystem.local_files import LocalFiles
from accord.machine.filesystem.path_resolution import DEPTH_MAX, LINKS_MAX
from accord.machine.filesystem.roots import Roots
from tests.hang_limit import HANG_SECONDS


@pytest.fixture(params=["openat2", "walk"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with the system call and with the portable walk."""
    if request.param == "walk":

        def missing(*_: object, **__: object) -> int:
            raise OSError(errno.ENOSYS, "not here")

        monkeypatch.setattr(openat2, "open_resolved", missing)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file and a folder, and a secret beside it."""
    directory = tmp_path / "root"
    (directory / "sub" / "deep").mkdir(parents=True)
    (directory / "file.txt").write_text("inside")
    (directory / "sub" / "file.txt").write_text("inside sub")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    return directory


def read(roots: Roots, path: Path | str) -> str:
    """What a reader gets through these roots."""
    return LocalFiles(roots).read_text(path)


@pytest.mark.rule("V1-SESS-24")
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/", "/proc/self/root" + "/etc/passwd", "/no/such"]
)
def test_a_path_elsewhere_is_outside(path: str, root: Path) -> None:
    """Spec: whoever mediates file access enforces the root set."""
    with pytest.raises(OutsideRoots):
        read(Roots([root]), path)


@pytest.mark.rule("V1-SESS-18")
@pytest.mark.parametrize(
    "tail",
    [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "..",
        "../" + "root/file.txt",
        "./../x",
    ],
)
def test_dots_that_leave_are_refused(tail: str, root: Path) -> None:
    """Spec: authorization does not rest on text; what climbs over the root is out, even if back."""
    with pytest.raises(OutsideRoots):
        read(Roots([root]), f"{root}/{tail}")
    with pytest.raises(OutsideRoots):
        LocalFiles([root]).write_text(f"{root}/{tail}", "x")


def test_dots_that_stay_are_fine(root: Path) -> None:
    """Ours: the system resolves them, physically."""
    assert read(Roots([root]), f"{root}/sub/../file.txt") == "inside"
    assert read(Roots([root]), f"{root}//./sub/deep/../file.txt") == "inside sub"


@pytest.mark.rule("V1-SESS-18")
def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    """Ours: `/a/root` does not hold `/a/root-evil`."""
    evil = root.parent / "root-evil"
    evil.mkdir()
    (evil / "x").write_text("no")
    with pytest.raises(OutsideRoots):
        read(Roots([root]), evil / "x")


@pytest.mark.rule("V1-SESS-13", "V1-SESS-18")
@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("of_directory", [True, False])
def test_links_that_lead_out_are_refused(absolute: bool, of_directory: bool, root: Path) -> None:
    """Spec: root checks resist link escapes."""
    secret = root.parent / "outside" / "secret.txt"
    target = secret.parent if of_directory else secret
    (root / "link").symlink_to(target if absolute else os.path.relpath(target, root))
    path = root / "link" / "secret.txt" if of_directory else root / "link"
    files = LocalFiles([root])
    for act in (files.read_text, files.stat, lambda p: files.write_text(p, "x")):
        with pytest.raises(OutsideRoots):
            act(path)
    if of_directory:
        for act in (files.delete, lambda p: files.move(p, root / "stolen")):
            with pytest.raises(OutsideRoots):
                act(path)
    assert secret.read_text() == "secret"
    assert os.listdir(secret.parent) == ["secret.txt"]


@pytest.mark.parametrize(
    "target", ["file.txt", "sub/../file.txt", "{root}/file.txt", "chain", "{root}/sub/../file.txt"]
)
def test_links_that_stay_inside_work(target: str, root: Path) -> None:
    """Ours: projects have links; absolute ones into the root count as inside."""
    (root / "chain").symlink_to(f"{root}/sub/back")
    (root / "sub" / "back").symlink_to("../file.txt")
    (root / "link").symlink_to(target.format(root=root))
    assert read(Roots([root]), root / "link") == "inside"


def test_a_link_into_another_root_of_the_set_works(root: Path) -> None:
    """Ours: the set is what is allowed, not each directory for itself."""
    (root / "link").symlink_to(root.parent / "outside")
    assert read(Roots([root, root.parent / "outside"]), root / "link/secret.txt") == "secret"


def test_circles_of_links_end(root: Path) -> None:
    """Ours: bounded like the kernel's own walk."""
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "abs").symlink_to(root / "abs")
    for name in ("a", "abs"):
        with pytest.raises(OutsideRoots, match="link"):
            read(Roots([root]), root / name)
    assert LINKS_MAX == 40


def test_a_path_through_an_alias_of_the_root_works(root: Path) -> None:
    """Ours: /tmp may be a link, and either side may use either spelling."""
    alias = root.parent / "alias"
    alias.symlink_to(root)
    assert read(Roots([alias]), alias / "file.txt") == "inside"
    assert read(Roots([alias]), root / "file.txt") == "inside"
    assert read(Roots([root]), alias / "file.txt") == "inside"
    with pytest.raises(OutsideRoots):
        read(Roots([root]), f"{alias}/../outside/secret.txt")


def test_nested_roots_are_all_tried(root: Path) -> None:
    """Ours: what leaves the inner root may still be inside the outer one."""
    (root / "sub" / "link").symlink_to("../file.txt")
    roots = Roots([root / "sub", root])
    assert read(roots, root / "sub" / "link") == "inside"
    assert read(roots, f"{root}/sub/../file.txt") == "inside"
    with pytest.raises(OutsideRoots):
        read(Roots([root / "sub"]), root / "sub" / "link")


def test_the_file_system_itself_can_be_the_root(root: Path) -> None:
    """Ours: `/` is a directory like any other."""
    assert read(Roots(["/"], cross_mounts=True), root / "file.txt") == "inside"


@pytest.mark.rule("V1-SESS-13")
@pytest.mark.parametrize(
    "make",
    [
        lambda path: os.mkfifo(path),
        lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("sub"),
    ],
    ids=["fifo", "socket", "directory", "link to a directory"],
)
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_only_regular_files_are_read_and_written(
    make: Callable[[Path], None], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: opening a pipe or device could block or do things."""
    monkeypatch.chdir(root)
    make(root / "odd")
    files = LocalFiles([root])
    with pytest.raises(NotAFile):
        files.read_text(root / "odd")
    with pytest.raises(NotAFile):
        files.write_text(root / "odd", "x")


@pytest.mark.rule("V1-SESS-13")
def test_a_mount_inside_the_root_is_refused() -> None:
    """Spec: root checks resist mount escapes; unsure means refuse."""
    roots = Roots(["/"])
    with pytest.raises(OutsideRoots):
        read(roots, "/proc/self/status")
    assert "Name:" in read(Roots(["/"], cross_mounts=True), f"/proc/{os.getpid()}/status")


@pytest.mark.rule("V1-SESS-13")
def test_a_bind_mount_of_the_same_file_system_is_refused(root: Path) -> None:
    """Spec: the device number does not tell such a mount, the mount's own id does."""
    script = 'mount --bind "$1/../outside" "$1/sub" && exec "$2" -c "$3" "$1/sub/secret.txt" "$1"'
    program = (
        "import sys\n"
        "from accord.machine import LocalFiles, OutsideRoots\n"
        "from accord.machine.filesystem import openat2\n"
        "def missing(*a, **k): raise OSError(38, '')\n"
        "for _ in range(2):\n"
        "    try: print(LocalFiles([sys.argv[2]]).read_text(sys.argv[1]))\n"
        "    except OutsideRoots: print('refused')\n"
        "    openat2.open_resolved = missing\n"
    )
    import sys

    command = ["unshare", "-rm", "sh", "-ec", script, "sh", str(root), sys.executable, program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("mounting is not allowed here")
    assert done.stdout.split() == ["refused", "refused"], done.stderr


@pytest.mark.parametrize("path", ["relative.txt", "", "/a\0b"])
def test_paths_that_are_none_are_refused(path: str, root: Path) -> None:
    """Ours: the protocol has absolute paths only."""
    with pytest.raises(OutsideRoots):
        read(Roots([root]), path)


@pytest.mark.parametrize("tail", ["x" * 300, "x/" * 3000 + "x", "\udc80\ud800"])
def test_names_that_cannot_exist_are_missing(tail: str, root: Path) -> None:
    """Ours: an odd name is an answer, not a crash."""
    with pytest.raises(FileMissing):
        read(Roots([root]), f"{root}/{tail}")


def test_a_file_used_as_a_directory_is_missing(root: Path) -> None:
    """Ours: there is nothing below a file."""
    with pytest.raises(FileMissing, match="not a directory"):
        read(Roots([root]), root / "file.txt" / "x")
    with pytest.raises(FileMissing):
        LocalFiles([root]).write_text(root / "file.txt" / "x", "y")


def test_no_roots_allow_nothing(root: Path) -> None:
    """Ours: empty means nothing, never everything."""
    roots = Roots([root])
    roots.close()
    for empty in (roots, Roots([])):
        with pytest.raises(OutsideRoots):
            read(empty, root / "file.txt")
        with pytest.raises(OutsideRoots):
            LocalFiles(empty).stat(root)


def test_roots_are_replaced_all_or_nothing(root: Path) -> None:
    """Ours: a set with a mistake in it leaves the old one in force."""
    roots = Roots([root])
    with pytest.raises(FileMissing, match="no such directory"):
        roots.replace([root / "sub", root / "missing"])
    assert roots.directories == (str(root),)
    roots.replace([root / "sub"])
    assert read(roots, root / "sub" / "file.txt") == "inside sub"
    with pytest.raises(OutsideRoots):
        read(roots, root / "file.txt")


def test_a_root_must_be_an_absolute_directory(root: Path) -> None:
    """Ours: a program's mistake is named at once."""
    with pytest.raises(FileFailure, match="absolute"):
        Roots(["relative"])
    with pytest.raises(FileMissing, match="not a directory"):
        Roots([root / "file.txt"])
    for odd in ("a\0b", "\ud800"):
        with pytest.raises(FileMissing, match="no such directory"):
            Roots([f"{root}/{odd}"])


def test_a_root_stays_itself_when_it_is_renamed(root: Path) -> None:
    """Ours: the handle is the root; a link put in its place changes nothing."""
    roots = Roots([root])
    root.rename(root.parent / "moved")
    root.symlink_to(root.parent / "outside")
    with pytest.raises(FileMissing):
        read(roots, root / "secret.txt")
    assert read(roots, root / "file.txt") == "inside"


def test_open_beneath_gives_a_descriptor_that_nobody_inherits(root: Path) -> None:
    """Ours: a program we start later must not get our files."""
    roots = Roots([root])
    opened = roots.open_beneath(root / "new.txt", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        assert not os.get_inheritable(opened)
        assert os.write(opened, b"x") == 1
    finally:
        os.close(opened)
    directory = roots.open_beneath(root / "sub", getattr(os, "O_PATH", 0) | os.O_DIRECTORY)
    os.close(directory)


def test_no_descriptor_is_leaked(root: Path) -> None:
    """Ours: refusals and failures close what they opened."""
    fd_directory = Path("/proc/self/fd")
    if not fd_directory.exists():
        pytest.skip("needs /proc")
    (root / "link").symlink_to("sub/deep/../../../outside/secret.txt")
    (root / "abs").symlink_to(root / "sub" / "file.txt")
    files = LocalFiles([root])
    before = len(os.listdir(fd_directory))
    for path in ("file.txt", "abs", "link", "sub/deep/none", "sub", "sub/deep/../../.."):
        for act in (files.read_text, files.stat, files.exists):
            try:
                act(root / path if ".." not in path else f"{root}/{path}")
            except FileFailure:
                pass
    files.roots.replace([root])
    assert len(os.listdir(fd_directory)) == before


def test_the_walk_goes_down_only_so_far(root: Path) -> None:
    """Ours: every step holds a descriptor for a moment, and a peer chooses the path."""
    deep = "/".join(["d"] * (DEPTH_MAX + 1))
    with pytest.raises(FileMissing, match="deep"):
        LocalFiles([root]).write_text(root / deep / "file.txt", "x")
    LocalFiles([root]).write_text(root / deep[2:] / "file.txt", "x")
    assert read(Roots([root]), root / deep[2:] / "file.txt") == "x"

"""Reading, writing, moving and deleting files beneath roots.

These functions block; `async_files.py` is the async front.

It must not know sessions or wire types.

Always holds
    * Every operation goes by directory handles: a link or directory that is swapped meanwhile
      makes it fail or act inside, never outside.
    * A reader sees the old or the new content of a written file, never a part: the new content
      is a file of its own that takes the name by one rename.
    * Only regular files are read and written.

A write makes a new file under the name, so other hard links keep the old content, and extended
attributes are not carried over.  Mode bits are, and the owner where the system lets us.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileMissing,
    NotAFile,
    NotText,
    TooLarge,
    file_failure,
)
from accord.machine.filesystem.newline_style import (
    ByteBoundPassed,
    FileStyle,
    decode_text,
    encode_text,
    style_of,
    take_lines,
)
from accord.machine.filesystem.path_resolution import Place, rename
from accord.machine.filesystem.roots import Roots
from accord.machine.filesystem.unsaved_text import Overlay

FILE_BYTES_MAX = 16 * 1024 * 1024
"""Most bytes that one read returns or one write stores; with JSON's escapes it fits a frame."""

STYLE_SAMPLE_BYTES = 1024 * 1024
"""How much of an existing file is looked at for its newline style."""

_READ_FLAGS = os.O_RDONLY
_TEMPORARY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_EXISTING_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class FileInfo:
    """What is at a path, links followed."""

    kind: Literal["file", "directory", "other"]
    size: int
    mode: int
    modified_ns: int


@dataclass(frozen=True)
class Stored:
    """A write that happened: bytes on the disk, and whether there was no such file before."""

    size: int
    created: bool


@dataclass(frozen=True)
class ReplacedFile:
    """The file that a write replaces."""

    status: os.stat_result
    style: FileStyle


class LocalFiles:
    """Files beneath `roots`; `overlay` has the unsaved buffers that reads must see."""

    def __init__(
        self,
        roots: Roots | Sequence[str | os.PathLike[str]],
        *,
        overlay: Overlay | None = None,
        bytes_max: int = FILE_BYTES_MAX,
        fsync: bool = False,
    ) -> None:
        self.roots = roots if isinstance(roots, Roots) else Roots(roots)
        self.overlay = overlay if overlay is not None else Overlay()
        self.bytes_max = bytes_max
        self._fsync = fsync

    def read_text(
        self, path: str | os.PathLike[str], line: int | None = None, limit: int | None = None
    ) -> str:
        """The text of the file, or of its unsaved buffer, from `line` on, `limit` lines at most.

        Beyond the end there is nothing, which is an empty text and not an error.

        Raises:
            FileFailure: with the reason as its class.
        """
        text = os.fspath(path)
        buffered = self.buffered(text)
        if buffered is not None:
            return self.lines_of_buffer(text, buffered, line, limit)
        opened, _ = self.open_regular(text)
        return self.read_opened(text, opened, line, limit)

    def buffered(self, path: str) -> str | None:
        """The unsaved buffer of the file, if the path is allowed and there is one."""
        if not self.overlay:
            return None
        try:
            with self.roots.locate(path) as place:
                return self.overlay.text_at(place.real)
        except FileMissing:
            return None

    def lines_of_buffer(self, path: str, text: str, line: int | None, limit: int | None) -> str:
        """The wanted lines of a text that is not on disk."""
        rest = memoryview(text.encode("utf-8", "surrogatepass"))

        def read(count: int) -> bytes:
            nonlocal rest
            chunk, rest = rest[:count], rest[count:]
            return bytes(chunk)

        try:
            data = take_lines(read, line, limit, self.bytes_max)
        except ByteBoundPassed as bound:
            raise TooLarge(path, bound.bytes_max) from None
        return data.decode("utf-8", "surrogatepass")

    def open_regular(self, path: str) -> tuple[int, int]:
        """Open a regular file for reading; returns descriptor and size.  The caller reads it."""
        opened = self.roots.open_beneath(path, _READ_FLAGS)
        try:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                raise NotAFile(path, _kind_words(status))
        except BaseException:
            os.close(opened)
            raise
        return opened, status.st_size

    def read_opened(self, path: str, opened: int, line: int | None, limit: int | None) -> str:
        """Read what `open_regular` opened, and close it."""
        try:
            if line in (None, 0, 1) and limit is None:
                data = self._read_whole(path, opened)
            else:
                data = take_lines(lambda count: os.read(opened, count), line, limit, self.bytes_max)
        except ByteBoundPassed as bound:
            raise TooLarge(path, bound.bytes_max) from None
        except OSError as error:
            raise file_failure(path, error) from error
        finally:
            os.close(opened)
        return decode_text(data, from_start=line in (None, 0, 1))

    def read_bytes(self, path: str) -> bytes:
        """All that is in the file."""
        opened, _ = self.open_regular(path)
        try:
            return self._read_whole(path, opened)
        except OSError as error:
            raise file_failure(path, error) from error
        finally:
            os.close(opened)

    def _read_whole(self, path: str, opened: int) -> bytes:
        size = os.fstat(opened).st_size
        if size > self.bytes_max:
            raise TooLarge(path, self.bytes_max)
        data = os.read(opened, size + 1)
        if len(data) == size and size:
            return data
        # It grows, or it is one of the files whose size is told as 0.
        parts = [data]
        total = len(data)
        while data and (data := os.read(opened, 65536)):
            parts.append(data)
            total += len(data)
            if total > self.bytes_max:
                raise TooLarge(path, self.bytes_max)
        return b"".join(parts)

    def write_text(
        self, path: str | os.PathLike[str], content: str, *, at: str | None = None
    ) -> None:
        """Make `content` the text of the file, at once and whole; make the file if it is missing.

        Missing directories beneath the root are made too.  An existing file keeps its mode
        bits, its byte order mark and its CRLF (see `newline_style.py`).  With `at` the path must
        still mean this real path: links may have been changed since somebody allowed it.

        Raises:
            AccessDenied: the path leads elsewhere than `at`.
            NotText: the content cannot be encoded, or it has U+FFFD where the file is not UTF-8:
                the reader never saw the bytes that would be destroyed.
            FileFailure: another reason, as its class.
        """
        self.store(os.fspath(path), content, self._encode, at=at)

    def store(
        self,
        text: str,
        content: str,
        encode: Callable[[str, str, ReplacedFile | None], bytes],
        *,
        at: str | None = None,
        create_parents: bool = True,
        overwrite: bool = True,
    ) -> Stored:
        """`write_text` with bytes of the caller's making.

        Raises:
            AlreadyThere: the file exists, and is not to be overwritten.
        """
        if len(content) > self.bytes_max:
            raise TooLarge(text, self.bytes_max)
        with self.roots.locate(text, create_parents=create_parents) as place:
            if at is not None and place.real != at:
                raise AccessDenied(text, f"it led to {at} and now leads to {place.real}")
            try:
                existing = self._look_at(text, place)
                if existing is not None and not overwrite:
                    raise AlreadyThere(text)
                data = encode(text, content, existing)
                self._replace(place, data, existing, exclusive=not overwrite)
            except OSError as error:
                raise file_failure(text, error) from error
            self.overlay.written(place.real, content)
        return Stored(len(data), existing is None)

    def _look_at(self, path: str, place: Place) -> ReplacedFile | None:
        """The file that is to be replaced: it must be regular and writable for us."""
        if place.name == ".":
            raise NotAFile(path, "is a directory")
        try:
            opened = os.open(place.name, os.O_RDWR | _EXISTING_FLAGS, dir_fd=place.parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            # A running program cannot be opened for writing, but its name can be given away.
            opened = os.open(place.name, os.O_RDONLY | _EXISTING_FLAGS, dir_fd=place.parent)
        try:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                raise NotAFile(path, _kind_words(status))
            sample = os.read(opened, STYLE_SAMPLE_BYTES)
            whole = len(sample) == status.st_size
            return ReplacedFile(status, style_of(sample, whole=whole))
        finally:
            os.close(opened)

    def _encode(self, path: str, content: str, existing: ReplacedFile | None) -> bytes:
        style = existing.style if existing is not None else FileStyle()
        if not style.utf8 and "\ufffd" in content:
            raise NotText(path, "the file is not UTF-8 and the new text has replacement characters")
        try:
            data = encode_text(content, style)
        except UnicodeEncodeError:
            raise NotText(path, "the new text has half of a surrogate pair") from None
        if len(data) > self.bytes_max:
            raise TooLarge(path, self.bytes_max)
        return data

    def _replace(
        self, place: Place, data: bytes, existing: ReplacedFile | None, *, exclusive: bool
    ) -> None:
        temporary = f".accord-{os.urandom(8).hex()}.tmp"
        mode = 0o666 if existing is None else 0o600
        opened = os.open(temporary, _TEMPORARY_FLAGS, mode, dir_fd=place.parent)
        try:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(opened, view) :]
                if existing is not None:
                    _take_over(opened, existing.status)
                if self._fsync:
                    os.fsync(opened)
            finally:
                os.close(opened)
            # Where nothing may be overwritten, it fails if somebody was faster.
            handles = {"src_dir_fd": place.parent, "dst_dir_fd": place.parent}
            rename(temporary, place.name, linkable=True, overwrite=not exclusive, **handles)
        except BaseException:
            os.unlink(temporary, dir_fd=place.parent)
            raise

    def delete(self, path: str | os.PathLike[str]) -> None:
        """Delete a file; of a link the link itself, of a directory nothing (NotAFile)."""
        text = os.fspath(path)
        with self.roots.locate(text, follow=False) as place:
            try:
                status = _status_of(text, place)
                if stat.S_ISDIR(status.st_mode):
                    raise NotAFile(text, "is a directory")
                os.unlink(place.name, dir_fd=place.parent)
            except OSError as error:
                raise file_failure(text, error) from error
            self.overlay.deleted(place.real)

    def move(
        self,
        path: str | os.PathLike[str],
        target: str | os.PathLike[str],
        *,
        overwrite: bool = False,
    ) -> None:
        """Give a file or directory another name beneath the roots; links are moved, not followed.

        Raises:
            AlreadyThere: the target exists and `overwrite` is not given.
            FileFailure: another reason, as its class; also between two file systems.
        """
        source_text, target_text = os.fspath(path), os.fspath(target)
        with (
            self.roots.locate(source_text, follow=False) as source,
            self.roots.locate(target_text, follow=False, create_parents=True) as goal,
        ):
            try:
                status = _status_of(source_text, source)
                if goal.name == ".":
                    raise AlreadyThere(target_text)
                handles = {"src_dir_fd": source.parent, "dst_dir_fd": goal.parent}
                linkable = stat.S_ISREG(status.st_mode)
                rename(source.name, goal.name, linkable=linkable, overwrite=overwrite, **handles)
            except FileExistsError:
                raise AlreadyThere(target_text) from None
            except OSError as error:
                failed = target_text if error.errno == errno.ENOTEMPTY else source_text
                raise file_failure(failed, error) from error
            self.overlay.moved(source.real, goal.real)

    def stat(self, path: str | os.PathLike[str]) -> FileInfo:
        """What is at the path, links followed while they stay beneath."""
        text = os.fspath(path)
        with self.roots.locate(text) as place:
            try:
                status = os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
            except OSError as error:
                raise file_failure(text, error) from error
        return FileInfo(
            kind="file"
            if stat.S_ISREG(status.st_mode)
            else ("directory" if stat.S_ISDIR(status.st_mode) else "other"),
            size=status.st_size,
            mode=stat.S_IMODE(status.st_mode),
            modified_ns=status.st_mtime_ns,
        )

    def exists(self, path: str | os.PathLike[str]) -> bool:
        """Whether anything is at the path; a path outside raises, it is neither."""
        try:
            self.stat(path)
        except FileMissing:
            return False
        return True


def _status_of(path: str, place: Place) -> os.stat_result:
    if place.name == ".":
        raise NotAFile(path, "is a directory that a root or another path goes through")
    return os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)


def _take_over(opened: int, status: os.stat_result) -> None:
    """Give the new file the owner and the mode of the old one."""
    mode = stat.S_IMODE(status.st_mode)
    mine = os.fstat(opened)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(opened, status.st_uid, status.st_gid)
        except PermissionError:
            # Ours now; the rights of another owner's program must not come along.
            mode &= 0o777
    os.fchmod(opened, mode)


def _kind_words(status: os.stat_result) -> str:
    if stat.S_ISDIR(status.st_mode):
        return "is a directory"
    return "not a regular file"

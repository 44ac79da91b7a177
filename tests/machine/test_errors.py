"""What can go wrong with files, for programs that know Python's own classes."""

import errno

import pytest

from accord.machine.errors import FileMissing, NoSuchFile


def test_a_file_that_is_missing_is_what_python_says_of_one() -> None:
    """Ours: a program may look at all that an `OSError` has."""
    with pytest.raises(FileNotFoundError) as caught:
        raise NoSuchFile("/w/none.txt", "not there")
    error = caught.value
    assert isinstance(error, FileMissing)
    assert (error.errno, error.strerror, error.filename) == (
        errno.ENOENT,
        "not there",
        "/w/none.txt",
    )
    assert str(error) == "/w/none.txt: not there"

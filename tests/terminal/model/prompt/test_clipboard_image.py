"""A picture from the clipboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.model.prompt import clipboard_image as module
from accord.terminal.model.prompt.clipboard_image import command_for, read_image
from accord.terminal.model.prompt.content_blocks import PromptError

PNG = b"\x89PNG\r\n\x1a\n"


def _tool(folder: Path, name: str, script: str) -> dict[str, str]:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}


def test_the_program_is_the_one_of_the_desktop(tmp_path: Path) -> None:
    """Issue 6: where wl-paste, xclip or the like exist."""
    environ = _tool(tmp_path, "xclip", "")
    environ["PATH"] = str(tmp_path)
    command = command_for(environ, "linux")
    assert command is not None
    assert command[0] == str(tmp_path / "xclip")
    _tool(tmp_path, "wl-paste", "")
    assert (command_for(environ, "linux") or [""])[0] == str(tmp_path / "wl-paste")
    _tool(tmp_path, "osascript", "")
    assert (command_for(environ, "darwin") or [""])[0] == str(tmp_path / "osascript")
    assert command_for({"PATH": str(tmp_path)}, "linux") is None


def test_the_picture_is_what_the_program_writes(tmp_path: Path) -> None:
    """Issue 6: paste of images."""
    environ = _tool(tmp_path, "wl-paste", r"printf '\211PNG\r\n\032\n'")
    assert read_image(environ) == PNG
    _tool(tmp_path, "wl-paste", "exit 1")
    assert read_image(environ) is None


def test_without_a_program_it_is_said(tmp_path: Path) -> None:
    """Issue 6: said so if not available."""
    with pytest.raises(PromptError, match="attach the image as a file"):
        read_image({"PATH": str(tmp_path)})


def test_a_picture_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: everything has a bound; a program that hangs too."""
    monkeypatch.setattr(module, "IMAGE_BYTES_MAX", 3)
    environ = _tool(tmp_path, "wl-paste", "printf 12345")
    with pytest.raises(PromptError, match="larger than"):
        read_image(environ)
    monkeypatch.setattr(module, "SECONDS_MAX", 0.05)
    _tool(tmp_path, "wl-paste", "exec sleep 20")
    assert read_image(environ) is None


def test_what_the_mac_says_is_read() -> None:
    """Ours: it writes the bytes as letters."""
    assert module._from_mac("«data PNGf89504E47»\n".encode()) == b"\x89PNG"
    assert module._from_mac(b"nothing") == b""
    assert module._from_mac(b"PNGf123") == b""

"""Read an image from the desktop's clipboard with an installed program.

This module does not know any screen.  Best effort: a terminal itself hands over text only.
"""

from __future__ import annotations

import binascii
import os
import re
import subprocess
import sys
from collections.abc import Mapping

from accord.machine.processes.descendants import kept
from accord.machine.processes.program_lookup import find_program
from accord.terminal.model.prompt.content_blocks import IMAGE_BYTES_MAX, PromptError

SECONDS_MAX = 5.0

_MAC_SCRIPT = "get the clipboard as «class PNGf»"
_MAC_DATA = re.compile(rb"PNGf([0-9A-Fa-f]+)")


def command_for(environ: Mapping[str, str], platform: str = sys.platform) -> list[str] | None:
    """The command that writes the picture of the clipboard; None if there is none."""
    tools: list[list[str]] = []
    if platform == "darwin":
        tools += [["pngpaste", "-"], ["osascript", "-e", _MAC_SCRIPT]]
    if environ.get("WAYLAND_DISPLAY"):
        tools.append(["wl-paste", "--no-newline", "--type", "image/png"])
    if environ.get("DISPLAY"):
        tools.append(["xclip", "-selection", "clipboard", "-t", "image/png", "-o"])
    for name, *words in tools:
        program = find_program(name, environ.get("PATH"))
        if program is not None:
            return [program, *words]
    return None


def read_image(environ: Mapping[str, str] | None = None) -> bytes | None:
    """The image in the clipboard; None if there is none in it.  Blocks.

    Raises:
        PromptError: there is no program that could tell, or the picture is too large.
    """
    environ = os.environ if environ is None else environ
    command = command_for(environ)
    if command is None:
        raise PromptError(
            "No program was found that reads images from the clipboard"
            " (wl-paste, xclip or pngpaste); attach the image as a file."
        )
    try:
        done = subprocess.run(
            command,
            env=kept(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    data = done.stdout if done.returncode == 0 else b""
    if os.path.basename(command[0]) == "osascript":
        data = _from_mac(data)
    if len(data) > IMAGE_BYTES_MAX:
        raise PromptError(f"The image is larger than {IMAGE_BYTES_MAX >> 20} MB.")
    return data or None


def _from_mac(data: bytes) -> bytes:
    found = _MAC_DATA.search(data)
    try:
        return binascii.unhexlify(found[1]) if found else b""
    except binascii.Error:
        return b""

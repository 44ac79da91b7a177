"""Runs a line in a scratch folder and says whether the marker program ran."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.client.shell.marker_roads import PROGRAM

# A line that runs on is ended then, which fails nothing.
SECONDS = 20.0


class Sandbox:
    """A fresh folder for each line, with the marker program on the PATH."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = folder / "mark"

    def runs_marker(self, shell: str, line: str) -> bool:
        """Run a line with a shell; whether the marker program was started."""
        work = self._folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        self._mark.unlink(missing_ok=True)
        (work / "bin").mkdir(parents=True)
        marker = work / "bin" / PROGRAM
        marker.write_text('#!/bin/sh\n: > "$ACCORD_MARK"\n')
        marker.chmod(0o755)
        process = subprocess.Popen(
            [shell, "-c", line],
            cwd=work,
            env={
                "PATH": f"{work}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": str(work),
                "ACCORD_MARK": str(self._mark),
                "GIT_CONFIG_NOSYSTEM": "1",
                "TERM": "dumb",
                # A function that a road names `echo` may call itself in ever more subshells.
                "FUNCNEST": "20",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return self._mark.exists()


__all__ = ["Sandbox"]

"""Fuzz with atheris, which follows the branches that an input takes: `python -m tests.fuzz`.

Needs an environment with atheris beside what Accord needs itself; `make fuzz` makes one.  Without
a target all take turns, each in a process of its own.  An input that breaks a promise is written to
a file, and `python -m tests.fuzz TARGET --input FILE` runs it again, without atheris too.
"""

import argparse
import subprocess
import sys
from pathlib import Path

SECONDS = 30
INPUT_BYTES_MAX = 2048


def main() -> int:
    """Run what was asked for; the exit code says whether all promises held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", help="one of them; default: all")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each target")
    parser.add_argument("--corpus", type=Path, help="a folder to keep inputs in that are of use")
    parser.add_argument("--input", type=Path, help="run this file alone")
    chosen = parser.parse_args()
    if chosen.input is not None:
        from tests.fuzz.targets import TARGETS

        TARGETS[chosen.target](chosen.input.read_bytes())
        return 0
    if chosen.target is not None:
        return fuzz(chosen.target, chosen.seconds, chosen.corpus)
    from tests.fuzz.targets import TARGETS

    failed = []
    for name in TARGETS:
        print(f"--- {name}", flush=True)
        command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(chosen.seconds)]
        if subprocess.run(command, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"broken promises: {', '.join(failed)}")
    return 1 if failed else 0


def fuzz(name: str, seconds: int, corpus: Path | None) -> int:
    """One target, until the time is over or a promise is broken; does not return then."""
    try:
        import atheris  # type: ignore[import-untyped]
    except ImportError:
        print("atheris is not installed here; `make fuzz` makes an environment that has it")
        return 2
    with atheris.instrument_imports(include=["accord"]):
        from tests.fuzz.targets import TARGETS
    arguments = [sys.argv[0], f"-max_total_time={seconds}", f"-max_len={INPUT_BYTES_MAX}"]
    if corpus is not None:
        corpus.mkdir(parents=True, exist_ok=True)
        arguments.append(str(corpus / name))
        (corpus / name).mkdir(exist_ok=True)
    atheris.Setup(arguments, TARGETS[name])
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())

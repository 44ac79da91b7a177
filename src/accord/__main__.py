"""`python -m accord`, and the file that every process of ours is started by.

`machine/own_program.py` runs this file by its path, in an isolated interpreter.  The package is
then imported from beside this file, whatever else is called `accord` on this machine.

`python -m accord` searches the working directory before any of our code runs: use `accord`, or
`python -I -m accord`, in a folder whose files are not trusted.
"""

import sys


def _find_package() -> None:
    """Make an interpreter that runs this file by its path import the package around it."""
    import os

    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:2] == ["--import-path"]:
        sys.path[:] = sys.argv[2].split(os.pathsep)
        del sys.argv[1:3]
    if root not in sys.path:
        sys.path.insert(0, root)


if __name__ == "__main__":
    if not __package__:
        _find_package()
    from accord.cli.main import main

    sys.exit(main())

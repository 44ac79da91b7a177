"""`python -m accord`, and the file that every process of ours is started by.

`machine/own_command_line.py` runs this file by its path, in an isolated interpreter.  The package
is then imported from beside this file, whatever else is called `accord` on this machine.

`python -m accord` searches the working directory before any of our code runs: use `accord`, or
`python -I -m accord`, in a folder whose files are not trusted.
"""

import sys


def _find_package() -> None:
    """Make an interpreter that runs this file by its path import the package around it."""
    import os

    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if root not in sys.path:
        # Behind the standard library, which nothing in that folder may shadow.
        home = os.path.dirname(os.__file__)
        library = (home, os.path.join(home, "lib-dynload"))
        behind = [index + 1 for index, entry in enumerate(sys.path) if entry in library]
        sys.path.insert(max(behind, default=0), root)
    if sys.argv[1:2] == ["--import-path"]:
        from accord.machine.own_command_line import use_import_path

        use_import_path(sys.argv[2])
        del sys.argv[1:3]


if __name__ == "__main__":
    if not __package__:
        _find_package()
    from accord.cli.main import main

    sys.exit(main())

"""What `help(accord)` and completion show, although every name is loaded when it is first used."""

import inspect
import pydoc
import re
import subprocess
import sys

import accord
from tests.hang_limit import HANG_SECONDS


def test_the_docstring_lists_every_public_name() -> None:
    """Newcomers: `help(accord)` listed no class."""
    assert set(accord.__all__) - set(re.findall(r"\w+", accord.__doc__ or "")) == set()


def test_help_documents_every_public_class() -> None:
    """Newcomers: the same."""
    shown = pydoc.plain(pydoc.render_doc(accord))
    classes = [name for name in accord.__all__ if inspect.isclass(getattr(accord, name))]
    assert [name for name in classes if f"class {name}(" not in shown] == []


def test_names_are_listed_without_being_imported() -> None:
    """Ours: an agent's start pays for nothing that it does not use."""
    program = (
        "import sys, accord; assert set(accord.__all__) <= set(dir(accord)); "
        "assert 'accord.client' not in sys.modules and 'accord.agent' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=HANG_SECONDS)

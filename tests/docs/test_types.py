"""The programs of the documentation are typed: what people copy passes their checkers."""

import re
from pathlib import Path

import pytest
from mypy import api

from tests.docs.blocks import PAGES, ROOT, blocks_of


@pytest.mark.slow
def test_every_program_passes_mypy_strict(tmp_path: Path) -> None:
    """Ours: the first thing that a copied program meets is an editor with a type checker."""
    for page in PAGES:
        for block in blocks_of(page):
            if block.info != "python":
                continue
            # One folder for all, so each program gets a name of its own, and keeps the one by
            # which another imports it.
            stem = re.sub(r"\W", "_", page.relative_to(ROOT).stem)
            (tmp_path / f"{stem}_{block.line}.py").write_text(block.text)
            if block.file_name == "greeter.py":
                (tmp_path / block.file_name).write_text(block.text)
    said, complaints, code = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(tmp_path)])
    assert code == 0, said + complaints

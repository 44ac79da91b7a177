"""`AgentSettings`: what the program that starts the built-in agent may decide."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Settings of one agent process; everything else comes from the user's configuration."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    # A model's id, or "offline"; overrides the configuration.
    model: str | None = None
    # Where sessions are stored; by default in the user's own store.
    store_file: Path | None = None
    # Store nothing on disk, for demos and tests.
    in_memory: bool = False
    # For clients that implement older spec pages; see `Agent`.
    early_v2: bool = False
    session_models: bool = False

"""Where the user writes: the editor, what it completes, and what waits to be sent."""

from accord.terminal.screen.prompt.prompt_editor import PromptEditor
from accord.terminal.screen.prompt.queue_panel import QueuePanel

__all__ = ["PromptEditor", "QueuePanel"]

"""The demo's screen, which is everybody's."""

from accord.cli.printing import Printer as View

__all__ = ["View"]

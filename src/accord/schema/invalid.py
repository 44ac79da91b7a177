"""The error for JSON text that does not have the wanted type."""


class Invalid(ValueError):
    """Text that is not of the wanted type: `path` says where (`$` is the root), `reason` why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{reason} (at {path})")
        self.path = path
        self.reason = reason

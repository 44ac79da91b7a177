"""The one wording for command output that was too long to be kept or sent.  No I/O."""

EARLIER_OUTPUT_OMITTED = "earlier output was omitted"


def output_omitted(count: int) -> str:
    """The words for a gap of this many bytes."""
    return f"{count:,} bytes of output were omitted"

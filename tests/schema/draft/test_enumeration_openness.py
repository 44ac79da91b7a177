"""The words of the draft."""

from accord.schema.draft import ENUMS, McpAcp, McpHttp, McpSse, McpStdio


def test_the_tool_call_statuses_are_the_seven_of_the_draft() -> None:
    """The draft: its status machine."""
    assert ENUMS["ToolCallStatus"].values == (
        "pending",
        "awaiting_permission",
        "in_progress",
        "completed",
        "failed",
        "denied",
        "cancelled",
    )


def test_only_names_that_agents_invent_are_open() -> None:
    """The draft: modes are names of the agent's own; plan and source words are only shown."""
    open_ones = {name for name, enumeration in ENUMS.items() if enumeration.open}
    assert open_ones == {"SessionMode", "PlanStepStatus", "ConfigOptionSource"}


def test_every_transport_that_can_be_advertised_has_a_type() -> None:
    """The draft: three transports and one that it proposes."""
    tags = tuple(one.__struct_config__.tag for one in (McpStdio, McpHttp, McpSse, McpAcp))
    assert tags == ENUMS["McpTransportName"].values

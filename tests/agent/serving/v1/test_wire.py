"""Config options of v2 in the words of v1."""

from accord.agent.serving.v1.wire import option_to_v1
from accord.schema import v1, v2
from accord.schema.struct import UNSET, Raw, UnknownVariant

META = {"vendor": Raw(b"1")}


def test_a_switch_keeps_everything_under_v1s_names() -> None:
    """translate: `configId` is `id` there."""
    option = v2.SessionConfigBoolean(
        config_id="fast", name="Fast", description="d", current_value=True, meta=META
    )
    assert option_to_v1(option) == v1.SessionConfigBoolean(
        id="fast", name="Fast", description="d", current_value=True, meta=META
    )


def test_a_choice_keeps_its_values() -> None:
    """translate: values one by one, with what they carry."""
    entry = v2.SessionConfigSelectEntry(value="a", name="A", description="first", meta=META)
    option = v2.SessionConfigSelect(
        config_id="model", name="Model", category="model", current_value="a", options=[entry]
    )
    assert option_to_v1(option) == v1.SessionConfigSelect(
        id="model",
        name="Model",
        category="model",
        current_value="a",
        options=[v1.SessionConfigSelectEntry(value="a", name="A", description="first", meta=META)],
    )


def test_a_grouped_choice_keeps_its_groups() -> None:
    """translate: `groupId` is `group` there."""
    member = v2.SessionConfigSelectOption(value="a", name="A", meta=META)
    group = v2.SessionConfigSelectEntry(group_id="g", name="G", options=[member], meta=META)
    option = v2.SessionConfigSelect(config_id="o", name="O", current_value="a", options=[group])
    translated = option_to_v1(option)
    assert isinstance(translated, v1.SessionConfigSelect)
    assert translated.description is UNSET
    assert translated.options == [
        v1.SessionConfigSelectEntry(
            group="g",
            name="G",
            options=[v1.SessionConfigSelectOption(value="a", name="A", meta=META)],
            meta=META,
        )
    ]


def test_a_type_that_v1_does_not_have_is_left_out() -> None:
    """v1's union is closed."""
    assert option_to_v1(UnknownVariant("type", "slider", b"{}")) is None

"""The validator lets every good message through and no broken one.

Issue 2 demands both: a validator that accepts too much would make every interop run green.
"""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.interop.messages import samples_v1, samples_v2
from tests.interop.messages.broken_messages import (
    BROKEN,
    NEW,
    Broken,
    answer,
    notification,
    request,
    update,
)
from tests.interop.messages.samples_v1 import Sample
from tests.interop.messages.strict_schema import StrictSchema
from tests.interop.messages.validator import (
    OTHER_SIDE,
    Side,
    Validator,
    load_schema,
    method_definitions,
)

Json = dict[str, Any]
SAMPLES = {1: samples_v1.SAMPLES, 2: samples_v2.SAMPLES}
UPDATES = {1: samples_v1.UPDATES, 2: samples_v2.UPDATES}
VERSIONS = (1, 2)

pytestmark = pytest.mark.node


def sender(version: int, sample: Sample) -> Side:
    kind = "Notification" if sample.result is None else "Request"
    _, side = method_definitions(load_schema(version, True))[sample.method, kind]  # type: ignore[index]
    return "agent" if side == "client" else "client"


def check_sample(version: int, unstable: bool, sample: Sample) -> list[str]:
    validator, side = Validator(version, unstable), sender(version, sample)
    if sample.result is None:
        return validator.check(side, notification(sample.method, sample.params))
    asked = validator.check(side, request(sample.method, sample.params))
    return asked + validator.check(OTHER_SIDE[side], answer(sample.result))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_good_message_passes(version: int) -> None:
    for sample in SAMPLES[version]:
        assert check_sample(version, True, sample) == [], sample.method


@pytest.mark.parametrize("version", VERSIONS)
def test_every_good_update_passes(version: int) -> None:
    for fields in UPDATES[version]:
        found = Validator(version, unstable=True).check("agent", update(fields))
        assert found == [], fields["sessionUpdate"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_good_messages_cover_every_method_and_update(version: int) -> None:
    schema = load_schema(version, True)
    wanted = {key for key in method_definitions(schema) if key[1] != "Response"}
    have = {
        (sample.method, "Notification" if sample.result is None else "Request")
        for sample in SAMPLES[version]
    } | {("session/update", "Notification")}
    assert have == wanted
    union = schema.definitions["SessionUpdate"]
    tags = {
        branch["properties"]["sessionUpdate"].get("const")
        for branch in union.get("oneOf", union.get("anyOf"))
    }
    assert tags - {None} == {
        fields["sessionUpdate"] for fields in UPDATES[version] if fields["sessionUpdate"][0] != "_"
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stable_connection_takes_stable_messages_only(version: int) -> None:
    stable = {method for method, _ in method_definitions(load_schema(version, False))}
    for sample in SAMPLES[version]:
        found = check_sample(version, False, sample)
        assert (found == []) == (sample.method in stable), (sample.method, found)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.why)
def test_a_broken_message_fails(broken: Broken) -> None:
    validator = Validator(broken.version)
    for side, message in broken.before:
        assert validator.check(side, message) == []
    found = validator.check(broken.side, broken.message)
    assert found
    assert any(broken.problem in problem for problem in found), found


# Whatever stands under these keys, or in a variant of one's own, is nobody else's business.
RAW_KEYS = {"_meta", "rawInput", "rawOutput"}
TAGS = ("sessionUpdate", "state", "stopReason", "type", "operation")
MAP_KEYS = {"properties", "content", "headers", "env"}


def objects(value: Any, key: str = "") -> Iterator[Json]:
    """Every object in a message whose keys the protocol decides."""
    if isinstance(value, list):
        for item in value:
            yield from objects(item)
    if not isinstance(value, dict) or key in RAW_KEYS:
        return
    if any(str(value.get(tag, "")).startswith("_") for tag in TAGS):
        return
    if key not in MAP_KEYS or "type" in value:
        yield value
    for name, member in value.items():
        yield from objects(member, name)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_unknown_key_fails_wherever_it_stands(version: int) -> None:
    for good in UPDATES[version]:
        fields = copy.deepcopy(good)
        for place in objects(fields):
            place["zzz"] = 1
            found = Validator(version, unstable=True).check("agent", update(fields))
            assert any("zzz" in problem or "variants" in problem for problem in found), place
            del place["zzz"]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_passes_here_passes_by_plain_json_schema_too(version: int) -> None:
    """A second, lenient reading of the same files by a library that knows none of our habits."""
    schema = load_schema(version, True)
    definitions = method_definitions(schema)
    for sample in SAMPLES[version]:
        kinds = {"Notification": sample.params}
        if sample.result is not None:
            kinds = {"Request": sample.params, "Response": sample.result}
        for kind, value in kinds.items():
            name, _ = definitions[sample.method, kind]  # type: ignore[index]
            plain_judge(schema, name).validate(value)
    for fields in UPDATES[version]:
        plain_judge(schema, "SessionUpdate").validate(fields)


def plain_judge(schema: StrictSchema, name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema.definitions})


def test_initialize_may_carry_the_keys_of_both_versions() -> None:
    """Our client asks so; the draft's table 1.2."""
    info = {"name": "c", "version": "1"}
    params = {
        "protocolVersion": 2,
        "clientInfo": info,
        "clientCapabilities": {"terminal": True},
        "info": info,
        "capabilities": {},
    }
    for version in VERSIONS:
        assert Validator(version).check("client", request("initialize", params)) == []


def test_extensions_are_free_on_either_side() -> None:
    for version in VERSIONS:
        validator = Validator(version)
        assert validator.check("agent", request("_x/y", {"any": [1]})) == []
        assert validator.check("client", answer(None)) == []
        assert validator.check("client", notification("_x/z", {"any": 1})) == []


def test_an_error_answer_closes_its_request() -> None:
    validator = Validator(1)
    assert validator.check("client", NEW) == []
    failed = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "x", "data": [1]}}
    assert validator.check("agent", failed) == []
    assert validator.check("client", NEW) == []


def test_a_schema_keyword_that_is_not_understood_is_refused() -> None:
    with pytest.raises(ValueError, match="patternProperties"):
        StrictSchema({}).judge({"patternProperties": {}}, {}, "$")

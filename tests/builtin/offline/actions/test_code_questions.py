"""Questions about a file, about what came with the prompt, and in words that are not names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord import EmbeddedResource, ResourceLink
from accord.builtin.demo_project import write_demo_project
from accord.builtin.offline.source_code.references import definitions_of, uses_of
from accord.builtin.offline.source_code.symbols import module_of
from accord.builtin.offline.source_code.word_search import about, stem, words_in
from accord.schema import v2
from tests.builtin.offline.talk import talking, write

AUTH = '''"""Tokens."""
from typing import overload
import typing as t


class Token:
    @property
    def value(self):
        """What it is worth."""
        return self._value

    @value.setter
    def value(self, new):
        self._value = new

    @value.deleter
    def value(self):
        del self._value

    @overload
    def cut(self, at: int) -> str: ...
    @overload
    def cut(self, at: str) -> str: ...
    def cut(self, at):
        return at


@t.overload
def load(x: int) -> int: ...
@t.overload
def load(x: str) -> str: ...
def load(x):
    return x


def verify_signature(data, key):
    """Compare it with what the key gives."""
    return digest(data, key)


def digest(data, key):
    return data + key


def accept(request):
    if not verify_signature(request, 1):
        raise ValueError("signature")
'''


# ---- what is in a file


@pytest.mark.parametrize(
    "typed", ["What's in config.json?", "What’s in config.json", "whats in the file config.json?"]
)
async def test_what_is_in_a_file_is_shown(tmp_path: Path, typed: str) -> None:
    """Issue 14: it was searched for, “found nothing”, and named as being near to itself."""
    write(tmp_path, {"config.json": '{"retries": 3}\n', "src/a.py": "x = 1\n"})
    async with talking(tmp_path) as talk:
        answer = await talk.say(typed)
        assert '{"retries": 3}' in answer
        assert talk.kinds() == ["read"]
        for folder in ("what's in src?", "what's in src/", "what is in the src folder?"):
            assert "`src/a.py`" in await talk.say(folder)
        assert "no file nope.json" in (await talk.say("what's in nope.json?")).lower()


@pytest.mark.parametrize("typed", ["deploy.sh", "./deploy.sh does not work", "deploy.sh crashes"])
async def test_a_file_that_a_sentence_names_is_found(tmp_path: Path, typed: str) -> None:
    """The file was searched for in texts, “found nothing”, and named as being near to itself."""
    write(tmp_path, {"bin/deploy.sh": "echo deployed\n", "a.py": "x = 1\n"})
    async with talking(tmp_path) as talk:
        answer = await talk.say(typed)
        assert "`bin/deploy.sh`" in answer
        assert "found nothing" not in answer
        assert "Similar names" not in answer


# ---- what came with the prompt


async def test_this_is_what_came_with_the_prompt(tmp_path: Path) -> None:
    """Issue 14: "explain this" with an embedded resource or a link."""
    write_demo_project(tmp_path)
    calc = (tmp_path / "calc.py").as_uri()
    whole = _embedded(calc, '"""Unsaved."""\ndef median(v): ...\n')
    part = _embedded(f"{calc}#L6:8", "    if not values:\n        raise ValueError\n")
    link = ResourceLink(name="report.py", uri=(tmp_path / "report.py").as_uri())
    place = ResourceLink(name="report.py", uri=(tmp_path / "report.py").as_uri() + "#L8:11")
    async with talking(tmp_path) as talk:
        for typed in ("explain this", "what does this do?", "what is this?", "explain this code",
                      "summarize it", "explain this file"):  # fmt: skip
            assert "> Unsaved." in await talk.say(typed, whole), typed
            assert "> One line about a list" in await talk.say(link, typed), typed
        assert "> One line about a list" in await talk.say("explain ", link, " please")
        answer = await talk.say("explain this", part)
        assert "**`calc.py`**, line 6 to 7." in answer
        assert "It is in the function `mean`" in answer
        assert "2 lines" not in answer
        assert "line 8 to 11" in await talk.say("explain this", place)
        answer = await talk.say("explain these", link, part)
        assert "> One line about a list" in answer
        assert "line 6 to 7" in answer
        page = ResourceLink(name="page", uri="https://example.com/a")
        assert "came as a link without its text" in await talk.say("explain this", page)
        quoted = '<attachment filepath="calc.py">\n1: nothing of it\n</attachment>'
        assert "def mean(values)" in await talk.say(quoted, "explain this")
        assert "def median" not in await talk.say("explain calc.py", part), "a part is not the file"
        assert "Explain what?" in await talk.say("explain this")
        assert "**The pasted text**, 2 lines." in await talk.say(
            "explain this:\n\ndef total(values):\n    return mean(values)"
        )
        assert "`def mean(values)` in `calc.py:4`" in await talk.say(
            "explain this", "total = mean(values)"
        )


def _embedded(uri: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=v2.EmbeddedResourceResource(uri=uri, text=text))


# ---- questions in words


@pytest.mark.parametrize(
    "typed",
    [
        "where is the signature checked?",
        "where do we check signatures?",
        "which function verifies the signature",
        "find where the signature is verified",
        "how are signatures validated?",
    ],
)
async def test_a_question_in_words_finds_the_definition(tmp_path: Path, typed: str) -> None:
    """Issue 14: names that contain the stems of both, also by another word for one."""
    write(tmp_path, {"auth.py": AUTH, "other.py": "def checkbox(): ...\n"})
    async with talking(tmp_path) as talk:
        answer = await talk.say(typed)
        assert "By their names and docstrings" in answer
        assert "`auth.py:36` `def verify_signature(data, key)`" in answer
        assert "checkbox" not in answer
        assert "not understand" not in answer
        answer = await talk.say("where is a ValueError raised?")
        assert "The code of these contains" in answer
        assert "`auth.py:45` `def accept(request)`" in answer


async def test_a_question_without_an_answer_says_what_was_looked_for(tmp_path: Path) -> None:
    """Brief: every sentence about what was not found is true."""
    write(tmp_path, {"auth.py": AUTH})
    async with talking(tmp_path) as talk:
        answer = await talk.say("where is the invoice printed?")
        assert "No function or class that I read here has all of “invoice” and “printed”" in answer


def test_words_have_stems_and_names_have_words() -> None:
    """Brief: names that contain both stems."""
    assert stem("checked") == stem("checks") == stem("check") == stem("checking")
    assert stem("signature") == stem("signatures") == "sign"
    assert stem("parses") == stem("parsing") == stem("parsed")
    assert words_in("verifyHTTPSignature_now2") == ["verify", "http", "signature", "now2"]
    files = {"a.py": "def read_config(): ...\n", "tests/test_a.py": "def test_config_load(): ...\n"}
    found = [one.definition.symbol.name for one in about(files, ["settings", "loaded"])[0]]
    assert found == ["read_config", "test_config_load"], "code before its tests"


def test_the_code_of_other_languages_is_looked_at_too() -> None:
    """Brief: “in its code” is true; by a pattern only the first line of a definition is known."""
    script = "function go(x) {\n  verify(x.signature)\n}\nclass A {\n  sign() { check() }\n}\n"
    found, is_all = about({"a.js": script}, ["signature", "checked"])
    assert is_all
    assert {one.definition.symbol.name for one in found} == {"go", "A"}


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4))
def test_any_words_can_be_looked_for(text: str, words: list[str]) -> None:
    """Ours: bad input is data."""
    for finding in about({"a.py": text, "b.ts": text}, words)[0]:
        assert len(finding.words) == len(words)


# ---- one definition, not three


def test_overloads_and_properties_are_one_definition() -> None:
    """Issue 14: overloads and properties do not make three definitions of one."""
    files = {"auth.py": AUTH}
    [load] = definitions_of(files, "load")
    assert (load.symbol.line, load.symbol.overloads, load.symbol.signature) == (
        32,
        2,
        "def load(x)",
    )
    [value] = definitions_of(files, "value")
    assert (value.symbol.kind, value.symbol.line, value.symbol.end_line) == ("property", 8, 18)
    assert [one.symbol.line for one in definitions_of(files, "Token.cut")] == [24]
    assert [use.kind for use in uses_of("auth.py", AUTH, "value")] == ["definition"] * 3


def test_overloads_without_a_body_and_in_other_files_are_one() -> None:
    """In a stub, in a file that does not parse, in TypeScript."""
    stub = "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n"
    assert [(one.line, one.overloads) for one in module_of("a.pyi", stub).symbols] == [(2, 2)]
    broken = f"{AUTH}\ndef broken(:\n"
    names = [one.name for one in module_of("auth.py", broken).symbols]
    assert (names.count("load"), names.count("value")) == (1, 1)
    script = (
        "export function load(x: number): number;\nexport function load(x: string): string;\n"
        "export function load(x: any) {\n  return x\n}\n"
    )
    assert [one.line for one in module_of("a.ts", script).symbols] == [3]
    declared = "declare function only(x: number): number;\nfunction alone(): void;\n"
    assert [one.name for one in module_of("a.d.ts", declared).symbols] == ["alone"]


async def test_they_are_explained_at_once(tmp_path: Path) -> None:
    """The same, as somebody sees it."""
    write(tmp_path, {"auth.py": AUTH})
    async with talking(tmp_path) as talk:
        assert "is a function in `auth.py:32`, with 2 overloads." in await talk.say("explain load")
        answer = await talk.say("explain Token.value")
        assert "is a property in `auth.py:8`." in answer
        assert "I found nothing in this project that uses it by name." in answer
        assert "`def value(self)` (line 8): What it is worth." in await talk.say("explain auth.py")
        assert "is defined in `auth.py:8`" in await talk.say("where is value")

"""Whether a text is a command line: only what is marked as one, quoted, or plainly nothing else.

Prose never becomes a command.  A line without a mark is one where a known program stands first and
everything behind it is an argument: by its form (`-x`, `a/b`, `x.py`, `a=1`, quotes), or because
that program takes such a word there (`git checkout main`).  One word that only sentences have
(`the`, `fails`, `please`) makes a sentence of the whole.

What always holds
    * A command is one line, unless it stands in a fence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.known_programs import PROGRAMS, Program

# Words of sentences about programs; none of them is an argument that a program takes.
PROSE = frozenset(
    """a about above across actually after again ago all almost already also always am an and
    another any anybody anymore anyone anything anyway anywhere are aren't around as ask
    asks at away back bad badly be because been before begin begins being better between
    boss both break breaks bring broke broken but by call called calls came can can't
    cannot change changes come comes complain complained complains conflict conflicts could
    couldn't crash crashed crashes crashing cry customer customers dear dependencies did didn't
    die died dies differ different do does doesn't doing don't done dont down during each easier
    easy either else enough error erroring errors even ever every everyone everything
    everywhere exist exists exit exits explain fail failed failing fails failure failures
    fast faster feel few files find finds finish finished first fix fixed fixes for
    forever forget from gave gently get gets getting give gives go goes going gone good
    got had hang hanging hangs happen happened happening happens hard has hasn't hate have
    haven't he hello help helps her here hers hey hi him his how however hung i i'd i'll
    i'm i've if ignore ignores in instead into is isn't it it's its itself just keep keeps
    kill kills kindly know knows last later least let lets like likes little long look
    looks lot love made make makes many may maybe me mean means might mine missing more
    morning most much must my myself near need needed needs neither never new next nice
    nicely night no nobody none nor not nothing now nowhere of off often ok okay on once
    one only onto or other ought our ours out output over own packages pass passed passes
    passing pattern people perhaps person please pls possible prefer print prints probably
    problem problems properly put quick quickly quite ran rather read ready really red
    refuse refuses return returned returns right run running runs sad said same saw say
    says see seem seems seen several shall she should shouldn't show showed shows simply
    since sir slow slower slowly so some somebody someone something sometimes somewhere
    soon start started starts still stop stopped stops stuck succeed succeeds such sure
    take taken takes team tell tells than thank thanks that that's the their them
    themselves then there there's these they they're thing things think this those though
    through throw throws time timeouts times to today together told tomorrow tonight too
    took tried tries try trying turn twice two under understand unless until up us use
    used useful user users uses using usually various very wait want wanted wants warning
    warnings was wasn't way we we're well went were weren't what what's whatever when
    whenever where whether which while who whole whom whose why will wish with within
    without won't work worked working works worse would wouldn't wrong yes yesterday yet
    you you're your yours yourself""".split()  # noqa: SIM905
)

_WORD = re.compile(r"""(?:(?<!\w)'[^']*'|(?<!\w)"[^"]*"|\S)+""")
_PLAIN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OPTION = re.compile(r"--?[A-Za-z0-9][\w-]*(?:=.*)?|--", re.DOTALL)
_NUMBER = re.compile(r"v?\d+(?:[.,]\d+)*%?")
_OPERATORS = frozenset({"|", "||", "&&", "&", ";"})
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=\S*")
_PATH_PROGRAM = re.compile(r"(?:\.{1,2}|~)/[\w.@+/-]*\w|(?:[\w.-]+/)*bin/[\w.-]*\w")
_SCRIPT = re.compile(r"(?:[\w.@+-]+/)*[\w@+-]+\.(?:py|sh|js|mjs|rb|pl|bash)")
# What scripts are called with, also where it is a word of sentences.
_WORDS_OF_SCRIPTS = ("all", "down", "help", "now", "run", "start", "stop", "up")
_OF_A_PATH = Program(
    {"*": 1},
    frozenset(),
    frozenset(_WORDS_OF_SCRIPTS),
    needs_arguments=False,
    is_english=False,
)
# A file with one of these endings is not a program.
_DATA = re.compile(r".*\.(?:json|md|txt|toml|ya?ml|cfg|ini|csv|html|css|lock|xml|rst|log|png)")

_FENCE = re.compile(r"(?P<lead>.*?)(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+-]*)[ \t]*\n"
                    r"(?P<code>.*?)\n?[ \t]*(?P=fence)\s*", re.DOTALL)  # fmt: skip
_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "console", "shellsession", "terminal"})
_LEAD = re.compile(
    r"\s*(?:[$!]|(?:(?:please|can you|could you|now|then)[,\s]+)*(?:run|execute|try)"
    r"(?:\s+(?:this|that|these|it|the following|following|the)\b)*"
    r"(?:\s+(?:shell\s+)?(?:commands?|scripts?|lines?|code))?)\s*:?\s*",
    re.IGNORECASE,
)


def command_line(text: str, *, is_marked: bool = False, needs_evidence: bool = False) -> str | None:
    """The command that a line is; None for everything else.

    Marked is what follows a word such as `run`: there a script of the project is a program, too.
    Evidence is an option or an operator, which no sentence has.
    """
    line = _without_end(text.strip())
    if "\n" in line or not line:
        return None
    words = _WORD.findall(line)
    if needs_evidence and not any(map(_is_evidence, words[1:])):
        return None
    segment: list[str] = []
    for word in [*words, ";"]:
        if word not in _OPERATORS:
            segment.append(word)
        elif not _is_command(segment, is_marked):
            return None
        else:
            segment = []
    first = next(word for word in words if not _ASSIGNMENT.fullmatch(word))
    # Phones begin a line with a capital.
    return line.replace(first, first.lower(), 1) if first.lower() in PROGRAMS else line


def _is_evidence(word: str) -> bool:
    """Whether no sentence has such a word: an option, an operator, `..`."""
    return bool(_OPTION.fullmatch(word)) or word in _OPERATORS or not word.strip("./~")


def _without_end(line: str) -> str:
    """The line without the mark and the politeness that end a sentence; a path keeps its dots."""
    line = re.sub(r",?\s+(?:please|pls|for me|thanks|thank you)\s*[.!]*$", "", line, flags=re.I)
    last = line.split()[-1] if line else ""
    is_path = not last.strip("./~") or last.endswith(("/.", ".."))
    return line if is_path else line.rstrip("!?.").rstrip()


def _is_command(words: Sequence[str], is_marked: bool) -> bool:
    """Whether the words of one command are a program and its arguments."""
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in ("sudo", "time")):
        words = words[1:]
    if not words:
        return False
    program = PROGRAMS.get(words[0].lower())
    if is_marked and words[0] == "echo":
        # It prints whatever words it is given.
        return True
    if program is not None:
        return _takes(replace(program, is_english=False) if is_marked else program, words[1:])
    is_path = _PATH_PROGRAM.fullmatch(words[0]) or (is_marked and _SCRIPT.fullmatch(words[0]))
    return bool(is_path) and not _DATA.fullmatch(words[0]) and _takes(_OF_A_PATH, words[1:])


def _takes(program: Program, words: Sequence[str]) -> bool:
    """Whether a program takes these words."""
    if not words:
        return not program.needs_arguments
    room, plain, before = program.subcommands.get("*", 0), 0, ""
    has_argument = has_subcommand = False
    for word in words:
        if word in program.subcommands and not has_subcommand and not plain and word != "*":
            room = program.subcommands[word]
            has_argument = has_subcommand = True
        elif word.lower().replace("’", "'") in PROSE and word not in program.words:
            return False
        elif _PLAIN.fullmatch(word):
            if before not in program.options:
                plain += 1
        elif _OPTION.fullmatch(word):
            has_argument = True
        elif program.subcommands and not has_subcommand and "*" not in program.subcommands:
            return False
        elif _is_argument(word):
            has_argument = True
        elif not _NUMBER.fullmatch(word):
            return False
        elif not program.subcommands:
            has_argument = not program.is_english
        before = word
    is_enough = has_argument or not program.needs_arguments
    return plain <= room and (is_enough or (plain > 0 and not program.is_english))


def _is_argument(word: str) -> bool:
    """Whether a word has the form of an argument and not that of a word or its punctuation."""
    if word in ("*", "@", "{}") or not word.strip("./~"):
        return True
    if _NUMBER.fullmatch(word) or not re.search(r"[A-Za-z0-9*$]", word):
        return False
    if word[0] in "\"'`":
        return True
    if word[-1] in ",:;!?…" or re.fullmatch(r"(?:[A-Za-z]\.)+|etc\.?|[^\W\d_]+/[^\W\d_]+", word):
        # A folder of one word and another, `src/app`, looks like `and/or`, and is not English.
        parts = word.lower().split("/")
        return "/" in word and word[-1] not in ",:;!?…" and not PROSE.intersection(parts)
    return re.search(r"[./_=*:@~$<>{}\[\]\d\\^]", word) is not None


def quoted_command(text: str) -> str | None:
    """What stands in backquotes or quotes, when that is the whole text."""
    bare = text.strip()
    for mark in ("`", '"', "'"):
        if len(bare) > 2 and bare[0] == bare[-1] == mark and mark not in bare[1:-1]:
            return bare[1:-1].strip() or None
    return None


def given_command(text: str) -> Intent | None:
    """The command behind `$` or `/run`, word for word: one line, or what a fence holds."""
    bare = text.strip()
    if not bare:
        return None
    fenced = fenced_command(f"$ {bare}")
    if fenced is not None:
        return fenced
    if "\n" in bare:
        return Intent("several_lines", {"command": bare})
    whole = len(bare) > 2 and bare[0] == bare[-1] == "`" and "`" not in bare[1:-1]
    command = bare[1:-1].strip() if whole else bare
    return Intent("run", {"command": command}) if command else None


def fenced_command(text: str) -> Intent | None:
    """The commands in a fence that the user asks to run; None for any other text."""
    match = _FENCE.fullmatch(text)
    if match is None:
        return None
    is_asked = _LEAD.fullmatch(match["lead"]) is not None
    is_shell = match["language"].lower() in _SHELLS
    if not (is_asked and (is_shell or not match["language"])) and not (
        is_shell and not match["lead"].strip()
    ):
        return None
    lines = match["code"].split("\n")
    if any(line.startswith("$ ") for line in lines):
        # A session as it is pasted: what follows the sign was typed, the rest was printed.
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    command = "\n".join(lines).strip()
    return Intent("run", {"command": command}) if command else None

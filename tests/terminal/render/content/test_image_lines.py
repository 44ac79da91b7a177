"""Pictures: what is said of them, and how they are drawn without garbling the screen."""

from __future__ import annotations

import re
import struct
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.render.content.image_decoder import RAW_BYTES_MAX, image_facts, read_png
from accord.terminal.render.content.image_lines import (
    SENT_MAX,
    Transmissions,
    image_lines,
    image_mode,
    transmissions,
)
from tests.terminal.render.scene import a_look, check, png, text_of

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xd0\xff\xc4\x00\x03x\xff\xc2\x00\x11\x08"
    + struct.pack(">HH", 480, 640)
    + b"rest"
)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (png(64, 48), ("png", 64, 48)),
        (b"GIF89a" + struct.pack("<HH", 3, 4), ("gif", 3, 4)),
        (JPEG, ("jpeg", 640, 480)),
        (b"RIFF....WEBPVP8X" + bytes(8) + b"\x09\0\0\x13\0\0", ("webp", 10, 20)),
        (b"RIFF....WEBPVP8L" + bytes(5) + struct.pack("<I", 9 | 19 << 14), ("webp", 10, 20)),
        (b"RIFF....WEBPVP8 " + bytes(10) + struct.pack("<HH", 10, 20), ("webp", 10, 20)),
        (b"RIFF....WEBPxxxx" + bytes(20), None),
        (b"RIFF....WEBPVP8X", None),
        (b"\xff\xd8", None),
        (b"\xff\xd8xx", None),
        (b"\xff\xd8" + b"\xff\xd0" * 2000, None),
        (b"nothing", None),
        (b"\x89PNG\r\n\x1a\n....IHDR", None),
    ],
)
def test_type_and_size_are_read_from_the_first_bytes(
    data: bytes, facts: tuple[str, int, int] | None
) -> None:
    """Issue 6: images as a placeholder with size."""
    assert image_facts(data) == facts


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8", b"RIFF....WEBP", png(4, 4)[:40]]))
def test_no_bytes_are_an_error(data: bytes, begin: bytes) -> None:
    """Ours: an agent may call anything a picture."""
    image_facts(begin + data)
    read_png(begin + data)


@pytest.mark.parametrize("colour", [0, 2, 3, 4, 6])
@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_pngs_of_every_kind_are_read(colour: int, depth: int) -> None:
    """Ours: what a terminal without pictures draws in letters."""
    pixels = read_png(png(5, 6, colour=colour, depth=depth, filters=b"\0\1\2\3\4"))
    if (colour in (2, 4, 6) and depth < 8) or (colour, depth) == (3, 16):
        # There is no such thing.
        assert pixels is None
        return
    assert pixels is not None
    assert [len(row) for row in pixels.rows] == [15] * 6


def test_filters_are_undone() -> None:
    """PNG, section 9."""
    plain = read_png(png(2, 1, colour=2))
    assert plain is not None
    assert plain.rows == [bytes(range(6))]
    left = read_png(png(2, 1, colour=2, filters=b"\1"))
    assert left is not None
    assert left.rows == [bytes([0, 1, 2, 3, 5, 7])]
    paeth = read_png(png(1, 2, colour=0, filters=b"\0\4"))
    assert paeth is not None
    assert paeth.rows == [bytes(3), bytes([1, 1, 1])]


def test_what_is_too_large_or_broken_is_not_drawn() -> None:
    """Ours: reading a picture takes no longer than a blink."""
    side = int(RAW_BYTES_MAX**0.5)
    assert read_png(png(side, side)) is None
    good = png(4, 4)
    assert read_png(good[:60]) is None
    assert read_png(good.replace(b"IDAT", b"JDAT")) is None
    interlaced = good[:28] + b"\1" + good[29:]
    assert read_png(interlaced) is None
    assert read_png(b"\x89PNG\r\n\x1a\n") is None


def test_one_line_says_type_size_and_name() -> None:
    """Issue 6: images as a placeholder with size."""
    (strip,) = image_lines(png(64, 48), "image/\x1b[1mpng", a_look(), "a.png")
    assert re.fullmatch(r"▣ image/png  64×48  [\d.]+ (kB|bytes)  a.png", strip.text)
    assert "1 byte" in image_lines(b"?", "", a_look(unicode=False))[0].text


def test_kitty_gets_the_picture_once_and_letters_stand_for_it() -> None:
    """Issue 6: drawn where the terminal can."""
    transmissions.forget()
    look, data = a_look(images="kitty"), png(100, 80)
    strips = image_lines(data, "image/png", look)
    image_lines(data, "image/png", look)
    sent = transmissions.take()
    assert transmissions.take() == ""
    check(strips, 80)
    assert len(strips) == 5
    assert [strip.cell_length for strip in strips[1:]] == [10] * 4
    frames = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent)
    assert frames[0][0].startswith("a=T,U=1,i=1,f=100,c=10,r=4,q=2,m=")
    assert frames[-1][0].endswith("m=0")
    assert b64decode("".join(payload for _, payload in frames)) == data
    assert re.sub(r"\x1b_G[A-Za-z0-9=,]*;[A-Za-z0-9+/=]*\x1b\\", "", sent) == ""
    drop = "\x1b_Ga=d,d=I,i={},q=2\x1b\\"
    image_lines(data, "image/png", a_look(8, images="kitty"))
    assert transmissions.take().startswith(drop.format(1) + "\x1b_Ga=T,U=1,i=2,f=100,c=8,r=3,q=2")
    assert transmissions.forget() == drop.format(2)


def test_the_terminal_is_not_given_pictures_without_end() -> None:
    """Ours: everything has a bound."""
    sending = Transmissions()
    told: list[int] = []
    sending.on_waiting = lambda: told.append(1)
    numbers = [sending.number_of(b"%d" % one, 1, 1) for one in range(SENT_MAX + 1)]
    assert numbers == [*range(1, SENT_MAX + 1), None]
    assert len(told) == SENT_MAX
    assert Transmissions().number_of(bytes(9_000_000), 1, 1) is None


def test_elsewhere_pictures_are_half_blocks() -> None:
    """Issue 6: drawn where the terminal can; never painted over the letters."""
    strips = image_lines(png(100, 80), "image/png", a_look(images="sixel"))
    assert text_of(strips).split("\n")[1:] == ["▀" * 10] * 4
    assert len(image_lines(png(100, 80)[:60], "image/png", a_look(images="sixel"))) == 1
    assert len(image_lines(JPEG, "image/jpeg", a_look(images="kitty"))) == 1
    assert len(image_lines(png(0, 4), "image/png", a_look(images="sixel"))) == 1
    wide = image_lines(png(1000, 10, colour=0), "image/png", a_look(30, images="sixel"))
    check(wide, 30)


@pytest.mark.parametrize(
    ("environ", "mode"),
    [
        ({}, "none"),
        ({"TERM": "xterm-256color"}, "none"),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"}, "none"),
        ({"TERM": "tmux-256color"}, "none"),
        ({"TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM_PROGRAM": "WezTerm"}, "sixel"),
        ({"TERM_PROGRAM": "iTerm.app"}, "sixel"),
        ({"TERM": "foot"}, "sixel"),
    ],
)
def test_what_the_terminal_can_is_told_by_its_environment(
    environ: dict[str, str], mode: str
) -> None:
    """Issue 6: drawn where the terminal can."""
    assert image_mode("auto", environ) == mode
    assert image_mode("none", environ) == "none"
    assert image_mode("kitty", environ) == "kitty"

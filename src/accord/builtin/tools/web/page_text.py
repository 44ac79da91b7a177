"""The text of a web page: without its markup, with its headings, lists and links.  Pure.

What always holds
    * Any text is taken, in time linear in its length: pages come from anywhere.

(The standard library's parser needs quadratic time for some broken pages.)
"""

from __future__ import annotations

import html
import re

_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "object"})
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|caption|dd|details|div|dl|dt|fieldset|figcaption|figure"
    "|footer|form|h[1-6]|head|header|hr|html|li|main|nav|ol|p|pre|section|summary|table|tbody"
    "|tfoot|thead|title|tr|ul"
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_TAG_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,40}")
_HREF = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_HREF_CHARACTERS_MAX = 2_000


def page_text(page: str) -> str:
    """The text that a reader of the page sees."""
    return _Page().read(page)


class _Page:
    """One pass over a page."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._kept_blanks = 0
        self._link: str | None = None

    def read(self, page: str) -> str:
        position = 0
        while True:
            start = page.find("<", position)
            if start < 0:
                break
            self._text(page[position:start])
            position = self._markup(page, start)
        self._text(page[position:])
        self._end_line()
        text = "\n".join(self._lines)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _markup(self, page: str, start: int) -> int:
        """Take what begins with "<" and return where it ends."""
        if page.startswith("<!--", start):
            return _behind(page, "-->", start + 4)
        name = _TAG_NAME.match(page, start + (2 if page.startswith("</", start) else 1))
        if name is None:
            if page.startswith(("<!", "<?", "</"), start):
                return _behind(page, ">", start)
            # A sign, not markup, as in "a < b".
            self._text("<")
            return start + 1
        end = _behind(page, ">", start)
        tag = name.group().lower()
        if page.startswith("</", start):
            self._close(tag)
        else:
            self._open(tag, page[name.end() : min(end, name.end() + _HREF_CHARACTERS_MAX)])
            if tag in _UNSEEN and page[end - 2 : end] != "/>":
                closing = re.compile(f"</{tag}", re.IGNORECASE).search(page, end)
                return len(page) if closing is None else _behind(page, ">", closing.start())
        return end

    def _open(self, tag: str, attributes: str) -> None:
        if _BLOCK.fullmatch(tag):
            self._end_line()
        if tag == "br":
            self._end_line(blank=False)
        elif tag == "li":
            self._line.append("- ")
        elif tag in _HEADINGS:
            self._line.append(_HEADINGS[tag])
        elif tag == "pre":
            self._kept_blanks += 1
        elif tag in ("td", "th"):
            self._line.append(" ")
        elif tag == "a":
            found = _HREF.search(attributes)
            target = "" if found is None else next((g for g in found.groups() if g), "")
            self._link = html.unescape(target) if target.startswith(("http:", "https:")) else None

    def _close(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            if self._line and self._line[-1].strip() != self._link:
                self._line.append(f" ({self._link})")
            self._link = None
        elif tag == "pre":
            self._end_line()
            self._kept_blanks = max(self._kept_blanks - 1, 0)
        if _BLOCK.fullmatch(tag):
            self._end_line(blank=tag != "li")

    def _text(self, text: str) -> None:
        if not text:
            return
        text = html.unescape(text)
        if self._kept_blanks:
            first, *others = text.split("\n")
            self._line.append(first)
            for line in others:
                self._end_line(blank=False)
                self._line.append(line)
        else:
            self._line.append(re.sub(r"\s+", " ", text))

    def _end_line(self, *, blank: bool = True) -> None:
        line = "".join(self._line)
        self._line = []
        line = line.rstrip() if self._kept_blanks else re.sub(r" {2,}", " ", line).strip()
        if line:
            self._lines.append(line)
        if (not line and not blank) or (line and blank):
            self._lines.append("")


def _behind(page: str, end: str, start: int) -> int:
    """The position after `end`; the end of the page if it never comes."""
    at = page.find(end, start)
    return len(page) if at < 0 else at + len(end)

"""A run as one self-contained page of HTML, with the transcript of each check.

What always holds: everything that a judged program sent is escaped, twice over: control
characters first, then what HTML reads as its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from accord.conformance.frames.raw_peer import Frame
from accord.conformance.reports.terminal_table import again, grouped, told_unjudged, ways_on, word
from accord.conformance.reports.untrusted_text import plain
from accord.conformance.run.check_runner import CheckRun
from accord.conformance.run.verdicts import Report, Result

# The number of frames that a page shows of one conversation.
FRAMES_MAX = 400
FRAME_CHARACTERS_MAX = 1_000

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .3rem .6rem; text-align: left;
  border-bottom: 1px solid #d8dee4; vertical-align: top; }
td:first-child, code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f8fa; padding: .6rem; }
.pass { color: #116329; } .fail { color: #a40e26; font-weight: 600; } .other { color: #6e5a00; }
details { margin: .2rem 0; } .sent { color: #0a3069; } .came { color: #4d2d00; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; }
  pre { background: #161b22; } td, th { border-color: #30363d; } .pass { color: #56d364; }
  .fail { color: #ff7b72; } .other { color: #d4a72c; } .sent { color: #79c0ff; }
  .came { color: #f0b072; } }
"""


def as_html(reports: Sequence[Report]) -> str:
    """Return a page with all runs."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>accord check</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body>",
        "<h1>accord check</h1>",
    ]
    for report in reports:
        parts += _report(report)
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _report(report: Report) -> Iterator[str]:
    marks = {"conformant": "pass", "not conformant": "fail", "incomplete": "other"}
    mark, verdict = marks[report.conclusion], report.conclusion
    yield f"<h2>{escape(report.role)}, version {escape(report.version)}: "
    about = " (of the selected rules)" if report.selected else ""
    yield f'<span class="{mark}">{verdict}</span>{about}</h2>'
    yield f"<p><code>{escape(plain(' '.join(report.command)))}</code></p>"
    if report.unjudged or report.conclusion == "incomplete":
        yield f"<p>{escape(told_unjudged(report))}</p><ul>"
        for reason, ids in grouped(report.unjudged).items():
            yield f"<li>{escape(plain(reason))}: {escape(', '.join(ids))}</li>"
        yield "</ul>"
        if report.conclusion == "incomplete":
            yield "<p>" + "<br>".join(escape(line) for line in ways_on(report)) + "</p>"
    yield "<table><tr><th>rule</th><th>verdict</th><th>tier</th><th></th></tr>"
    for result in report.results:
        yield _row(report, result)
    yield "</table><h2>Transcripts</h2>"
    for run in report.runs:
        if run.conversations:
            yield from _transcript(run)


def _row(report: Report, result: Result) -> str:
    mark = result.verdict if result.verdict in ("pass", "fail") else "other"
    rule = result.rule
    said = "".join(
        f"<pre>{escape(check)}: {escape(plain(one.said))}\n"
        f"sent {escape(plain(one.sent))}\ncame {escape(plain(one.came))}</pre>"
        for check, one in result.findings[:3]
        if result.verdict == "fail"
    )
    if result.verdict == "fail":
        said += f"<p><code>{escape(again(report, rule.id))}</code></p>"
    elif result.verdict != "pass":
        said = f"<p>{escape(plain(result.said or rule.unseen))}</p>"
    return (
        f'<tr id="{escape(rule.id)}-{report.version}"><td>{escape(rule.id)}</td>'
        f'<td class="{mark}">{word(result)}</td><td>{escape(rule.tier)}</td>'
        f"<td>{escape(rule.sentence)}{said}</td></tr>"
    )


def _transcript(run: CheckRun) -> Iterator[str]:
    yield f"<details><summary>{escape(run.check.name)}, {run.seconds:.2f} s</summary>"
    for frames in run.conversations:
        lines = [_line(one) for one in frames[:FRAMES_MAX]]
        if len(frames) > FRAMES_MAX:
            lines.append(f"and {len(frames) - FRAMES_MAX} more")
        yield "<pre>" + "\n".join(lines) + "</pre>"
    if run.stderr:
        yield f"<pre>stderr: {escape(plain(run.stderr))}</pre>"
    yield "</details>"


def _line(frame: Frame) -> str:
    mark, arrow = ("sent", "→") if frame.sent else ("came", "←")
    text = frame.raw.decode("utf-8", "backslashreplace").rstrip()
    shown = escape(plain(text, characters_max=FRAME_CHARACTERS_MAX))
    return f'<span class="{mark}">{frame.at:8.3f} {arrow} {shown}</span>'

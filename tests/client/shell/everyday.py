"""Commands that agents run every day and that have nothing to do with `rm`."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).with_name("everyday_commands.txt")
_SEVERAL_LINES = (
    "git commit -m \"$(cat <<'MSG'\nAdd the parser\n\nIt has no rm in it.\nMSG\n)\"",
    'python3 -c "\nimport sys\nfor line in sys.stdin:\n    print(line.strip())\n" < data.txt',
    "python - <<'PY'\nprint(\"hello\")\nPY",
    "cat > /tmp/check.py <<'PY'\nimport sys\nprint(sys.argv)\nPY\npython /tmp/check.py a b",
    "cat <<'EOT' > config.toml\n[section]\nkey = \"rm\"\nEOT",
    "cat > src/a.ts <<'EOT'\nexport const rm = 1;\nEOT",
)


def everyday_commands() -> list[str]:
    """The commands of the file, one per line, and those that have several lines."""
    return [*_FILE.read_text().splitlines(), *_SEVERAL_LINES]


__all__ = ["everyday_commands"]

"""What looks like a secret is recognised, and what is none stays readable."""

import pytest

from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK, names_secret

SECRETS = [
    "curl -H 'Authorization: Bearer abcdef123456' https://example.org",
    'curl -H "X-Api-Key: abcdef" https://example.org',
    "export OPENAI_API_KEY=abcdef123456",
    "OPENAI_API_KEY='abcdef 123456' run",
    "DB_PASSWORD=abcdef run",
    "deploy --password abcdef123456",
    "deploy --password abcdef",
    "deploy --api-key=abcdef123456",
    'echo {"token": "abcdef123456"}',
    "git clone https://me:abcdef123456@example.org/x.git",
    "use sk-abcdef123456abcdef123456 here",
    "push with ghp_abcdef123456abcdef123456abcdef",
    "Basic abcdef123456==",
    "jwt eyJabcdef123456.eyJabcdef123456.abcdef123456",
    "X-Api-Key: abcdef123456",
    "note: password=abcdef123456",
    "a=b token: abcdef123456",
    "curl -H 'Authorization: token abcdef123456' https://example.org",
    "curl -s -u me:abcdef https://example.org",
    "sshpass -p abcdef ssh host",
    "docker login -u me -p abcdef example.org",
    "mysql -ume -pabcdef base",
    "MYSQL_PWD=abcdef mysql base",
    "use gsk_abcdef123456abcdef123456",
    "use nvapi-abcdef123456-abcdef123456",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nabcdef",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_replaced_and_the_rest_stays(text: str) -> None:
    """Issue 3: no secrets in the audit log."""
    shown = Redactor().line(text)
    assert "abcdef" not in shown
    assert MARK in shown
    assert shown.split()[0].split("=")[0].split("'")[0] in text


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "python -m pytest tests/test_tokens.py",
        "ls -la /etc",
        "Edit src/keys.py",
        "",
        "env GRADLE_OPTS=-Xmx2g JAVA_HOME=/opt/jdk-21 ./gradlew build",
        "env LD_PRELOAD=./evil.so make",
        "deploy --token-file /run/secrets/token --key-count 12",
        "TOKEN=$TOKEN deploy",
        "SSH_AUTH_SOCK=/run/user/1000/ssh-agent ssh host",
        "docker run -u 1000:1000 -p 8080:80 image",
        "curl -u $LOGIN:$REST https://example.org",
        "OLDPWD=/home/me/work make",
        "mkdir -p build",
    ],
)
def test_what_is_none_stays_as_it_is(text: str) -> None:
    """Issue 12: harmless variables were masked, and the command was hidden instead."""
    assert Redactor().line(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("use sk-abcdef123456abcdef123456 here", f"use {MARK} here"),
        ("git clone https://me:pw@example.org/x", f"git clone https://{MARK}@example.org/x"),
        ("Bearer abcdef123456", f"Bearer {MARK}"),
        ("-----BEGIN PRIVATE KEY-----\nMII", f"-----BEGIN PRIVATE KEY-----{MARK}"),
        ("token = read(password=name)", "token = read(password=name)"),
        ("api_key = abcdef123456", "api_key = abcdef123456"),
    ],
)
def test_by_form_alone_a_name_makes_nothing_secret(text: str, told: str) -> None:
    """Ours: for text that must stay what it is otherwise, such as source code."""
    assert Redactor().by_form.text(text) == told


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        *((one, True) for one in ("OPENAI_API_KEY", "accessToken", "X-Api-Key", "password")),
        *((one, True) for one in ("Authorization", "client_secret", "GITHUB_PAT", "cookie")),
        *((one, False) for one in ("GRADLE_OPTS", "progressToken", "inputTokens", "tokenType")),
        *((one, False) for one in ("PASSWORD_FILE", "SSH_AUTH_SOCK", "keys", "author")),
    ],
)
def test_a_name_says_whether_its_value_is_secret(name: str, is_secret: bool) -> None:
    """Ours: variables, options, headers and keys of JSON have one rule."""
    assert names_secret(name) is is_secret

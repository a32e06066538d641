"""Secrets in the texts of others, in every form that drivers, mount programs and AWS write them, are taken out."""

import time
from pathlib import Path

import pytest

from nomad_csi.health import events
from nomad_csi.text import foreign, redaction
from tests import tables
from tests.text import spelled

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2


SECRETS = tables.load(Path(__file__).with_name("named_secrets.yaml"))
"""Texts with a secret, and how each is shown."""


@pytest.mark.parametrize(("text", "shown"), SECRETS)
def test_secrets_are_taken_out(text, shown):
    """The name stays, and what stands around; a text that was cleaned stays as it is."""
    assert foreign.clean(text) == shown
    assert foreign.clean(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "kms key: arn:aws:kms:us-east-1:123456789012:key/0123abcd-12ab-34cd-56ef-1234567890ab",
        "unknown key: region",
        "commit 356a192b7913b04c54574d18c28d46e6395428ab",
        "bypass=1 compass: north",
        "https://nas.example:8443/x@y",
        "dial tcp 127.0.0.1:4646: connect: connection refused",
        "the password is wrong",
        "password=<nil> token=nil pass=NULL pw=None psk=<none> secret=<unset> secrets:***stripped*** token=",
        "credentials=/etc/cifs-credentials: no such file",
        "token: denied. password: dialer: wrong (token: expired)",
        "token=${TOKEN} AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token",
        "volume vol-0123456789abcdef0 in us-east-1a: AttachVolume: VolumeInUse",
    ],
)
def test_what_is_no_secret_stays(text):
    """The cause of a failure is worth most."""
    assert foreign.clean(text) == text


REAL = tables.load(Path(__file__).with_name("real_errors.yaml"))


@pytest.mark.parametrize("text", [text for each in REAL for text in each["texts"]])
def test_real_error_without_a_secret_stays(text):
    """Whatever it says of tokens and passwords; secrets that are known and not in it change nothing."""
    assert redaction.redact(text, spelled.SECRETS.values()) == text


def test_private_key_in_a_log_goes_with_all_its_lines():
    """Though each line of a log is a cause of its own."""
    text = f"before\n-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----\nafter\n"

    assert [cause.text for cause in events.cause_of_log("here", text)] == ["before", "[secret]", "after"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["a", "b.", "a ", "A1b/", "password ", "abcdefghabcdefgh\n"])
def test_long_text_takes_no_long_time(part):
    """What a log repeats without an end is gone through once."""
    text = part * 20_000

    assert redaction.redact(text) == text


HOSTILE = [
    *(
        "secret",
        "secret.",
        "access_key_",
        "token=",
        "token ",
        'token="',
        "token=map[",
        'token={\\"',
        "--token ",
        "password: ",
        "key=a",
    ),
    *("a://", "a://b:", "a://b:@", "a@", "X-a-Token ", "bearer ", "token=bearer ", "eyJ", "eyJa.", "A1b/", "aA1"),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN A",
        "-----END PRIVATE KEY-----",
        "abcdefghabcdefgh\n",
        '\\"',
        '"secret"',
    ),
]


@pytest.mark.parametrize("part", HOSTILE)
def test_time_grows_with_the_length_of_a_hostile_text(part):
    """What a plugin answers on purpose: 64 KiB of it took minutes where each place was checked again and again."""
    text = (part * 65_536)[:65_536]

    begun = time.thread_time()
    redaction.redact(text)

    assert time.thread_time() - begun < 3


def test_text_that_is_far_too_long_is_cut_first():
    """Megabytes of a provider's name cost what their two ends do; no word is cut in two."""
    text = f"first token=hunter2 {'secret.' * 1_000_000} password=hunter2 last"

    begun = time.thread_time()
    shown = foreign.clean(text)

    assert time.thread_time() - begun < 3
    assert shown.startswith("first token=[secret] ")
    assert shown.endswith("password=[secret] last")
    assert len(shown) <= foreign.LIMIT


@pytest.mark.parametrize("size", range(foreign.WINDOW - 40, foreign.WINDOW + 40, 3))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(size):
    """Wherever it stands: everything else is taken out, so that the cut would be seen."""
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    filler = "token="
    text = f"{filler}{'x' * (size - len(filler))} {secret} {'y ' * 20_000}{secret} {filler}{'x' * (size - len(filler))}"

    shown = foreign.clean(text)

    assert not [end for end in range(4, 40) if secret[:end] in shown or secret[-end:] in shown]

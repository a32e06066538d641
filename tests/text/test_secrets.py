"""What looks like a secret, by name or by form: the same for imports, lint rules, specs and logs."""

from pathlib import Path

import pytest

from nomad_csi.text import redaction, secrets
from tests import tables

ROWS = tables.load(Path(__file__).with_name("secrets.yaml"))


@pytest.mark.parametrize(("name", "value"), ROWS["secrets"])
def test_values_that_are_secrets(name, value):
    """By the word in the name, or by themselves."""
    assert secrets.is_secret(name, value)
    assert secrets.keys_of({name: value, "size": "1"}) == [name]


@pytest.mark.parametrize(
    "name",
    [
        *("secret", "passwd", "password", "passphrase", "token", "signature", "credential", "authorization", "dhchap"),
        *("apiKey", "access_key", "account-key", "admin key", "userKey", "private_key", "encryptionKey"),
        *("pass", "db_pwd", "pw", "psk", "registry.auth"),
    ],
)
def test_each_word_names_a_secret(name):
    """In either case, and for a spec and a text alike."""
    assert [secrets.names_secret(each) for each in (name, name.upper(), f"my_{name}")] == [True, True, True]
    assert secrets.is_secret(name, "hunter2")
    assert " " in name or redaction.redact(f"{name}=hunter2") == f"{name}=[secret]"


def test_users_and_places_among_the_secrets_are_none():
    """A volume may have the name of one; all other names hold what is hidden."""
    shown = ["username", "userID", "region", "endpoint", "domain", "clusterID", "url"]
    hidden = ["key", "userKey", "accessKeyID", "password", "pass", "secretName", "encryptionPassphrase", "data", ""]

    assert [secrets.is_open(name) for name in [*shown, *hidden]] == [True] * len(shown) + [False] * len(hidden)


@pytest.mark.parametrize("name", ["key", "bypass", "author", "tokyo", "passive", "keyring", "accessMode"])
def test_other_words_name_none(name):
    """Though they have some of the same letters."""
    assert not secrets.has_secret_word(name)
    assert redaction.redact(f"{name}=hunter2") == f"{name}=hunter2"


@pytest.mark.parametrize(("name", "value"), ROWS["none"])
def test_values_that_are_none(name, value):
    """Empty, filled in elsewhere, where a secret is, or of a form that is only hidden in texts."""
    assert not secrets.is_secret(name, value)


@pytest.mark.parametrize(("flag", "expected"), ROWS["flags"])
def test_mount_flags(flag, expected):
    """As mount.cifs and mount.ceph take them."""
    assert secrets.flag_has_secret(flag) is expected


@pytest.mark.parametrize(("argument", "expected"), ROWS["arguments"])
def test_arguments(argument, expected):
    """With a flag or without."""
    assert secrets.argument_has_secret(argument) is expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--token", "abc1"], [False, True]),
        (["--token=abc1", "x"], [True, False]),
        (["--o", "password=abc1"], [False, True]),
        (["password", "abc1"], [False, False]),  # two words, and no option
        (["--token", "--v=2"], [False, False]),  # an option without a value
        (["--v", "2", "--token", "${X}"], [False, False, False, False]),
    ],
)
def test_value_of_an_option_may_be_its_next_word(arguments, expected):
    """Of an option only, and not where another option follows."""
    assert secrets.hidden(arguments) == expected

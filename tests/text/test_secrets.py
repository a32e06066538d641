"""What looks like a secret, by name or by form: the same for imports, lint rules, specs and logs."""

import pytest

from nomad_csi.text import redaction, secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password", "x"),
        ("PGPASSWORD", "x"),
        ("csi.storage.k8s.io/pw", "x"),
        ("db_pwd", "x"),
        ("apiKey", "x"),
        ("api-key", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("userKey", "x"),
        ("passphrase", "x"),
        ("credentials", "x"),
        ("CONNECTION", "postgres://u:hunter2@h/db"),
        ("CONNECTION", "amqp+ssl://u:p@[::1]:5671"),
        ("anything", "AKIAIOSFODNN7EXAMPLE"),
        ("anything", "-----BEGIN RSA PRIVATE KEY-----"),
        ("anything", "hvs.CAESIJ0123456789abcdef"),
        ("anything", "dop_v1_0123456789abcdef0123"),
    ],
)
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password", ""),
        ("password", " "),
        ("password", "${PASSWORD}"),
        ("password", "{{ with secret }}x{{ end }}"),
        ("password_file", "/etc/pw"),
        ("secretName", "x"),
        ("csi.storage.k8s.io/provisioner-secret-namespace", "default"),
        ("TOKEN_TTL", "60"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/x"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/gcp.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "${NOMAD_SECRETS_DIR}/gcp.json"),
        ("signature_version", "s3v4"),
        ("bypass", "1"),
        ("CONNECTION", "postgres://u@h/db"),
        ("CONNECTION", "postgres://u:${PW}@h/db"),
        ("CONNECTION", "https://h:8443/x@y"),
        ("kms_key_id", "arn:aws:kms:us-east-1:1:key/a"),
        ("note", "https://a1b2c3d4e5f6a7b8c9d0@git.example/x"),
        ("note", "key=AQhunter2=="),
        ("note", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("note", "IQoJb3JpZ2luX2VjEXAMPLE"),
        ("note", "eyJhbGciOiJ9.eyJzdWIiOiI.x"),
        ("note", "Bearer hunter2"),
    ],
)
def test_values_that_are_none(name, value):
    """Empty, filled in elsewhere, where a secret is, or of a form that is only hidden in texts."""
    assert not secrets.is_secret(name, value)


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("password=hunter2", True),
        ("username=u,password=hunter2", True),
        ("pass=hunter2", True),
        ("secret=AQBhunter2==", True),
        ("url=https://u:hunter2@h", True),
        ("noatime", False),
        ("credentials=/etc/cifs-credentials", False),
        ("secretfile=/etc/ceph/key", False),
        ("sec=krb5,vers=3.0", False),
        ("password=", False),
    ],
)
def test_mount_flags(flag, expected):
    """As mount.cifs and mount.ceph take them."""
    assert secrets.flag_has_secret(flag) is expected


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("--token=abc", True),
        ("--password=x${Y}", True),
        ("-o=username=u,password=hunter2", True),
        ("password=hunter2", True),
        ("--dsn=postgres://u:hunter2@h", True),
        ("postgres://u:hunter2@h", True),
        ("--token=${TOKEN}", False),
        ("--token-file=/x", False),
        ("--endpoint=${CSI_ENDPOINT}", False),
        ("controller", False),
    ],
)
def test_arguments(argument, expected):
    """With a flag or without."""
    assert secrets.argument_has_secret(argument) is expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--token", "abc1"], [False, True]),
        (["--token=abc1", "x"], [True, False]),
        (["password", "abc1"], [False, False]),  # two words, and no option
        (["--token", "--v=2"], [False, False]),  # an option without a value
        (["--v", "2", "--token", "${X}"], [False, False, False, False]),
    ],
)
def test_value_of_an_option_may_be_its_next_word(arguments, expected):
    """Of an option only, and not where another option follows."""
    assert secrets.hidden(arguments) == expected

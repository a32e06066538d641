"""Texts that a stack's config encrypts: found by comparison with its file, and refused where they would be shown."""

import copy
import datetime as dt

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage
from nomad_csi.spec import encrypted

SECURE = {"secure": "v1:abc"}
KNOWN = {
    "protect": True,
    "volumes": [
        {"id": "a", "secrets": {"token": "T0ken", "user": "me"}, "mount_options": {"mount_flags": ["ro", "pw=x"]}}
    ],
}


def written(**volume):
    """The same spec as the file holds it."""
    document = copy.deepcopy(KNOWN)
    document["volumes"][0] |= volume
    return document


def leaves(value, path=()):
    """Return the texts that are encrypted, by their place."""
    if isinstance(value, encrypted.Encrypted):
        return {path: value.text}
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {place: text for key, item in inside for place, text in leaves(item, (*path, key)).items()}


def test_texts_are_found_that_the_file_encrypts():
    """Each with its own text; what stands beside them stays as it is."""
    file = written(secrets={"token": SECURE, "user": "me"}, mount_options={"mount_flags": ["ro", SECURE]})

    found = encrypted.mark_encrypted(KNOWN, file)

    assert leaves(found) == {
        ("volumes", 0, "secrets", "token"): "T0ken",
        ("volumes", 0, "mount_options", "mount_flags", 1): "pw=x",
    }
    assert found["volumes"][0]["secrets"]["user"] == "me"
    assert encrypted.revealed(found, str.upper)["volumes"][0]["secrets"] == {"token": "T0KEN", "user": "me"}


@pytest.mark.parametrize(
    "file",
    [
        None,
        {},
        SECURE,
        {"volumes": SECURE},
        {"volumes": [{"id": "b"}]},
        {"volumes": []},
        {"volumes": [1, 2]},
        "text",
        7,
    ],
)
def test_text_that_the_file_does_not_hold_counts_as_encrypted(file):
    """As where another file or an environment gave it; numbers and booleans are never encrypted."""
    found = encrypted.mark_encrypted(KNOWN, file)

    assert len(leaves(found)) == 5
    assert found["protect"] is True


def test_date_of_yaml_is_the_text_that_pulumi_makes_of_it():
    """The file has it in clear; what the file lacks is encrypted, whatever its text."""
    assert isinstance(encrypted.mark_encrypted("None", None), encrypted.Encrypted)
    assert encrypted.mark_encrypted("2026-11-22", dt.date(2026, 11, 22)) == "2026-11-22"


def test_placeholder_shows_no_text():
    """Whatever prints it."""
    hidden = encrypted.Encrypted("pw")
    assert encrypted.revealed([encrypted.Encrypted()], str.upper) == [""]
    assert encrypted.marked({"secure": "a", "b": SECURE}) == {"secure": "a", "b": encrypted.PLACEHOLDER}

    assert (str(hidden), repr(hidden), f"{hidden}", hidden.text) == (
        "[encrypted]",
        "'[encrypted]'",
        "[encrypted]",
        "pw",
    )


@pytest.mark.parametrize(
    "place",
    [
        {"volumes": [{"secrets": {"csi.storage.k8s.io/pw": encrypted.Encrypted()}}]},
        {"volumes": [{"mount_options": {"mount_flags": ["a", encrypted.Encrypted()]}}]},
        {"volumes": [{"each": [{"secrets": {"a": encrypted.Encrypted()}}]}]},
        {"classes": {"a.b": {"mount_options": {"mount_flags": [encrypted.Encrypted()]}}}},
    ],
)
def test_places_that_keep_a_secret(place):
    """Nomad shows them to nobody, and no file holds them."""
    assert list(encrypted.check(place)) == []


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (encrypted.Encrypted(), ""),
        ({"classes": {"fast": {"parameters": {"a": encrypted.Encrypted()}}}}, "classes.fast.parameters.a"),
        ({"volumes": [{"context": {"secrets": encrypted.Encrypted()}}]}, "volumes[0].context.secrets"),
        ({"volumes": [{"each": [{"id": encrypted.Encrypted()}]}]}, "volumes[0].each[0].id"),
        ({"plugins": [{"environment": {"A": encrypted.Encrypted()}}]}, "plugins[0].environment.A"),
        ({"plugins": [{"secrets": {"a": encrypted.Encrypted()}}]}, "plugins[0].secrets.a"),
        ({"volumes": [{"mount_options": {"fs_type": encrypted.Encrypted()}}]}, "volumes[0].mount_options.fs_type"),
    ],
)
def test_places_that_keep_none(place, path):
    """The path, and where the value belongs."""
    [problem] = encrypted.check(place)

    allowed = (
        "text in clear: of what is encrypted, only `secrets` and `mount_options.mount_flags` of volumes stay secret"
    )
    fix = "set it again without --secret, or hand it over in `secrets` of the volume"
    if "plugins" in path:
        fix = "put the value into a Nomad variable or Vault, and name it under credentials"
    assert problem == errors.Problem(path=path, got="an encrypted value", allowed=allowed, fix=fix)


def test_plan_refuses_what_would_be_exposed():
    """Before anything else of the spec."""
    document = {
        "plugins": [{"id": "p", "driver": "aws-ebs", "aws_region": "moon"}],
        "volumes": [{"id": "v", "plugin_id": "p", "existing": {"external_id": encrypted.Encrypted("vol-secret")}}],
    }

    with pytest.raises(errors.SpecError) as raised:
        storage.plan_document(document)

    assert [problem.path for problem in raised.value.problems] == ["volumes[0].existing.external_id"]
    assert "vol-secret" not in str(raised.value)

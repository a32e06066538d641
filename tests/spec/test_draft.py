"""Reading a spec: every problem, each with its place."""

import pytest

from nomad_csi import errors
from nomad_csi.spec import draft, yaml_text


def lines(document):
    found = list(draft.read(document).problems)
    tuple(draft.each_volume(document, found) if isinstance(document, dict) else ())
    return [str(problem) for problem in found]


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [
        ("pluginID", "p", "plugin_id"),
        ("mountOptions", {}, "mount_options"),
        ("snapshot", ["nightly"], "snapshots"),
        ("options", {}, "mount_options"),
        ("externalId", "x", "existing.external_id"),
        ("external-id", "x", "existing.external_id"),
        ("iops", 9, "ebs.iops"),
        ("encrypted", True, "ebs.encrypted or efs.encrypted"),
        ("access_mode", "single-node-writer", "capabilities[].access_mode"),
    ],
)
def test_key_in_another_spelling_or_at_another_level_is_suggested(key, value, meant):
    """In camelCase, by one of its words, or one level too high as in a volume file."""
    volume = {"id": "a", "plugin_id": "p", "existing": {"external_id": "x"}, key: value}

    assert lines({"volumes": [volume]}) == [f"volumes[0].{key}: unknown key; did you mean {meant}?"]


def test_read_keeps_what_is_right():
    """What could be read is there under its path, beside the problems of the rest."""
    document = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1", "namespace": "infra"}, {}]}

    found = draft.read(document)

    assert [(path, plugin.id) for path, plugin in found.plugins.items()] == [("plugins[0]", "ebs")]
    assert not found.has_all_plugins
    assert draft.ids(document) == {"plugins[0]": "ebs"}
    volumes = [{"id": "a", "namespace": "prod"}, {"id": "b", "namespace": "default"}]
    assert draft.ids({"volumes": volumes}) == {"volumes[0]": "prod/a", "volumes[1]": "b"}
    wrong = draft.read({"plugins": 3, "protect": 3})
    assert (wrong.has_all_plugins, wrong.protect, wrong.snapshots, wrong.file_systems) == (False, True, None, None)
    assert found.problems


PLAIN = "expected text, numbers, booleans, lists and mappings"
ENDLESS = yaml_text.load("&a [*a]")


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ([], "expected a mapping with plugins and volumes, got []"),
        ({"plugins": 3}, "plugins: expected a list, got 3"),
        ({"volumes": [3]}, "volumes[0]: expected a mapping, got 3"),
        ({"classes": ["x"]}, "classes: expected a mapping, got a list"),
        (
            {"protcet": True},
            "protcet: unknown key; did you mean protect?",
        ),
        (
            {"zz": True},
            "zz: expected one of classes, file_systems, out, owner, plugins, protect, snapshots, volumes, got an unknown key; remove it",
        ),
        (None, "expected a mapping with plugins and volumes, got nothing"),
        ({"protect": "no"}, "protect: expected a valid boolean, got 'no'"),
        ({"protect": "x" * 58}, f"protect: expected a valid boolean, got '{'x' * 58}'"),
        ({"protect": "x" * 59}, f"protect: expected a valid boolean, got '{'x' * 56}..."),
        ({"plugins": [{1}]}, f"plugins[0]: {PLAIN}, got Object of type set is not JSON serializable"),
        ({"plugins": [ENDLESS]}, f"plugins[0]: {PLAIN}, got Circular reference detected"),
    ],
)
def test_read_names_what_is_wrong_with_the_document(document, line):
    """The form of the whole document is checked, and a near miss is named."""
    assert lines(document) == [line]


def test_unknown_key_deep_inside_is_compared_with_its_neighbours():
    """The keys that are known there count, not those of the top."""
    document = {"plugins": [{"id": "a", "driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role": "r"}}]}

    assert lines(document) == ["plugins[0].iam.role: unknown key; did you mean role_name?"]
    document["plugins"][0]["iam"]["role_name"] = 1
    assert lines(document) == [
        "plugins[0].iam.role_name: expected a valid string, got 1",
        "plugins[0].iam.role: unknown key; did you mean role_name?",
    ]


def test_a_value_below_secrets_or_environment_is_never_shown():
    """Whatever is wrong with a secret, its value stays out of the message."""
    document = {
        "plugins": [
            {"id": "a", "driver": "aws-ebs", "aws_region": "us-east-1", "environment": {"A": 4711}, "config": "pw"}
        ],
        "volumes": [{"id": "a", "plugin_id": "a", "existing": {"external_id": "x"}, "secrets": {"key": 4711}}],
    }
    document["volumes"][0]["context"] = {"token": 4711}

    found = lines(document)

    assert found == [
        "plugins[0].config: expected an object, got [secret]",
        "plugins[0].environment.A: expected a valid string, got [secret]",
        "volumes[0].context.token: expected a valid string, got [secret]",
        "volumes[0].secrets.key: expected a valid string, got [secret]",
    ]


def test_secrets_do_not_show_in_a_representation():
    """A printed spec holds no secret."""
    document = {
        "volumes": [{"id": "a", "plugin_id": "a", "existing": {"external_id": "x"}, "secrets": {"key": "CANARY"}}]
    }

    found = dict(draft.each_volume(document, []))

    assert found["volumes[0]"].secrets["key"].get_secret_value() == "CANARY"
    assert "CANARY" not in repr(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "line 2, column 1: expected a YAML document, got did not find expected node content"),
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: expected a YAML document, got the key 'a' stands twice"),
        ("a: 2024-13-45", "expected a YAML document, got month must be in 1..12"),
        ("a: \1", "expected a YAML document, got unacceptable character #x0001: control characters are not allowed"),
        ("[a]: b", "line 1, column 1: expected a YAML document, got a key that is not text"),
        ("1: b", "line 1, column 1: expected a YAML document, got a key that is not text"),
        ("a: b: c", "line 1, column 5: expected a YAML document, got mapping values are not allowed in this context"),
        (
            "a: !!python/name:os.system",
            "line 1, column 4: expected a YAML document, got could not determine a constructor for the tag; quote text "
            "that begins with * or !",
        ),
    ],
)
def test_rejects_text_that_is_not_yaml(text, message):
    """Syntax errors, a key given twice and Python tags are refused with their place."""
    with pytest.raises(errors.SpecError) as caught:
        draft.read_yaml(text, "spec.yaml")

    assert str(caught.value) == f"spec.yaml: 1 problem\n  {message}"


def test_volume_has_exactly_one_source():
    """Two sources, or none, are refused."""
    both = {"availability_zone": "us-east-1a", "size_gib": 1}
    document = {
        "volumes": [
            {"id": "a", "plugin_id": "p"},
            {"id": "b", "plugin_id": "p", "ebs": both, "existing": {"external_id": "x"}},
        ]
    }

    found = lines(document)

    assert found == [
        "volumes[0]: expected exactly one of ebs, efs, existing, create, got none of them",
        "volumes[1]: expected exactly one of ebs, efs, existing, create, got ebs and existing",
    ]


@pytest.mark.parametrize(
    ("efs", "message"),
    [
        (
            {"tags": {}, "performance_mode": "maxIO", "encrypted": True, "clients": {}, "throughput_mode": "elastic"},
            "expected no clients and no encrypted and no performance_mode and no throughput_mode, which are settings of "
            "the file system, got a mapping",
        ),
        ({"tags": {"a": "b"}}, "expected access_point, which selects the volume's folder in the file system, got none"),
        (
            {"mount_targets": [{"availability_zone": "us-east-1a"}]},
            "expected exactly one of mount_targets, file_system, file_system_id, got mount_targets and file_system",
        ),
        (
            {"file_system": None},
            "expected exactly one of mount_targets, file_system, file_system_id, got none of them",
        ),
    ],
)
def test_volume_in_a_file_system_of_others_has_a_folder_and_no_settings(efs, message):
    """All that are given are named."""
    volume = {"id": "a", "plugin_id": "p", "efs": {"file_system": "shared"} | efs}

    assert lines({"volumes": [volume]}) == [f"volumes[0].efs: {message}"]


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({"volumes": {"a": {"secrets": {"key": "canary"}}}}, "volumes: expected a list, got a mapping"),
        ({"volumes": [["canary"]]}, "volumes[0]: expected a mapping, got a list"),
    ],
)
def test_what_stands_inside_a_misplaced_mapping_is_not_shown(document, line):
    """It may hold secrets."""
    assert lines(document) == [line]


@pytest.mark.parametrize(
    ("text", "said"), [("key: *canary", "found undefined alias"), ("key: !canary", "could not determine a constructor for the tag")]
)  # fmt: skip
def test_unquoted_text_that_yaml_misreads_is_not_shown(text, said):
    """A password may begin with a star or an exclamation mark."""
    with pytest.raises(errors.SpecError) as caught:
        draft.read_yaml(text, "x.yaml")

    assert str(caught.value) == (
        f"x.yaml: 1 problem\n  line 1, column 6: expected a YAML document, got {said}; quote text that begins with * or !"
    )


def test_text_that_no_file_can_hold_does_not_show_what_is_beside_it():
    """Half a surrogate pair makes the whole item unreadable; its secrets stay hidden."""
    secrets = {"k": "CANARY"}
    document = {"volumes": [{"secrets": secrets, "id": "\ud800", "plugin_id": "p", "existing": {"external_id": "x"}}]}

    found = lines(document)

    assert found
    assert "CANARY" not in str(found)

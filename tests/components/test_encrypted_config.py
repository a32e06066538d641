"""The ready stack with a config in which Pulumi encrypts texts: they stay secret, or nothing is declared."""

import json

import pulumi
import pytest
import yaml

from nomad_csi import EbsVolume, errors
from nomad_csi.components import stack

SECRET_MARKER = "4dabf18193072939515e22adb298388d"
SECURE = {"secure": "v1:abc"}
KEY = "storage:storage"
STORAGE = {
    "plugins": [{"id": "nfs0", "driver": "csi-driver-nfs"}],
    "volumes": [
        {
            "id": "media",
            "plugin_id": "nfs0",
            "existing": {"external_id": "nas#export/media"},
            "mount_options": {"fs_type": "nfs", "mount_flags": ["ro", "password=c0ffee"]},
            "context": {"server": "nas", "share": "/export"},
            "secrets": {"token": "T-c0ffee", "user": "me"},
        },
        {
            "id": "builds",
            "plugin_id": "nfs0",
            "create": {"capacity_min_gib": 1},
            "mount_options": {"mount_flags": ["password=c0ffee"]},
            "parameters": {"server": "nas", "share": "/export"},
        },
    ],
}


@pytest.fixture
def declare(cloud, tmp_path, monkeypatch):
    """Declare `STORAGE` from a config in whose file *places* are encrypted: ``declare(("volumes", 0, "id"))``."""
    monkeypatch.setattr(pulumi, "get_root_directory", lambda: str(tmp_path))

    def run(*places):
        written = json.loads(json.dumps(STORAGE))
        for *way, last in places:
            inside = written
            for step in way:
                inside = inside[step]
            inside[last] = SECURE
        (tmp_path / "Pulumi.prod.yaml").write_text(yaml.safe_dump({"config": {KEY: written}}))
        config = {KEY: json.dumps(STORAGE), "storage:renderTo": "out"}
        pulumi.runtime.set_all_config(config, [KEY] if places else [])
        cloud.settle(lambda: stack.declare(pulumi.Config()))

    yield run
    pulumi.runtime.set_all_config({}, [])


FLAG = ("volumes", 0, "mount_options", "mount_flags", 1)
OTHER_FLAG = ("volumes", 1, "mount_options", "mount_flags", 0)
TOKEN = ("volumes", 0, "secrets", "token")


def test_encrypted_flags_and_secrets_are_secret_outputs(cloud, declare):
    """The values arrive, marked as secrets; no file has them."""
    declare(FLAG, OTHER_FLAG, TOKEN)

    media = cloud.inputs("nomad-csi:index:VolumeRegistration", "media")
    builds = cloud.inputs("nomad-csi:index:CreatedVolume", "builds")
    hidden = (media["mountOptions"], media["secrets"], builds["mountOptions"])
    assert all(SECRET_MARKER in value for value in hidden)
    assert [value["value"] for value in hidden] == [
        {"fsType": "nfs", "mountFlags": ["ro", "password=c0ffee"]},
        {"token": "T-c0ffee", "user": "me"},
        {"mountFlags": ["password=c0ffee"]},
    ]
    files = [made.inputs for made in cloud.recorder.made if made.token == "nomad-csi:index:RenderedFile"]
    assert "c0ffee" not in json.dumps(files)
    text = cloud.inputs("nomad-csi:index:RenderedFile", "media")["content"]
    assert '  fs_type     = "nfs"\n  mount_flags = ["ro"]\n' in text
    assert "# 1 of its mount flags is encrypted and in no file: only `pulumi up` sends it.\n" in text
    assert "# Its secrets (token, user) are sent" in text


def test_problem_names_the_key_of_a_config_of_the_project(cloud, declare, monkeypatch):
    """Its key is that of the project, which goes before ours."""
    monkeypatch.setitem(STORAGE, "volumes", [])
    monkeypatch.setitem(STORAGE["plugins"][0], "driver", "none-such")

    with pytest.raises(errors.SpecError) as raised:
        declare()

    assert str(raised.value).startswith(f"{KEY}: 1 problem\n  plugins[0] (nfs0).driver: ")
    assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []


def test_nothing_is_declared_where_an_encrypted_text_cannot_be_kept(cloud, declare):
    """The error names the place."""
    with pytest.raises(errors.SpecError) as raised:
        declare(("plugins", 0, "id"))

    assert "plugins[0].id: expected text in clear" in str(raised.value)
    assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []


def test_outputs_of_a_program_may_be_mount_flags(cloud):
    """As a secret of its own config is; the volume file does without."""
    secret = pulumi.Output.secret("password=c0ffee")
    args = {
        "plugin_id": "aws-ebs0",
        "availability_zone": "us-east-1a",
        "size_gib": 4,
        "mount_options": {"mount_flags": ["noatime", secret]},
        "render_to": "out",
    }

    cloud.settle(lambda: EbsVolume("mysql", args) and None)

    options = cloud.inputs("nomad-csi:index:VolumeRegistration", "mysql")["mountOptions"]
    assert SECRET_MARKER in options
    assert options["value"]["mountFlags"] == ["noatime", "password=c0ffee"]
    text = cloud.inputs("nomad-csi:index:RenderedFile", "mysql")["content"]
    assert 'mount_flags = ["noatime"]' in text
    assert "c0ffee" not in text

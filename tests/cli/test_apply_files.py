"""``nomad-csi apply FILE``: volumes of volume files, each with an outcome, secrets never as arguments."""

import json
import re
import shutil

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi.nomad import volumes

CANARY = "canary-9d2c"
FILE_SYSTEM = "fs-0123456789abcdef0"
VOLUME = """type = "csi"
id = "legacy"
external_id = "fs-0123456789abcdef0:/legacy"
plugin_id = "aws-efs0"

capability {
  access_mode = "multi-node-multi-writer"
  attachment_mode = "file-system"
}
"""


@pytest.fixture
def files(tmp_path, capsys):
    """Write a spec of volumes, ``files({"id": ...}, ...)``, and return the directory of its rendered files."""

    def write(*items):
        made = [
            {"plugin_id": "aws-efs0"}
            | ({} if {"create", "efs"} & item.keys() else {"existing": {"external_id": f"{FILE_SYSTEM}:/{item['id']}"}})
            | item
            for item in items
        ]
        path = tmp_path / "storage.yaml"
        plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
        path.write_text(yaml.safe_dump({"plugins": [plugin], "volumes": made}))
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert cli.main(["render", str(path), "--out", str(tmp_path / "out")]) == 0
        capsys.readouterr()
        return str(tmp_path / "out")

    return write


@pytest.fixture
def address(empty_agent):
    """An emulator agent with a plugin that takes any volume, because it never was healthy."""
    return empty_agent(plugin_id="aws-efs0")


@pytest.fixture
def apply(address, capsys):
    """Run the command with consent; return its exit code, what it printed, and what it complained of."""

    def run(*words):
        code = cli.main(["apply", *words, "--yes", "--address", address])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def held(address):
    """Return what Nomad holds of a volume."""

    def get(volume_id):
        with nomad.Nomad(nomad.Connection(address=address)) as client:
            return volumes.get(client, "default", volume_id)

    return get


def test_dry_run_sends_nothing_and_leaves_no_record(apply, files, held):
    """What would be new, changed and refused as another's is shown; one that is as wanted is in the sum."""
    apply(files({"id": "a"}, {"id": "b"}), "--owner", "shop/prod")
    before = held("b")
    wanted = files({"id": "a"}, {"id": "b", "mount_options": {"mount_flags": ["noatime"]}}, {"id": "c"})

    ours = apply(wanted, "--dry-run", "--owner", "shop/prod", "--json")
    others = apply(wanted, "--dry-run", "--owner", "bank/prod")
    afterwards = apply(files({"id": "c"}), "--owner", "shop/prod", "--json")

    assert [item["state"] for item in json.loads(ours[1])["items"]] == ["equal", "changes", "new"]
    assert (ours[0], others[0], others[1].count("  refused\n"), "belongs to owner shop/prod" in others[1]) == (
        1,
        1,
        2,
        True,
    )
    assert (held("b"), json.loads(afterwards[1])["volumes"][0]["status"]) == (before, "registered")


def test_refused_volume_exits_1_before_anything_is_sent(apply, files, held):
    """With the reason and both values; the others go in without it."""
    apply(files({"id": "a"}))
    path = files({"id": "a", "existing": {"external_id": f"{FILE_SYSTEM}:/other"}}, {"id": "b"})

    code, out, err = apply(path)
    lacking = held("b")
    others = apply(path, "b")

    assert (code, err, lacking) == (1, "refused: default/a: refused, see the plan; nothing was changed\n", None)
    reason = f'external_id: Nomad has "{FILE_SYSTEM}:/a", wanted "{FILE_SYSTEM}:/other"; Nomad never changes it'
    assert reason in " ".join(out.split())
    assert (others[0], others[1].splitlines()[-1]) == (0, "1 volume: 1 registered")
    assert held("a").external_id == f"{FILE_SYSTEM}:/a"


def test_run_that_adopts_carries_out_what_is_not_refused(apply, files, held):
    """What is refused for another reason than its owner stays so; each volume has its outcome."""
    apply(files({"id": "a"}), "--owner", "shop/prod")
    path = files({"id": "a", "existing": {"external_id": f"{FILE_SYSTEM}:/other"}}, {"id": "b"})

    code, out, _ = apply(path, "--owner", "bank/prod", "--adopt", "--json")

    done = [(item["volume_id"], item["status"]) for item in json.loads(out)["volumes"]]
    assert (code, done) == (1, [("a", "refused"), ("b", "registered")])
    assert held("a").external_id == f"{FILE_SYSTEM}:/a"


def test_file_and_folder_are_registered(apply, held, tmp_path):
    """As Nomad's own command does one of them."""
    (tmp_path / "volumes/prod").mkdir(parents=True)
    (tmp_path / "volumes/prod/legacy.volume.hcl").write_text(VOLUME)
    other = tmp_path / "other.hcl"
    other.write_text(VOLUME.replace("legacy", "other"))

    code, out, _ = apply(str(tmp_path / "volumes"), str(other))

    assert (code, out.splitlines()[-1]) == (0, "2 volumes: 2 registered")
    assert held("legacy").namespace == "default"


def test_wrong_file_is_refused_before_anything_is_sent(apply, held, tmp_path):
    """With each of its problems; a sound one beside it waits."""
    sound, wrong = tmp_path / "a.hcl", tmp_path / "b.hcl"
    sound.write_text(VOLUME)
    wrong.write_text(VOLUME.replace('"legacy"', '"a/b"').replace("multi-node-multi-writer", "single-node-reader"))

    code, _, err = apply(str(sound), str(wrong))

    assert code == 2
    assert f"{wrong}: 2 problems\n  id: expected letters, digits" in err
    assert "\n  capability.access_mode: expected one of single-node-reader-only" in err
    assert held("legacy") is None


def test_external_ids_come_from_the_stack(apply, held, tmp_path):
    """And without them nothing is sent."""
    path = tmp_path / "storage.yaml"
    efs = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/16"]}}
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
    path.write_text(
        yaml.safe_dump({"plugins": [plugin], "volumes": [{"id": "a", "plugin_id": "aws-efs0", "efs": efs}]})
    )
    output = tmp_path / "outputs.json"
    output.write_text(json.dumps({"externalIds": {"default/a": FILE_SYSTEM}}))

    code, _, err = apply(str(path), "--owner", "shop/prod")
    assert (code, held("a")) == (2, None)
    assert "external id of default/a: expected the id of storage that is made by Pulumi" in err
    planned = apply(str(path), "--stack-output", str(output), "--dry-run", "--owner", "shop/prod")
    assert "+ volume default/a  new\n" in planned[1]


def test_encrypted_secret_is_asked_for(apply, tmp_path, held):
    """What the stack's config holds encrypted is never sent as it stands there."""
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
    volume = {
        "id": "a",
        "plugin_id": "aws-efs0",
        "existing": {"external_id": FILE_SYSTEM},
        "secrets": {name: {"secure": "v1:abc"} for name in ("password", "key")},
    }
    other = volume | {"id": "b", "existing": {"external_id": f"{FILE_SYSTEM}:/b"}}
    path = tmp_path / "Pulumi.prod.yaml"
    path.write_text(
        yaml.safe_dump({"config": {"nomad-csi:storage": {"plugins": [plugin], "volumes": [volume, other]}}})
    )

    code, _, err = apply(str(path), "--owner", "shop/prod")

    assert (code, held("a")) == (2, None)
    problem = "expected its value, because Nomad erases what is not sent, got nothing; give it in a --secrets file or in NOMAD"
    asked_for = re.findall(f"default/([ab]): secret ([a-z]+): {problem}_CSI_SECRETS\n", err)
    assert asked_for == [("a", "key"), ("a", "password"), ("b", "key"), ("b", "password")]


def test_rendered_file_that_lacks_encrypted_mount_flags_is_refused(apply, tmp_path, held):
    """Only Pulumi can send them: registered without, the volume would be mounted in another way."""
    file = tmp_path / "legacy.volume.hcl"
    comment = "# 1 of its mount flags is encrypted and in no file: only `pulumi up` sends it.\n"
    file.write_text(comment + VOLUME)

    code, _, err = apply(str(file))

    assert (code, held("legacy")) == (2, None)
    assert "mount_flags: expected values in clear, got an encrypted value" in err
    file.write_text(VOLUME)
    assert apply(str(file))[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"- {CANARY}", "expected a mapping of namespace/volume_id to a mapping of names to texts, got [secret]"),
        (f"default/a: {CANARY}", "expected a mapping of namespace/volume_id"),
        (
            f"default/other: {{password: {CANARY}}}",
            "secrets: expected namespace/volume_id of a volume that is registered",
        ),
    ],
)
def test_wrong_secrets_are_refused_and_not_shown(apply, files, tmp_path, text, told):
    """A secret for a volume that is not there is one that another would lack."""
    (tmp_path / "secrets.yaml").write_text(text)

    code, out, err = apply(files({"id": "a"}), "--secrets", str(tmp_path / "secrets.yaml"))

    assert code == 2
    assert told in err
    assert CANARY not in out + err

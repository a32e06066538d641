"""``nomad-csi apply FILE``: volumes of volume files, each with an outcome, secrets never as arguments."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi.nomad import volumes

CANARY = "canary-9d2c"
FILE_SYSTEM = "fs-0123456789abcdef0"
PLUGIN = """job "plugin" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "aws-efs0"
        type = "node"
      }
      config {
        command = "sleep"
        args    = ["60"]
      }
    }
  }
}
"""
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
def address(empty_agent, monkeypatch):
    """An emulator agent with a plugin that takes any volume, because it never was healthy."""
    for name in ("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_NAMESPACE", "NOMAD_REGION", "NOMAD_CSI_SECRETS"):
        monkeypatch.delenv(name, raising=False)
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


def test_adopted_volume_that_is_unchanged_says_whose_it_is(apply, files):
    """Nothing is sent of the volume; its owner record is another's now, and that is said once."""
    path = files({"id": "a"})
    apply(path, "--owner", "shop/prod")

    first = apply(path, "--owner", "bank/prod", "--adopt")
    second = apply(path, "--owner", "bank/prod", "--adopt")

    assert first[0] == 0
    assert first[1].endswith(
        "volume     outcome    storage  remarks\ndefault/a  unchanged  -        taken over from owner shop/prod\n"
        "1 volume: 1 unchanged\n"
    )
    assert second == (0, "0 of 1 would change\n1 volume: 1 unchanged\n", "")


def test_volume_without_an_owner_gets_one_and_that_is_said(apply, files):
    """Nothing is sent of the volume, and a later run says nothing."""
    path = files({"id": "a"})
    apply(path)

    first, second = apply(path, "--owner", "shop/prod"), apply(path, "--owner", "shop/prod")

    assert "default/a  unchanged  -        taken over: it had no owner record\n" in first[1]
    assert second == (0, "0 of 1 would change\n1 volume: 1 unchanged\n", "")


def test_files_are_registered_once(apply, files, held):
    """The second run sends nothing, and says so."""
    path = files({"id": "a"}, {"id": "b"})

    first, second = apply(path), apply(path)

    assert first == (
        0,
        "+ volume default/a  new\n+ volume default/b  new\n2 of 2 would change\n"
        "volume     outcome     storage  remarks\ndefault/a  registered  -        -\n"
        "default/b  registered  -        -\n2 volumes: 2 registered\n",
        "this changes 2 items\n",
    )
    assert second == (0, "0 of 2 would change\n2 volumes: 2 unchanged\n", "")
    assert held("b").external_id == f"{FILE_SYSTEM}:/b"


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


def test_outcomes_are_data(apply, files):
    """Every field is there, empty or not."""
    code, out, _ = apply(files({"id": "a"}), "--json")

    assert code == 0
    assert json.loads(out) == {
        "schema_version": 1,
        "volumes": [
            {
                "namespace": "default",
                "volume_id": "a",
                "status": "registered",
                "reason": "",
                "external_id": "",
                "capacity_bytes": 0,
                "changes": [],
                "not_comparable": [],
                "owner": "",
            }
        ],
    }


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


def test_plugin_that_is_not_there_exits_1(apply, tmp_path):
    """Nomad's sentence, with advice."""
    path = tmp_path / "v.volume.hcl"
    path.write_text(VOLUME.replace("aws-efs0", "nobody"))

    code, out, _ = apply(str(path))

    assert code == 1
    assert "no CSI plugin named: nobody could be found" in " ".join(out.split())


def test_unreachable_cluster_exits_2(files, capsys):
    """Nothing was found out."""
    assert cli.main(["apply", files({"id": "a"}), "--address", "http://127.0.0.1:9"]) == 2
    assert "no connection: Connection refused" in capsys.readouterr().err


def test_file_and_folder_are_registered(apply, held, tmp_path):
    """As Nomad's own command does one of them."""
    (tmp_path / "volumes/prod").mkdir(parents=True)
    (tmp_path / "volumes/prod/legacy.volume.hcl").write_text(VOLUME)
    other = tmp_path / "other.hcl"
    other.write_text(VOLUME.replace("legacy", "other"))

    code, out, _ = apply(str(tmp_path / "volumes"), str(other))

    assert (code, out.splitlines()[-1]) == (0, "2 volumes: 2 registered")
    assert held("legacy").namespace == "default"


def test_a_volume_in_two_files_is_refused(apply, held, tmp_path):
    """Nobody can say which is meant."""
    for name in "ab":
        (tmp_path / f"{name}.volume.hcl").write_text(VOLUME)

    code, _, err = apply(str(tmp_path))

    assert (code, held("legacy")) == (2, None)
    assert "default/legacy: expected each volume once, got 2 of them" in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["{place}"], "{place}: 1 problem\n  expected *.volume.hcl below the directory, got none"),
        (["{place}/v.hcl", "other"], "VOLUME: expected one of default/legacy, got 'other'"),
    ],
)
def test_names_that_name_nothing_are_refused(apply, tmp_path, words, why):
    """With what there is."""
    (tmp_path / "v.hcl").write_text(VOLUME)

    code, out, err = apply(*(word.format(place=tmp_path) for word in words))

    assert (code, out, why.format(place=tmp_path) in err) == (code, "", True), err
    assert code in {2, 64}


def test_wrong_files_are_all_told_before_anything_is_sent(apply, held, tmp_path):
    """Nomad's server would take them, and could not serve them."""
    first, second, third = (tmp_path / f"{name}.hcl" for name in "abc")
    first.write_text(VOLUME.replace('"legacy"', '"a/b"').replace("multi-node-multi-writer", "single-node-reader"))
    second.write_text(VOLUME.replace('external_id = "fs-0123456789abcdef0:/legacy"\n', ""))
    third.write_text(VOLUME)

    code, _, err = apply(str(first), str(second), str(third))

    assert code == 2
    assert f"{first}: id: expected letters, digits" in err
    assert f"{first}: capability.access_mode: expected one of single-node-reader-only" in err
    assert (
        f"{second}: external_id: expected the id of storage that exists, got nothing; a volume that the plugin" in err
    )
    assert held("legacy") is None


def test_job_file_is_told_from_a_volume_file(apply, tmp_path):
    """With the command for it."""
    path = tmp_path / "plugin.nomad.hcl"
    path.write_text(PLUGIN)

    code, _, err = apply(str(path))

    assert code == 2
    assert "expected a volume file, got a job file; run it with `nomad job run`" in err


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


@pytest.mark.parametrize("source", ["file", "environment"])
def test_secrets_come_from_a_file_or_the_environment(apply, files, tmp_path, monkeypatch, source):
    """They are sent in every run, since nobody can compare them, and never shown."""
    text = json.dumps({"default/a": {"password": CANARY}})
    words = []
    if source == "file":
        (tmp_path / "secrets.json").write_text(text)
        words = ["--secrets", str(tmp_path / "secrets.json")]
    else:
        monkeypatch.setenv("NOMAD_CSI_SECRETS", text)
    path = files({"id": "a"})
    apply(path, *words)

    code, out, err = apply(path, *words)

    assert (code, err) == (0, "")
    assert "default/a  updated  fs-0123456789abcdef0:/a  not comparable, sent: secrets" in out
    assert CANARY not in out


def test_encrypted_secret_is_asked_for(apply, tmp_path, held):
    """What the stack's config holds encrypted is never sent as it stands there."""
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
    volume = {
        "id": "a",
        "plugin_id": "aws-efs0",
        "existing": {"external_id": FILE_SYSTEM},
        "secrets": {"password": {"secure": "v1:abc"}},
    }
    path = tmp_path / "Pulumi.prod.yaml"
    path.write_text(yaml.safe_dump({"config": {"nomad-csi:storage": {"plugins": [plugin], "volumes": [volume]}}}))

    code, _, err = apply(str(path), "--owner", "shop/prod")

    assert (code, held("a")) == (2, None)
    assert "default/a: secret password: expected its value, because Nomad erases what is not sent, got nothing" in err


def test_rendered_file_of_a_volume_with_secrets_asks_for_them(apply, files, tmp_path, held):
    """The file names them, and has none: registered so, Nomad would erase those it has."""
    path = files({"id": "a", "secrets": {"password": CANARY, "user": CANARY}})
    secrets = tmp_path / "secrets.yaml"
    secrets.write_text(yaml.safe_dump({"default/a": {"password": CANARY, "user": CANARY}}))

    code, _, err = apply(path)

    assert (code, held("a")) == (2, None)
    assert err.count("expected its value") == 2
    assert apply(path, "--secrets", str(secrets))[0] == 0


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
        (
            f'default/a: {{password: "{CANARY}\\ud83c"}}',
            "default/a.password: expected Unicode text, got half a surrogate pair; decode it as UTF-8",
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


@pytest.mark.parametrize(
    "words", [["v.hcl", "--timeout", "0s"], ["v.hcl", "--timeout", "soon"], ["v.hcl", "--password", "a"]]
)
def test_wrong_usage_exits_64(words, capsys):
    """There is no argument for a secret."""
    code = cli.main(["apply", *words])

    assert code == 64
    assert "usage:" in capsys.readouterr().err


def test_killed_run_is_finished_by_the_next(address, apply, tmp_path):
    """A registration is in force or not; the next run finds those that are, and sends the others."""
    count, folder = 100, tmp_path / "volumes"
    folder.mkdir()
    for number in range(count):
        (folder / f"v{number}.volume.hcl").write_text(VOLUME.replace("legacy", f"v{number}"))
    command = [sys.executable, "-m", "nomad_csi", "apply", str(folder), "--yes", "--address", address]
    with nomad.Nomad(nomad.Connection(address=address)) as client:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            while not volumes.list_volumes(client, "*"):
                assert running.poll() is None
            running.kill()
        there = len(volumes.list_volumes(client, "*"))

        code, out, _ = apply(str(folder), "--json")

        found = [item["status"] for item in json.loads(out)["volumes"]]
        assert code == 0
        assert found.count("unchanged") >= there > 0
        assert found.count("unchanged") + found.count("registered") == len(found) == count
        assert len(volumes.list_volumes(client, "*")) == count

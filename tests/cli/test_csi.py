"""``nomad-csi csi call``: every RPC by its name, JSON in and out, and no secret anywhere."""

import json
import os

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import inputs
from nomad_csi_sandbox.csi_plugin import arguments, server
from tests import clocks

USE = "single-node-writer,file-system,ext4,noatime"


@pytest.fixture
def hostpath(short_folder, monkeypatch):
    """A hostpath plugin, whose endpoint is in CSI_ENDPOINT; call it to order a fault."""
    environment = {server.FAULT_FILE: str(short_folder / "faults.json")}
    words = ["--driver", "csi-hostpath", "--nodeid=client-1", f"--statedir={short_folder}/state"]
    command = arguments.read([*words, f"--endpoint=unix://{short_folder}/csi.sock"], environment)
    monkeypatch.setenv("CSI_ENDPOINT", f"unix://{short_folder}/csi.sock")

    def order(**faults):
        (short_folder / "faults.json").write_text(json.dumps(faults))

    with server.served(command, environment):
        yield order


@pytest.fixture
def call(capsys):
    """Run a command; return exit code, the answer as data, and what stands on standard error."""

    def run(*words, code=0, endpoint=""):
        assert cli.main(["csi", "call", endpoint or os.environ["CSI_ENDPOINT"], *words, "--json"]) == code
        printed = capsys.readouterr()
        answer = json.loads(printed.out) if printed.out else None
        assert answer is None or answer.pop("schema_version") == 1
        return answer, printed.err

    return run


@pytest.fixture
def made(request, call):
    """The id of a volume that a plugin made."""
    request.getfixturevalue("hostpath")
    words = ("name=data", f"volume_capabilities={USE}", "capacity_range.required_bytes=1GiB", "parameters.a=b")
    answer, _ = call("CreateVolume", "--yes", *words)
    return answer["volume"]["volume_id"]


def test_probe_of_a_starting_plugin_is_a_no(hostpath, call):
    """Exit code 1: it answered, and is not ready."""
    hostpath(probe="not-ready")

    assert call("Probe", code=1)[0] == {"ready": False, "stated": True}


def test_a_volume_is_made_found_validated_and_expanded(made, call):
    """The same name makes no second one; sizes are numbers."""
    again, _ = call(
        "CreateVolume", "--yes", "name=data", f"volume_capabilities={USE}", "capacity_range.required_bytes=1073741824"
    )
    listed, _ = call("ListVolumes")
    validated, _ = call("ValidateVolumeCapabilities", f"volume_id={made}", f"volume_capabilities={USE}")
    expanded, _ = call(
        "ControllerExpandVolume", f"volume_id={made}", "capacity_range.required_bytes=2GiB", f"volume_capability={USE}"
    )

    assert again["volume"]["volume_id"] == made
    assert [entry["volume"]["volume_id"] for entry in listed["entries"]] == [made]
    assert validated["confirmed"]["volume_capabilities"][0]["mount"]["mount_flags"] == ["noatime"]
    assert expanded == {"capacity_bytes": 2 << 30, "node_expansion_required": True}
    assert call("ControllerGetVolume", f"volume_id={made}")[0]["volume"]["capacity_bytes"] == 2 << 30


def test_a_list_is_read_to_its_end_unless_one_page_is_asked_for(made, call):
    """Small pages give the same list; one page gives the token of the next."""
    call("CreateVolume", "--yes", "name=more", f"volume_capabilities={USE}")

    assert len(call("ListVolumes", "max_entries=1")[0]["entries"]) == 2
    page, _ = call("ListVolumes", "max_entries=1", "--one-page")
    rest, _ = call("ListVolumes", f"starting_token={page['next_token']}")
    found = {entry["volume"]["volume_id"] for entry in page["entries"] + rest["entries"]}

    assert (len(page["entries"]), len(rest["entries"])) == (1, 1)
    assert made in found


def test_a_plugin_that_comes_up_is_waited_for(short_folder, monkeypatch, call, request):
    """--wait-ready goes on while nobody listens."""
    monkeypatch.setenv("CSI_ENDPOINT", f"unix://{short_folder}/csi.sock")

    class Starting(clocks.Clock):
        def sleep(self, seconds):
            super().sleep(seconds)
            request.getfixturevalue("hostpath")

    monkeypatch.setattr(inputs, "CLOCK", Starting())

    answer, _ = call("GetPluginInfo", "--wait-ready", "--timeout", "30s")

    assert answer["name"] == "hostpath.csi.k8s.io"


@pytest.mark.usefixtures("hostpath")
def test_what_the_plugin_refuses_is_explained_with_its_code(call):
    """100 and the number of the gRPC code; as JSON for programs, as a sentence for people."""
    answer, err = call("ValidateVolumeCapabilities", "volume_id=gone", f"volume_capabilities={USE}", code=105)

    assert answer["error"]["code"] == "NOT_FOUND"
    assert "NOT_FOUND: volume id gone does not exist" in err


def test_a_plugin_that_hangs_ends_at_the_deadline(hostpath, call):
    """104 is DEADLINE_EXCEEDED."""
    hostpath(probe="hang")

    assert "no answer within 0.3 s" in call("Probe", "--timeout", "0.3s", code=104)[1]


@pytest.mark.usefixtures("hostpath")
@pytest.mark.parametrize("form", ["file", "variable", "pairs"])
def test_secrets_come_from_a_file_or_the_environment_and_show_nowhere(short_folder, monkeypatch, capsys, form):
    """Not in the request that is shown, nor in an error or an answer that repeats them."""
    secret = "hunter2hunter2"
    words = [
        "csi",
        "call",
        os.environ["CSI_ENDPOINT"],
        "CreateVolume",
        "--yes",
        f"name={secret}",
        f"volume_capabilities={USE}",
        "--show-request",
    ]
    if form == "file":
        (short_folder / "secrets.yaml").write_text(f"password: {secret}\n")
        words += ["--secrets", str(short_folder / "secrets.yaml")]
    else:
        value = f"password={secret},user=me" if form == "pairs" else json.dumps({"password": secret})
        monkeypatch.setenv("X_CSI_SECRETS", value)

    assert cli.main(words) == 0
    assert cli.main([*words, "capacity_range.required_bytes=1GiB", "--json"]) == 106
    printed = capsys.readouterr()

    assert "password: '[secret]'" in printed.err
    assert "different size already exist" in printed.err
    ours = [line for line in printed.err.splitlines() if not line.startswith("GRPC error")]  # the plugin's own log
    assert secret not in "".join([printed.out, *ours])


@pytest.mark.usefixtures("hostpath")
@pytest.mark.parametrize("json_words", [[], ["--json"]])
@pytest.mark.parametrize("secret", ["XyZ", "X1"])  # random ids and folders have no capitals
def test_short_secrets_show_nowhere_either(monkeypatch, capsys, secret, json_words):
    """As a value of the request, in a name, and in the plugin's words about it."""
    monkeypatch.setenv("X_CSI_SECRETS", json.dumps({"password": secret}))
    words = [
        "csi",
        "call",
        os.environ["CSI_ENDPOINT"],
        "CreateVolume",
        "--yes",
        f"name=vol-{secret}",
        f"volume_capabilities={USE}",
    ]
    words += [f"parameters.k={secret}", "--show-request", *json_words]

    assert cli.main(words) == 0
    assert cli.main([*words, "capacity_range.required_bytes=1GiB"]) == 106
    printed = capsys.readouterr()

    ours = [line for line in printed.err.splitlines() if not line.startswith("GRPC error")]  # the plugin's own log
    assert "vol-[secret]" in printed.err
    assert secret not in "\n".join([printed.out, *ours])


@pytest.mark.parametrize("words", [["--secrets", "a=hunter2"], ["--secrets=a=hunter2"]])
def test_rejects_secrets_as_arguments(words, capsys):
    """With the way to give them, and without repeating them."""
    code = cli.main(["csi", "call", "/x.sock", "CreateVolume", *words])

    err = capsys.readouterr().err
    assert code == 64
    assert "secrets are not taken as arguments, which every user of this machine can read" in err
    assert "hunter2" not in err


@pytest.mark.parametrize("value", ["hunter2", '{"a": 1}', "=hunter2", '{"a": "hunter2"'])
def test_rejects_secrets_that_are_none(value, monkeypatch, capsys):
    """The form is told, the value is not."""
    monkeypatch.setenv("X_CSI_SECRETS", value)

    assert cli.main(["csi", "call", "/x.sock", "CreateVolume"]) == 2

    err = capsys.readouterr().err
    assert "X_CSI_SECRETS" in err
    assert "hunter2" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["volume_capabilities=writer,file-system"], "expected MODE,file-system"),
        (["volume_capabilities=single-node-writer"], "expected MODE,file-system"),
        (["volume_capabilities=single-node-writer,block-device,ext4"], "expected MODE,file-system"),
        (["capacity_range.required_bytes=10GB"], "such as 10GiB, got '10GB'"),
        (["capacity_range=1GiB"], "Available Fields(except extensions): \"['requiredBytes', 'limitBytes']"),
        (["parameters=a"], "expected the fields of CSI's CreateVolumeRequest"),
        (["name"], "expected FIELD=VALUE, got 'name'"),
        (["name.x=a"], 'has no field named "name.x"'),
        (["nmae=a"], 'has no field named "nmae"'),
        (["accessibility_requirements.requisite=zone"], "expected KEY=VALUE[,KEY=VALUE...], got 'zone'"),
        (["secrets.password=hunter2"], "secrets are not taken as arguments"),
        (
            ["volume_content_source.snapshot.snapshot_id=a", "volume_content_source.volume.volume_id=b"],
            "expected the fields of CSI's CreateVolumeRequest",
        ),
    ],
)
def test_rejects_fields_that_mean_nothing(words, said, capsys):
    """Before anything is asked, and without a secret in the error."""
    code = cli.main(["csi", "call", "/x.sock", "CreateVolume", "--yes", *words])

    told = capsys.readouterr().err
    assert code == 64
    assert said in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("/nowhere/csi.sock", "no such socket"),
        ("/tmp", "the path exists and is not a socket"),
        ("ssh://host", "expected ssh://USER@HOST"),
        ("ftp://host/x", "expected unix:///run/csi.sock"),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_exit_code_2(endpoint, said, monkeypatch, call):
    """No call was answered, so no gRPC code is made up."""
    monkeypatch.setenv("CSI_ENDPOINT", endpoint)

    assert said in call("GetPluginInfo", code=2)[1]


@pytest.mark.usefixtures("hostpath")
def test_making_storage_is_asked_for(call, capsys):
    """Nobody at a terminal is a no, and nothing is made."""
    assert (
        cli.main(["csi", "call", os.environ["CSI_ENDPOINT"], "CreateVolume", "name=data", f"volume_capabilities={USE}"])
        == 1
    )

    told = capsys.readouterr().err
    assert told.startswith("CreateVolume is done behind Nomad's back")
    assert "no terminal to confirm on" in told
    assert call("ListVolumes")[0].get("entries", []) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["DeleteVolume", "volume_id=x"],
            "`nomad-csi remove NAMESPACE/ID --delete-data --endpoint ENDPOINT`",
        ),
        (["DeleteSnapshot", "snapshot_id=x"], "`nomad-csi snapshot delete SNAPSHOT_ID --made-by PLUGIN`"),
    ],
)
def test_deleting_is_left_to_the_commands_with_guards(words, said, capsys):
    """No socket is opened; who comes from csc is told where it went."""
    assert cli.main(["csi", "call", "/nowhere.sock", *words]) == 1

    assert said in capsys.readouterr().err

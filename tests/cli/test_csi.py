"""``nomad-csi csi call``: every RPC by its name, JSON in and out, and no secret anywhere."""

import contextlib
import io
import json
import os
import re

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import inputs
from nomad_csi.csi import forward
from nomad_csi_sandbox.csi_plugin import arguments, server
from tests import clocks

USE = "{access_mode: {mode: SINGLE_NODE_WRITER}, mount: {fs_type: ext4, mount_flags: [noatime]}}"
GIB = 1 << 30


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
    words = ("name=data", f"volume_capabilities={USE}", f"capacity_range.required_bytes={GIB}", "parameters.a=b")
    answer, _ = call("CreateVolume", "--yes", *words)
    return answer["volume"]["volume_id"]


def test_probe_of_a_starting_plugin_is_a_no(hostpath, call):
    """Exit code 1: it answered, and is not ready."""
    hostpath(probe="not-ready")

    assert call("Probe", code=1)[0] == {"ready": False, "stated": True}


def test_a_volume_is_made_found_validated_and_expanded(made, call):
    """The same name makes no second one; sizes are numbers."""
    again, _ = call(
        "CreateVolume", "--yes", "name=data", f"volume_capabilities={USE}", f"capacity_range.required_bytes={GIB}"
    )
    listed, _ = call("ListVolumes")
    validated, _ = call("ValidateVolumeCapabilities", f"volume_id={made}", f"volume_capabilities={USE}")
    expanded, _ = call(
        "ControllerExpandVolume",
        f"volume_id={made}",
        f"capacity_range.required_bytes={2 * GIB}",
        f"volume_capability={USE}",
    )

    assert again["volume"]["volume_id"] == made
    assert [entry["volume"]["volume_id"] for entry in listed["entries"]] == [made]
    assert validated["confirmed"]["volume_capabilities"][0]["mount"]["mount_flags"] == ["noatime"]
    assert expanded == {"capacity_bytes": 2 * GIB, "node_expansion_required": True}
    assert call("ControllerGetVolume", f"volume_id={made}")[0]["volume"]["capacity_bytes"] == 2 * GIB
    words = (f"volume_id={made}", "node_id=client-1", f"volume_capability={USE}", "readonly=true", "--show-request")
    assert '"readonly": true' in call("ControllerPublishVolume", "--yes", *words, code=112)[1]


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
@pytest.mark.parametrize("source", ["file", "input"])
def test_a_request_is_read_from_a_file_or_standard_input(call, tmp_path, monkeypatch, source):
    """What is typed goes before it."""
    (tmp_path / "request.yaml").write_text(
        text := f"volume_capabilities: [{USE}]\ncapacity_range: {{required_bytes: 5}}"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    words = ("name=a", f"capacity_range.required_bytes={GIB}", "--show-request")

    made, err = call(
        "CreateVolume", "--yes", "--request", str(tmp_path / "request.yaml" if source == "file" else "-"), *words
    )

    assert made["volume"]["capacity_bytes"] == GIB
    assert json.loads(err.partition("CreateVolume")[0])["name"] == "a"


def test_a_request_that_is_no_mapping_is_refused(tmp_path, capsys):
    """The file is named."""
    (tmp_path / "request.yaml").write_text("- a")

    assert cli.main(["csi", "call", "/csi.sock", "Probe", "--request", str(tmp_path / "request.yaml")]) == 64

    assert capsys.readouterr().err.endswith(
        f"{tmp_path}/request.yaml: 1 problem\n  expected a mapping of CSI's field names, got list\n"
    )


@pytest.mark.usefixtures("hostpath")
def test_what_the_plugin_refuses_is_explained_with_its_code(call):
    """100 and the number of the gRPC code; as JSON for programs, as a sentence for people."""
    answer, err = call("ValidateVolumeCapabilities", "volume_id=gone", f"volume_capabilities={USE}", code=105)

    message = "NOT_FOUND: volume id gone does not exist in the volumes list"
    endpoint = os.environ["CSI_ENDPOINT"]
    assert answer["error"] == {"endpoint": endpoint, "code": "NOT_FOUND", "message": message, "advice": ""}
    assert "NOT_FOUND: volume id gone does not exist" in err


def test_a_plugin_that_hangs_ends_at_the_deadline(hostpath, call):
    """104 is DEADLINE_EXCEEDED."""
    hostpath(probe="hang")

    assert "no answer within 0.3 s" in call("Probe", "--timeout", "0.3s", code=104)[1]


@pytest.mark.usefixtures("hostpath")
@pytest.mark.parametrize("secret", ["hunter2hunter2", "XyZ"])  # random ids and folders have no capitals
def test_secrets_come_from_a_file_and_show_nowhere(short_folder, capsys, secret):
    """Not in the request that is shown, nor in an error or an answer that repeats them."""
    (short_folder / "secrets.yaml").write_text(f"password: {secret}\n")
    words = ["csi", "call", os.environ["CSI_ENDPOINT"], "CreateVolume", "--yes", f"name=vol-{secret}"]
    words += [f"volume_capabilities={USE}", f"parameters.k={secret}", "--show-request"]
    words += ["--secrets", str(short_folder / "secrets.yaml")]

    assert cli.main(words) == 0
    assert cli.main([*words, f"capacity_range.required_bytes={GIB}", "--json"]) == 106
    printed = capsys.readouterr()

    assert "password: '[secret]'" in printed.err
    assert "vol-[secret]" in printed.err
    assert "different size already exist" in printed.err
    ours = [line for line in printed.err.splitlines() if not line.startswith("GRPC error")]  # the plugin's own log
    assert secret not in "".join([printed.out, *ours])


@pytest.mark.parametrize("value", ["hunter2", "{a: 1, b: hunter2}", "{a: hunter2"])
def test_rejects_secrets_that_are_none(value, tmp_path, capsys):
    """The form is told, the value is not."""
    (tmp_path / "secrets.yaml").write_text(value)

    assert cli.main(["csi", "call", "/x.sock", "CreateVolume", "--secrets", str(tmp_path / "secrets.yaml")]) == 64

    assert "hunter2" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["volume_capabilities={mode: SINGLE_NODE_WRITER}"], 'has no field named "mode"'),
        (["volume_capabilities={access_mode: {mode: WRITER}}"], "WRITER"),
        (["capacity_range.required_bytes=10GB"], "10GB"),
        (["parameters=a"], "expected the fields of CSI's CreateVolumeRequest"),
        (["name"], "expected FIELD=VALUE, got 'name'"),
        (["name.x=a"], 'has no field named "name.x"'),
        (["nmae=a"], 'has no field named "nmae"'),
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
        ("/tmp", "UNAVAILABLE: failed to connect to all addresses"),
        ("ssh://host", "expected ssh://USER@HOST"),
        ("ftp://host/x", "expected unix:///run/csi.sock"),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_exit_code_2(endpoint, said, monkeypatch, call):
    """No call was answered, so no gRPC code is made up."""
    monkeypatch.setenv("CSI_ENDPOINT", endpoint)

    assert said in call("GetPluginInfo", code=2)[1]


def test_an_error_names_the_endpoint_as_it_was_typed(monkeypatch, call, tmp_path, capsys):
    """Not the near end of a forwarded socket; what ssh says is the reason."""
    (tmp_path / "output").write_text("broken")
    reached = forward.Reached(text="ssh://user@host/csi.sock", local="/nowhere/csi.sock", output=tmp_path / "output")
    monkeypatch.setattr(forward, "reached", lambda _: contextlib.nullcontext(reached))

    assert call("Probe", code=2, endpoint=reached.text)[0]["error"]["endpoint"] == reached.text
    assert cli.main(["csi", "probe", reached.text]) == 1
    assert re.fullmatch(rf"{reached.text} missing \(\d+ ms\): output of ssh: broken\n", capsys.readouterr().out)


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
        (["DeleteVolume", "volume_id=x"], "`nomad-csi remove NAMESPACE/ID --delete-data --endpoint ENDPOINT`"),
        (["DeleteSnapshot", "snapshot_id=x"], "`nomad-csi snapshot delete SNAPSHOT_ID --made-by PLUGIN`"),
    ],
)
def test_deleting_is_left_to_the_commands_with_guards(words, said, capsys):
    """No socket is opened."""
    assert cli.main(["csi", "call", "/nowhere.sock", *words]) == 1

    assert said in capsys.readouterr().err

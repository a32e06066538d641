"""No secret in clear: a canary goes through every command, through good runs and failing ones, and is found nowhere."""

import logging

import pytest
import yaml

from nomad_csi import cli
from nomad_csi_sandbox.nomad import state

CANARY = "canary-73e1f0"
TOKEN = f"{CANARY}-token"
SECRET = f'{CANARY}-volume "<&>\\é of two words'
FILE_SYSTEM = "fs-0123456789abcdef0"
LEGACY = f"""type = "csi"
id = "legacy"
external_id = "{FILE_SYSTEM}:/legacy"
plugin_id = "aws-efs0"

capability {{
  access_mode = "multi-node-multi-writer"
  attachment_mode = "file-system"
}}

secrets {{
  password = "{CANARY}-in-the-file"
}}
"""
CASES = {
    "init": ["--hcl --storage csi-hostpath OUT"],
    "check": ["SPEC", "SPEC --json", "WRONG", "LEGACY", "LEGACY --json"],
    "render": ["SPEC --out OUT", "SPEC --out OUT --check"],
    "import": ["LEGACY", "LEGACY --json", "--cluster --json"],
    "plan": ["SPEC", "SPEC --json --out OUT"],
    "apply": ["MADE --owner shop/prod --secrets SECRETS --dry-run", "MADE --owner shop/prod --secrets SECRETS"],
    "remove": [
        "default/v0 --timeout 1s",
        "default/v0 --timeout 1s --json",
        "default/v0 --delete-data --confirm default/v0 --timeout 1s --secrets SECRETS",
    ],
    "snapshot": [
        "create default/v0 --secrets SECRETS --timeout 1s",
        "list default/v0",
        "create default/v0 --secrets WRONG",
    ],
    "snippet": ["SPEC default/v0", "MADE default/v0 --read-only"],
    "claims": ["", "--json", "repair default/v0 --from SPEC --secrets SECRETS --step-timeout 1s --yes"],
    "smoke": ["default/v0 --step-timeout 1s"],
    "verify": [
        "SPEC --stable 0.1s",
        "SPEC --stable 0.1s --json",
        "SPEC --prometheus OUT.prom",
        "job SPEC",
        "--html OUT",
        "SPEC --html OUT --json",
        "--html OUT --smoke WRONG",
    ],
    "doctor": ["SPEC --no-aws", "SPEC --no-aws --json"],
    "csi": [
        "call /nowhere/csi.sock Probe",
        "call /nowhere/csi.sock ValidateVolumeCapabilities volume_id=v0 --secrets PLAIN --show-request",
        "probe /nowhere/csi.sock --secrets SECRETS --probe-timeout 1s",
        "probe --on-nodes aws-efs0 --timeout 1s",
    ],
    "plugin": ["install --project DIR"],
    "schema": [""],
    "acl-policy": ["", "plan apply --spec SPEC"],
    "eject": ["--out OUT --project DIR --stack prod --dry-run"],
    "drivers": ["aws-efs", "--json"],
    "explain": ["claim-ended"],
    "completion": ["bash"],
    "version": ["--json"],
    "sandbox": ["status"],
}
"""Words of each command; those in capitals stand for files with the canary in them, and for folders."""

ASK_NO_NOMAD = {
    "init",
    "check",
    "render",
    "explain",
    "completion",
    "version",
    "snippet",
    "plugin",
    "schema",
    "eject",
    "drivers",
    "sandbox",
}
"""Commands that run at one address only: they send Nomad nothing in their cases, which is asserted."""


@pytest.fixture
def words(tmp_path):
    """Return the words of a case, with the files that they name."""
    given = tmp_path / "given"
    given.mkdir()
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
    volume = {"id": "v0", "plugin_id": "aws-efs0", "existing": {"external_id": f"{FILE_SYSTEM}:/v0"}}
    (given / "storage.yaml").write_text(
        yaml.safe_dump({"plugins": [plugin], "volumes": [volume | {"secrets": {"password": SECRET}}]})
    )
    described = {"id": "aws-efs0", "driver": "csi-hostpath"}
    made = {"id": "v0", "plugin_id": "aws-efs0", "create": {"capacity_min_gib": 1}, "secrets": {"password": SECRET}}
    (given / "made.yaml").write_text(yaml.safe_dump({"plugins": [described], "volumes": [made]}))
    (given / "legacy.volume.hcl").write_text(LEGACY)
    (given / "secrets.yaml").write_text(yaml.safe_dump({"default/v0": {"password": SECRET}}))
    (given / "plain.yaml").write_text(yaml.safe_dump({"password": SECRET}))
    (given / "wrong.yaml").write_text(f"other: *{CANARY}\n- {CANARY}: {SECRET}\n")
    (given / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    found = {
        "SPEC": given / "storage.yaml",
        "MADE": given / "made.yaml",
        "LEGACY": given / "legacy.volume.hcl",
        "SECRETS": given / "secrets.yaml",
        "PLAIN": given / "plain.yaml",
        "WRONG": given / "wrong.yaml",
        "DIR": given,
        "OUT": tmp_path / "made",
    }
    return lambda case: [str(found.get(word, word)) for word in case.split()]


@pytest.fixture
def guarded(make_agent):
    """An agent that takes the canary as its only token, which knows a plugin."""
    made = make_agent(environment={"PATH": "/usr/bin:/bin"}, token=TOKEN)
    made.state.plugins["aws-efs0"] = state.PluginRecord(plugin_id="aws-efs0", create_index=1, modify_index=1)
    return made


@pytest.fixture
def parrot(guarded, proxies):
    """A proxy that passes reads on, and refuses every write with all that it was sent."""
    made = proxies(guarded.url)

    def repeat(handler):
        said = f"bad token {handler.headers['X-Nomad-Token']} in {handler.content.decode()}"
        handler.answer(500, said)

    for method in ("PUT", "POST", "DELETE"):
        made.fault(method, repeat, times=10**6)
    return made


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_no_secret_leaves_a_command(command, words, guarded, parrot, monkeypatch, capsys, caplog, tmp_path):
    """In no output, no log down to the last detail, and no file that the command makes; a new command needs a case."""
    assert CASES.keys() == cli.COMMANDS.keys()
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NOMAD_TOKEN", TOKEN)
    monkeypatch.setenv("NOMAD_CSI_SECRETS", f'{{"default/v0": {{"password": "{CANARY}-of-the-environment"}}}}')
    monkeypatch.chdir(tmp_path)
    outputs = []

    addresses = (guarded.url, parrot.address, "http://127.0.0.1:9")
    for address in addresses if command not in ASK_NO_NOMAD else (parrot.address,):
        monkeypatch.setenv("NOMAD_ADDR", address)
        for case in CASES[command]:
            code = cli.main([command, *words(case)])
            outputs += [f"{case}: {text}" for text in capsys.readouterr()]
            assert code in {0, 1, 2, 64}, outputs[-2:]

    assert command not in ASK_NO_NOMAD or parrot.requests == []
    assert any(len(output.partition(": ")[2]) > 10 for output in outputs)
    assert [output for output in outputs if CANARY in output] == []
    assert CANARY not in caplog.text
    made = [path for path in tmp_path.rglob("*") if path.is_file() and "given" not in path.parts]
    assert [str(path) for path in made if CANARY.encode() in path.read_bytes()] == []

"""``nomad-csi verify``: a failed verification is an answer, a broken call is none."""

import json
import re
from pathlib import Path

import click
import pytest
import yaml

from nomad_csi import cli

CANARY = "canary-7c1f"


def test_verify_of_an_empty_cluster_exits_1_with_findings(spec, empty_agent, capsys):
    """Neither plugin nor volume is there."""
    words = ["verify", spec, "--address", empty_agent()]

    assert cli.main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert cli.main(words) == 1
    table = capsys.readouterr().out
    assert re.fullmatch(r"\d+ plugins? and \d+ volumes? checked: .*\n", table.splitlines(keepends=True)[-1])

    assert report["ok"] is False
    assert [volume["status"] for volume in report["volumes"]] == ["missing"]
    assert "volume-missing" in {finding["code"] for finding in report["findings"]}
    assert "default/shared  missing  aws-efs0  fs-0123456789abcdef0  -\n" in table


@pytest.mark.parametrize(
    ("engine", "programs", "advised"),
    [
        ("", (), "pulumi up"),
        ("emulator", (), "nomad-csi sandbox up"),
        ("emulator", ("pulumi",), "pulumi up"),
        ("real", (), "pulumi up"),
    ],
)
def test_advice_names_the_command_that_is_there(
    spec, empty_agent, capsys, monkeypatch, tmp_path, engine, programs, advised
):
    """In a sandbox whose engine is emulated, without `pulumi` on PATH, that of the sandbox; in text and JSON."""
    stack = tmp_path / "Pulumi.dev.yaml"
    stack.write_text(yaml.safe_dump({"config": {"nomad-csi:storage": yaml.safe_load(Path(spec).read_text())}}))
    words = ["verify", str(stack), "--address", empty_agent()]
    for name in programs:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NOMAD_CSI_SANDBOX", f"aws:moto,engine:{engine}" if engine else "")

    cli.main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    cli.main(words)
    text = capsys.readouterr().out
    cli.main(["verify", spec, *words[2:]])

    assert "    run `nomad-csi apply` with the spec or the rendered file" in capsys.readouterr().out
    advice = next(item["advice"] for item in found if item["code"] == "volume-missing")
    assert advice.startswith(f"run `{advised}`, or `nomad-csi apply`")
    assert f"run `{advised}`" in text
    others = {"pulumi up", "nomad-csi sandbox up"} - {advised}
    assert not any(f"`{other}`" in text for other in others)


def test_verify_asks_with_the_token_of_the_environment(spec, empty_agent, monkeypatch, capsys):
    """The address of an option, the token of NOMAD_TOKEN: options are seen by all users."""
    address = empty_agent(token=CANARY)
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 1

    assert CANARY not in "".join(capsys.readouterr())


def test_verify_exits_2_where_the_token_is_refused(spec, empty_agent, monkeypatch, capsys):
    """It is called unknown, and is not shown."""
    address = empty_agent(token="another")
    monkeypatch.setenv("NOMAD_TOKEN", CANARY)

    assert cli.main(["verify", spec, "--address", address]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: GET /v1/")
    assert "status 403: Permission denied; check NOMAD_TOKEN: Nomad does not know the token" in err
    assert CANARY not in err


OPTIONS = [
    each
    for each in cli.PROGRAM.get_command(None, "verify").params
    if isinstance(each, click.Option) and each.expose_value
]
VALUES = {
    "stack_output": "{folder}/outputs.json",
    "prometheus": "/var/lib/nomad-csi.prom",
    "address": "https://10.0.0.1:4646",
    "ca_cert": "{folder}/ca.pem",
    "ca_path": "{folder}",
    "client_cert": "{folder}/ca.pem",
    "client_key": "{folder}/ca.pem",
    "stable_s": "7s",
    "probe_timeout_s": "7s",
    "timeout_s": "7s",
    "every_s": "70s",
}
"""What an option is given; all others a word."""


@pytest.fixture
def typed(tmp_path):
    """Return an option as it is typed, with a value where it takes one."""
    (tmp_path / "outputs.json").write_text('{"externalIds": {"default/shared": "fs-0fedcba9876543210"}}')
    (tmp_path / "ca.pem").write_text("")

    def words(option):
        value = VALUES.get(option.name, "other").format(folder=tmp_path)
        return [option.opts[0]] if option.is_flag else [option.opts[0], value]

    return words


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_each_option_is_in_the_periodic_job_or_refused_there(option, spec, typed, tmp_path, monkeypatch, capsys):
    """None is dropped in silence: another job is printed, or it is said that it does not fit."""
    for name in ("NOMAD_CLIENT_CERT", "NOMAD_CLIENT_KEY"):  # one does not go without the other
        monkeypatch.setenv(name, VALUES["ca_cert"].format(folder=tmp_path))
    words = ["verify", "job", spec, "--on-client", "client-1"]
    cli.main(words)
    before = capsys.readouterr().out

    code = cli.main([*words, *typed(option)])

    out, err = capsys.readouterr()
    if option.job or option.name == "on_client":
        assert code == 0, err
        assert out != before
    else:
        assert code == 64
        assert f"No such option '{option.opts[0]}'" in err

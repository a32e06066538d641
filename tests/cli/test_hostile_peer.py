"""A Nomad that repeats the command's secrets, in every spelling and in every reply: no command shows one."""

import itertools
import json
import os

import pytest
import yaml

from nomad_csi import cli
from nomad_csi.text import redaction
from tests.cli import hostile_peer
from tests.faults.conftest import proxied
from tests.text import spelled

COMMANDS = {
    "remove": ("remove", "default/a"),
    "snapshot": ("snapshot", "create", "default/a", "--name", "n"),
    "claims": ("claims",),
    "plan": ("plan", "{spec}"),
    "apply": ("apply", "{spec}", "--owner", "shop/prod", "--yes"),
    "verify": ("verify", "{spec}"),
    "doctor": ("doctor", "{spec}"),
    "report": ("verify", "--html", "{folder}/page.html", "--json"),
    "page": ("verify", "--html", "{folder}/page.html"),
    "metrics": ("verify", "{spec}", "--prometheus", "{folder}/nomad.prom"),
    "smoke": ("smoke", "default/a", "--step-timeout", "0.1s"),
    "delete": ("remove", "default/a", "--delete-data", "--confirm", "default/a", "--timeout", "0.1s"),
    "repair": ("claims", "repair", "default/a", "--step-timeout", "0.1s", "--yes"),
    "csi": ("csi", "probe", "--on-nodes", "aws-efs0", "--timeout", "0.1s"),
    "import": ("import", "--cluster", "--json"),
}
WITH_SECRETS = {"apply", "snapshot", "delete"}
"""Commands that send secrets of a volume; all of them send a token."""


def pairs(secrets, *, shift):
    """Return names of secrets and of spellings: each of the latter once, with the secrets in turn; or all pairs."""
    if os.environ.get("ALL_SPELLINGS"):
        return itertools.product(secrets, spelled.SPELLINGS)
    names = itertools.islice(itertools.cycle(secrets), shift, None)
    return zip(names, spelled.SPELLINGS, strict=False)


@pytest.fixture
def hear(empty_agent, monkeypatch, capsys, tmp_path):
    """Run a command against the peer: ``hear(name, secret, text, refuse_from)``; return its code, all it said or wrote, and the count of its requests."""
    spec, folder = tmp_path / "storage.yaml", tmp_path / "written"
    folder.mkdir()
    existing = {"external_id": "fs-0123456789abcdef0:/a"}
    volumes = [{"id": "a", "plugin_id": "aws-efs0", "existing": existing, "secrets": {"key": {"secure": "v1:x"}}}]
    plugins = [{"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}]
    spec.write_text(yaml.safe_dump({"plugins": plugins, "volumes": volumes}))
    with proxied(empty_agent(plugin_id="aws-efs0")) as peer:
        monkeypatch.setenv("NOMAD_ADDR", peer.address)

        def run(name, secret, text, refuse_from):
            peer.requests.clear()
            peer.faults[:] = [
                [method, "", hostile_peer.acting(text, refuse_from), 10**6]
                for method in ("GET", "PUT", "POST", "DELETE")
            ]
            monkeypatch.setenv("NOMAD_CSI_SECRETS", json.dumps({"default/a": {"key": secret}}))
            if secret in spelled.SENT.values():
                monkeypatch.setenv("NOMAD_TOKEN", secret)
            words = [word.format(spec=spec, folder=folder) for word in COMMANDS[name]]
            code = cli.main(words)
            said = capsys.readouterr()
            files = [file.read_text() for file in folder.iterdir()]
            return code, "\n".join([said.out, said.err, *files]), len(peer.requests)

        yield run


def check(hear, name, chosen):
    """Run a command for each of *chosen*, and refuse another request each time."""
    count, shown, hidden = 1, [], 0
    for number, (secret_name, spelling_name) in enumerate(chosen):
        secret = spelled.SECRETS[secret_name]
        text = spelled.SPELLINGS[spelling_name](secret)
        code, said, asked = hear(name, secret, text, number % (count + 1))
        count = max(count, asked)
        shown += [(secret_name, spelling_name, said)] * spelled.is_shown(text, said)
        hidden += redaction.HIDDEN in said
        assert code in {0, 1, 2}, said
    assert shown == []
    assert hidden > (number + 1) / 3


@pytest.mark.parametrize("name", COMMANDS)
def test_command_shows_no_secret_that_a_peer_repeats(hear, name):
    """Each spelling once, with the secrets in turn; in `make soak` all pairs of them."""
    secrets = spelled.SECRETS if name in WITH_SECRETS else spelled.SENT

    check(hear, name, pairs(secrets, shift=list(COMMANDS).index(name)))

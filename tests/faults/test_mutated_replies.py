"""
Replies of Nomad that somebody changed on the way: commands that read say so, and change nothing.

A proxy changes one value of one reply in each run, at a place that is chosen by chance from the run's number: so runs
can be repeated. MUTATIONS sets how many runs each command gets.
"""

import json
import os
import random

import pytest
import yaml
from benchmarks import verification_commands

from nomad_csi import cli, nomad
from nomad_csi.nomad import variables, volumes

RUNS = int(os.environ.get("MUTATIONS", "2"))
CLIENTS = 6
COMMANDS = {
    "verify": "verify SPEC --json",
    "verify table": "verify SPEC",
    "verify metrics": "verify SPEC --prometheus",
    "plan": "plan SPEC --json",
    "claims": "claims",
    "claims json": "claims --json",
    "report": "verify --html PAGE --json",
    "report of a spec": "verify SPEC --html PAGE",
    "doctor": "doctor SPEC --no-aws --json",
    "import": "import --cluster --json",
    "apply": "apply VOLUMES --json --yes --timeout 5s",
    "apply of a spec": "apply MADE --owner shop/prod --dry-run --json",
    "remove": "remove default/none --json --timeout 1s",
    "snapshot": "snapshot list default/data-00001 --json",
    "probe": "csi probe --on-nodes aws-ebs0 --json --timeout 5s",
}
VALUES = (
    *(None, True, False, 0, -1, 1, 2**63, 2**64, -(2**70), 10**400, 0.5, 1e300),
    *("", "x", "\x1b[2J", "数据", "a" * 5000, "-", "../..", "2026-01-01T00:00:00Z"),
    *([], [None], [1], ["x"], [[]], [{}], {}, {"x": None}, {"x": 1}, {"": {"": []}}),
)
TEXTS = (
    "",
    "null",
    "[",
    "nonsense",
    "NaN",
    '"\\ud800"',
    "[" * 200_000,
    "1" * 5000,
    "[null]",
    "[1]",
    '{"a": "\\udc80"}',
)
"""Whole replies."""


@pytest.fixture(scope="module")
def crowd():
    """A cluster of two plugins with healthy instances, claimed volumes and an owner record."""
    with verification_commands.crowded(CLIENTS) as (host, folder, url):
        with nomad.Nomad(nomad.Connection(address=url)) as client:
            variables.put(
                client, "default", "nomad-csi/volumes/data-00001", {"owner": "shop/prod"}, index=variables.NEW
            )
        (folder / "storage.yaml").write_text(yaml.safe_dump(verification_commands.SPEC), encoding="utf-8")
        made = {"id": "data-00001", "plugin_id": "made", "create": {"capacity_min_gib": 1}}
        spec = {"plugins": [{"id": "made", "driver": "csi-hostpath"}], "volumes": [made, made | {"id": "new"}]}
        (folder / "made.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
        (folder / "files").mkdir()
        (folder / "files/data.volume.hcl").write_text(
            'type = "csi"\nid = "data-00001"\nname = "data-00001"\nplugin_id = "aws-ebs0"\n'
            f'external_id = "vol-{1:017x}"\n'
            'capability {\n  access_mode = "single-node-writer"\n  attachment_mode = "file-system"\n}\n'
        )
        yield host, folder, url


def changed(value, chance):
    """Return *value*, JSON that was decoded, with one value in it replaced, left out or given twice."""
    places = list(_places(value, ()))
    path = chance.choice(places)
    if not path:
        return chance.choice(VALUES)
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    act = chance.choice(["replace", "replace", "replace", "remove", "repeat", "deepen"])
    if act == "remove":
        del parent[path[-1]]
    elif act == "repeat" and isinstance(parent, list):
        parent.append(parent[path[-1]])
    elif act == "deepen":
        parent[path[-1]] = {"x": [parent[path[-1]]]}
    else:
        parent[path[-1]] = chance.choice(VALUES)
    return value


def _places(value, path):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


class Mutator:
    """Changes one of the replies of a run."""

    def __init__(self, seed, replies):
        self.chance = random.Random(seed)  # noqa: S311  # tests are to be repeated
        self.left = self.chance.randrange(max(replies, 1))
        self.seen = 0
        self.done = ""

    def __call__(self, handler):
        status, content, headers = handler.forward()
        self.seen += 1
        self.left -= 1
        if self.left == -1 and status == 200:
            if self.chance.random() < 0.15:
                content = self.chance.choice(TEXTS)
            else:
                content = json.dumps(changed(json.loads(content or b"null"), self.chance))
            self.done = f"{handler.command} {handler.path}: {content[:300]}"
        handler.answer(status, content, headers)


def contents(url):
    """Return what the cluster holds: registrations without their indexes, and owner records."""
    server_side = {"ModifyIndex", "ModifyTime", "CreateIndex", "CreateTime"}
    with nomad.Nomad(nomad.Connection(address=url)) as client:
        listed = volumes.list_volumes(client, "*")
        registered = {
            item.volume_id: {
                key: value
                for key, value in client.request("GET", volumes.path_of(item.volume_id)).data.items()
                if key not in server_side
            }
            for item in listed[:20]
        }
        return len(listed), registered, variables.get(client, "default", "nomad-csi/volumes/data-00001").items


@pytest.mark.parametrize("name", COMMANDS)
def test_changed_reply_is_an_error_and_changes_nothing(name, crowd, proxies, monkeypatch, capsys, tmp_path):
    """Never a traceback; the exit code is one of those that README names; registrations and owner records stay."""
    _, folder, url = crowd
    given = {
        "SPEC": folder / "storage.yaml",
        "MADE": folder / "made.yaml",
        "VOLUMES": folder / "files",
        "PAGE": tmp_path / "page.html",
    }
    words = [str(given.get(word, word)) for word in COMMANDS[name].split()]
    before = contents(url)
    proxy = proxies(url)
    monkeypatch.setenv("NOMAD_ADDR", proxy.address)
    monkeypatch.setattr("nomad_csi.volumes.apply_volumes.WAIT_S", 0.01)
    monkeypatch.setattr("nomad_csi.health.probe_job_run.POLL_S", 0.01)
    monkeypatch.chdir(tmp_path)
    replies = 10**9
    found = {}

    for seed in range(RUNS + 1):
        mutator = Mutator(seed, replies)
        proxy.faults[:] = [[method, "", mutator, 10**9] for method in ("GET", "POST", "PUT")]
        try:
            code = cli.main(words)
        except Exception as error:  # noqa: BLE001  # what would be a traceback
            found[seed] = f"{type(error).__name__}: {error} after {mutator.done}"
        else:
            if code not in {0, 1, 2}:
                found[seed] = f"exit code {code} after {mutator.done}"
        capsys.readouterr()
        replies = mutator.seen if seed == 0 else replies

    assert found == {}
    assert contents(url) == before

"""docs/reference/json.md names the keys of what commands print as JSON."""

import json
import re
import shlex
from pathlib import Path

import yaml

from nomad_csi import cli
from nomad_csi.volumes import apply_volumes as applied

ROWS = re.findall(
    r"^\| `([a-z]+(?: probe| --[a-z-]+)?)(?: ([a-z_]+)\[\])?` \| (.*) \|$",
    (Path(__file__).parents[2] / "docs/reference/json.md").read_text(),
    re.MULTILINE,
)
PAGE = {(name, part): set(re.findall(r"`(\w+)`", keys)) for name, part, keys in ROWS}
SPEC = {
    "plugins": [{"id": "nfs", "driver": "csi-driver-nfs"}, {"id": "hostpath0", "driver": "csi-hostpath"}],
    "volumes": [
        {
            "id": "data",
            "plugin_id": "nfs",
            "existing": {"external_id": "a#b#c##"},
            "context": {"server": "s", "share": "/e"},
        },
        {"id": "made", "plugin_id": "hostpath0", "create": {"capacity_min_gib": 1}},
    ],
}
COMMANDS = (
    "check storage.yaml job.nomad.hcl",
    "render storage.yaml --out rendered --check",
    "plan storage.yaml",
    "apply rendered --yes",
    "remove none",
    "remove none --delete-data --confirm none",
    "claims",
    "verify storage.yaml",
    "doctor --no-aws storage.yaml",
    "verify storage.yaml --html report.html",
    "csi probe /no/such.sock",
)


def name_of(line):
    """Return the command of *line* as the page names it: with the word that makes it print another document."""
    return next(
        (f"{line.split()[0]} {word}" for word in ("--delete-data", "--html", "probe") if word in line), line.split()[0]
    )


def test_page_has_the_keys_of_what_is_printed(empty_agent, tmp_path, monkeypatch, capsys):
    """Of the document and of the first item of its lists; a row that no command prints, or a key too many, is an error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOMAD_ADDR", empty_agent())
    Path("storage.yaml").write_text(yaml.safe_dump(SPEC))
    nfs = dict(SPEC, plugins=SPEC["plugins"][:1], volumes=SPEC["volumes"][:1])
    Path("nfs.yaml").write_text(yaml.safe_dump(nfs))
    assert cli.main(["render", "nfs.yaml", "--out", "rendered"]) == 0
    capsys.readouterr()
    Path("job.nomad.hcl").write_text(
        'job "a" {\n  group "g" {\n    task "t" {\n      csi_plugin {\n        id = "x"\n'
        '        type = "node"\n      }\n    }\n  }\n}\n'
    )
    seen = {}
    for line in COMMANDS:
        cli.main([*shlex.split(line), "--json"])
        printed = capsys.readouterr()
        assert printed.out, (line, printed.err)
        document, name = json.loads(printed.out), name_of(line)
        assert document.pop("schema_version") == 1
        seen[name, ""] = set(document)
        seen |= {
            (name, part): set(items[0])
            for part, items in document.items()
            if isinstance(items, list) and items and isinstance(items[0], dict) and (name, part) in PAGE
        }

    created = applied.AppliedVolume(namespace="default", volume_id="a", status="created")  # no plugin is there
    assert seen | {("apply", "volumes"): created.as_json().keys()} == PAGE

"""Values that a stack's config encrypts, on Pulumi's own engine: secret all the way, or refused before anything is made."""

import json
from pathlib import Path

import pytest
import yaml

from nomad_csi.nomad import volumes

FLAG, SECRET, CREATED_FLAG = "vers=3.0,password=FLAG-c0ffee", "SECRET-c0ffee", "CREATED-c0ffee"
STORAGE = {
    "protect": False,
    "plugins": [{"id": "nfs0", "driver": "csi-driver-nfs", "verify": {"stable_s": 0.5}}],
    "volumes": [
        {
            "id": "media",
            "plugin_id": "nfs0",
            "existing": {"external_id": "nas.example.net#export/media"},
            "mount_options": {"mount_flags": ["hard"]},
            "context": {"server": "nas.example.net", "share": "/export/media"},
        },
        {
            "id": "builds",
            "plugin_id": "nfs0",
            "create": {"capacity_min_gib": 1},
            "parameters": {"server": "nas.example.net", "share": "/export"},
        },
    ],
}


@pytest.fixture
def program(stack, world, tmp_path):
    """The ready stack with `STORAGE` in its config, and a command that encrypts a value: ``program.encrypt(PATH, TEXT)``."""
    folder = tmp_path / "storage"
    folder.mkdir()
    (folder / "__main__.py").write_text("from nomad_csi import storage_stack\n\nstorage_stack()\n")
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "nomad-csi", "runtime": "python"}))
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    path = folder / "Pulumi.dev.yaml"
    storage = json.loads(json.dumps(STORAGE))
    storage["plugins"][0]["task_driver"] = world.task_driver | {"arguments": ["--driver", "csi-driver-nfs"]}
    config = {"nomad-csi:renderTo": "rendered", "nomad-csi:storage": storage}
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"config": config}))

    def encrypt(place, text, *words):
        made.run("config", "set", "--path", "--secret", f"nomad-csi:storage{place}", text, *words)

    made.encrypt = encrypt
    return made


def everything(program):
    """Return all texts that are left of a run: the state as it is exported, and every file of project and backend."""
    found = {"export": program.run("stack", "export")}
    backend = Path(program.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
    for folder in (program.folder, backend):
        for path in folder.rglob("*"):
            if path.is_file():
                found[str(path)] = path.read_bytes().decode(errors="replace")
    return found


def test_encrypted_values_reach_nomad_and_show_nowhere(program, world):
    """Mount flags and CSI secrets: in no state, file, log, output or preview, and Nomad has them all the same."""
    program.encrypt(".volumes[0].mount_options.mount_flags[1]", FLAG)
    program.encrypt(".volumes[0].secrets.token", SECRET)
    program.encrypt(".volumes[1].mount_options.mount_flags[0]", CREATED_FLAG)

    printed = [
        program.run("preview", "--diff"),
        program.run("up", "--yes", "--skip-preview", "--debug"),
        program.run("up", "--yes", "--skip-preview", "--expect-no-changes"),
        program.run("preview", "--json"),
        program.run("refresh", "--yes"),
    ]
    left = everything(program)
    with world.nomad() as client:
        media, builds = (volumes.get(client, "default", name) for name in ("media", "builds"))
    program.run("destroy", "--yes", "--skip-preview")

    assert [text for text in printed if "c0ffee" in text] == []
    assert [name for name, text in left.items() if "c0ffee" in text] == []
    assert (media.has_mount_flags, builds.has_mount_flags) == (True, True)
    files = {Path(name).name: text for name, text in left.items() if name.endswith(".volume.hcl")}
    assert 'mount_flags = ["hard"]' in files["media.volume.hcl"]
    assert "mount_flags =" not in files["builds.volume.hcl"]
    note = "# 1 of its mount flags is encrypted and in no file: only `pulumi up` sends it.\n"
    assert all(note in text for text in files.values())

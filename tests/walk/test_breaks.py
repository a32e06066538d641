"""What cannot be is refused by a preview, before anything is made: in a program, by the rules of a spec (`breaks.yaml`)."""

import json
import re
import tempfile
from pathlib import Path

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.plan import storage
from tests import tables
from tests.walk import engines, world

TABLE = Path(__file__).with_name("breaks.yaml")
ROWS = tables.load(TABLE)
PROGRAM = Path(__file__).with_name("breaks_program.py")
PLUGINS = [
    {"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role_name": "clients"}},
    {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"},
]
OURS = r"warning: volume \S+ is not declared|warning: .* `(?:nomad-csi sandbox )?up` fails unless"
IDS = re.compile(r"\b(vol|fs|fsap)-(?!0123456789abcdef0)[0-9a-f]{8,40}\b")


class Break:
    """One row, in a world of its own."""

    def __init__(self, world, folder, row):
        self._world, self._row = world, row
        self.cluster = world.clusters["east"]
        self._engine = engines.Emulated(world.environment, world.providers)
        self._place = engines.Place(folder=folder / "stack", project="shop", name="dev")
        self._engine.init(self._place)
        self._storage = {"disk": world.cloud.disk(), "other_disk": world.cloud.disk()}
        if "before" in row:
            told = self.run("up", row["before"])
            assert told.is_done, told.text
        getattr(self, f"_{row.get('world', 'nothing')}")()

    def run(self, operation, source):
        """Run *operation* with the program *source*."""
        wanted = {"address": self.cluster.url, "source": source, "storage": self._storage}
        engines.prepare(self._place.folder, wanted, PROGRAM)
        return self._engine.run(self._place, operation)

    def _nothing(self):
        """There is nothing else."""

    def _claimed(self):
        self.cluster.claim(("default", "data"), is_claimed=True)

    def _registered(self):
        self.cluster.register("data", self._storage["other_disk"])

    def _foreign(self):
        record = {"id": "data", "owner": "bank/prod", "owner_id": "theirs", "external_id": self._storage["disk"]}
        self.cluster.write("nomad-csi/volumes/data", record)

    def _file(self):
        file = self._place.folder / "out/volumes/default/data.volume.hcl"
        file.parent.mkdir(parents=True)
        file.write_text("# mine\n", encoding="utf-8")

    def _job(self):
        self.cluster.run_job("theirs")

    def refused(self):
        """Return what the preview says, which makes nothing; `up` says so too, and changes no storage that there was."""
        before = self._data()
        preview = self.run("preview", self._row["program"])
        assert self._world.providers.gate.calls == []
        assert preview.is_done is self._row.get("warns", False), preview.text
        up = self.run("up", self._row["program"])
        assert not up.is_done, up.text
        assert before <= self._data()
        found = said(preview.text)
        # What a program declares correctly is made beside what it does not, and plugins run on no client of this world.
        assert self._row.keys() & {"warns", "up"} or "no-eligible-node" in up.text or said(up.text) == found
        return found

    def _data(self):
        storage, folders = self._world.cloud.storage()
        return storage | folders.items() | set(self.cluster.registered().items())


def said(text):
    """Return the lines of the errors in *text*, and of our own warnings, without ids that differ."""
    found = text.partition("Diagnostics:\n")[2].partition("\n\nResources:")[0]
    blocks = re.findall(rf"^ {{4}}((?:error|{OURS}).*(?:\n {{4,6}}(?!error|warning)\S.*)*)", found, re.MULTILINE)
    blocks = [re.sub(r"that Nomad has \([^)]*\)", "that Nomad has (...)", block) for block in blocks]
    kept = [re.sub(r"^error: (Preview failed: |update failed|preview failed)?", "", block) for block in blocks]
    lines = [IDS.sub(r"\1-ID", line.strip()) for block in kept for line in block.splitlines() if line.strip()]
    return [line for line in lines if not line.endswith("program exited with non-zero exit code: 1")]


def of_spec(spec):
    """Return what `check` and `up` say of *spec*."""
    document = {**spec, "plugins": [*PLUGINS, *spec.get("plugins", ())]}
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document, source="spec")
    return list(caught.value.lines)


@pytest.mark.parametrize("name", ROWS)
def test_preview_refuses_what_cannot_be(walked_world, tmp_path, name):
    """With a code that is not 0, in one or two lines and without a traceback; a spec by the same rules."""
    row = ROWS[name]
    with walked_world.quick():
        try:
            found = Break(walked_world, tmp_path, row).refused()
        finally:
            walked_world.empty()

    assert found == row["says"]
    assert "Traceback" not in json.dumps(found)
    assert (of_spec(row["spec"]) if "spec" in row else []) == row.get("spec_says", [])


def main():
    """Write the table again."""
    made = world.World()
    text = TABLE.read_text(encoding="utf-8")
    text = re.sub(r"^  (says|spec_says):\n(  - .*\n|    .*\n| *\n)*", "", text, flags=re.MULTILINE)
    try:
        for name, row in ROWS.items():
            with tempfile.TemporaryDirectory() as folder, made.quick():
                found = {"says": Break(made, Path(folder), row).refused()}
            made.empty()
            if "spec" in row:
                found["spec_says"] = of_spec(row["spec"])
            written = yaml.safe_dump(found, width=200, sort_keys=False, allow_unicode=True)
            block = "".join(f"  {line}\n" for line in written.splitlines())
            head = f"{name}:\n"
            start = text.index(head) + len(head)
            end = re.search(r"^\S|\Z", text[start:], re.MULTILINE).start() + start
            text = text[:end] + block + text[end:]
    finally:
        made.close()
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

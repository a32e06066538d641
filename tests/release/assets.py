"""What a release has beside its archives: the list of what an installation holds, the schemas, the notes."""

import subprocess
import sys
from pathlib import Path

from tests.release import project

SBOM = "sbom.cdx.json"


def write_sbom(folder):
    """Write what an installation holds, from the lock file, as CycloneDX."""
    folder.mkdir(parents=True, exist_ok=True)
    about = ("--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", folder / SBOM)
    command = [_program("cyclonedx-py"), "requirements", *about, "requirements.lock"]
    subprocess.run(command, cwd=project.ROOT, check=True)


def write_schemas(folder):
    """Write the schema of the Pulumi package and that of a spec."""
    from nomad_csi.provider import hosting  # noqa: PLC0415  # the list above needs no product

    (folder / "pulumi-schema.json").write_text(hosting.Hosted().schema, encoding="utf-8")
    for name, words in {"spec.schema.json": (), "stack.schema.json": ("--stack-config",)}.items():
        done = subprocess.run([_program("nomad-csi"), "schema", *words], capture_output=True, check=True)
        (folder / name).write_bytes(done.stdout)


def write_notes(folder):
    """Write the notes of this version, as CHANGELOG.md has them."""
    version = project.metadata()["version"]
    _, notes = project.entry((project.ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    (folder / "notes.md").write_text(notes, encoding="utf-8")


def _program(name):
    return Path(sys.executable).with_name(name)

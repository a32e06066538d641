"""`up`, `up` again and `preview` of 1, 10 and 50 volumes in the sandbox."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks import timing
from nomad_csi_sandbox.session import parts

COUNTS = (1, 10, 50)
COPIED = ("Pulumi.yaml", "Pulumi.sandbox.yaml", "infra", "templates")


def measure() -> Iterator[str]:
    """Yield the results, with what is on PATH: real or emulator."""
    decided = parts.decide()
    yield f"engine {decided['engine']}, nomad {decided['nomad']}"
    base = None
    for count in COUNTS:
        with tempfile.TemporaryDirectory(prefix="nc") as name:
            project = Path(name)
            _copy(project, count)
            run = _command(project)
            try:
                up, again, preview = (
                    timing.of_command([*run, action], cwd=project) for action in ("up", "up", "preview")
                )
            finally:
                down = timing.of_command([*run, "down"], cwd=project)
            base = base or up.seconds
            yield (
                f"{count:3} volumes: up {up.seconds:.1f} s ({up.seconds / base:.1f} x one volume), again "
                f"{again.seconds:.1f} s, preview {preview.seconds:.1f} s, down {down.seconds:.1f} s, "
                f"largest process {max(up.peak_mib, again.peak_mib):.0f} MiB"
            )


def project(folder: Path, *, plugins: int = 1) -> list[str]:
    """Make a project of one EBS volume in *folder*, which is made, and return the command of its sandbox."""
    folder.mkdir(parents=True)
    _copy(folder, 1, plugins)
    return _command(folder)


def _command(project: Path) -> list[str]:
    return [str(Path(sys.executable).parent / "nomad-csi"), "sandbox", "--project", str(project)]


def _copy(project: Path, count: int, plugins: int = 1) -> None:
    """Make a project of *count* EBS volumes and of the first *plugins*, with a data directory of its own."""
    here = Path.cwd()
    for part in COPIED:
        source = here / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / part)
    (project / ".venv").symlink_to(Path(sys.prefix))
    config = project / "Pulumi.sandbox.yaml"
    document = yaml.safe_load(config.read_text())
    storage = document["config"]["nomad-csi:storage"]
    storage["plugins"] = storage["plugins"][:plugins]
    for plugin in storage["plugins"]:
        plugin["task_driver"]["client_data_dir"] = f"{project}d"
    first = storage["volumes"][0]
    storage["volumes"] = [first | {"id": f"data-{index}"} for index in range(count)]
    config.write_text(yaml.safe_dump(document))

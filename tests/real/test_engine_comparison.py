"""
The stand-in for the Pulumi engine held to the real one: same program, same steps, states compared after each.

Known deviations, which the comparison leaves out:
times and source positions (the stand-in keeps no source positions); the ids of providers, which are random; the values
of secrets, of which the stand-in keeps digests only (that both are secret is compared); ``__internal`` among the inputs
of a provider (the real engine's own); empty lists of property dependencies, which a refresh of the real engine drops.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TOY = REPOSITORY / "tests" / "sandbox" / "engine"
FORGOTTEN = ("created", "modified", "sourcePosition", "stackTrace")
SECRET = "4dabf18193072939515e22adb298388d"
UNTOLD = ("same", "refresh", "create-replacement", "delete-replaced", "discard-replaced")

pytestmark = [
    pytest.mark.real_pulumi,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not (shutil.which("pulumi") and shutil.which("pulumi-language-python")),
        reason="needs `pulumi` and `pulumi-language-python` on PATH",
    ),
]


@dataclass
class Side:
    """One engine with a world of its own."""

    folder: Path
    environment: dict
    command: list

    @property
    def world(self):
        return self.folder / "world"

    def run(self, *arguments):
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder / "project",
            env=self.environment | {"TOY_WORLD": str(self.world)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def fault(self, **faults):
        (self.world / "faults.json").write_text(json.dumps(faults), encoding="utf-8")


class Real(Side):
    """The pulumi CLI."""

    def preview(self, step):
        done = self.run("preview", "--json", *config(step))
        steps = json.loads(done.stdout[done.stdout.index("{") :])["steps"] if done.returncode == 0 else []
        return {(each["op"], each["urn"]) for each in steps}, done.returncode == 0

    def up(self, step):
        return self.run("up", "--yes", "--non-interactive", "--skip-preview", *config(step))

    def refresh(self, step):
        return self.run("refresh", "--yes", "--non-interactive", "--skip-preview", *config(step))

    def destroy(self, _step):
        return self.run("destroy", "--yes", "--non-interactive", "--skip-preview")

    def resources(self):
        return json.loads(self.run("stack", "export").stdout)["deployment"].get("resources", [])


class StandIn(Side):
    """Ours."""

    def operate(self, operation, step):
        files = ["--state", str(self.folder / "state.json"), "--json", str(self.folder / "result.json")]
        place = ["--project", ".", "--stack", "dev"]
        return self.run(operation, *place, *files, "--skip-preview", *config(step))

    def preview(self, step):
        done = self.operate("preview", step)
        result = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        return {(each["op"], each["urn"]) for each in result["operations"]}, done.returncode == 0

    def up(self, step):
        return self.operate("up", step)

    def refresh(self, step):
        return self.operate("refresh", step)

    def destroy(self, step):
        return self.operate("destroy", step)

    def resources(self):
        return json.loads((self.folder / "state.json").read_text(encoding="utf-8"))["deployment"]["resources"]


def config(step):
    return ["--config", f"step={step}"]


def make_project(folder):
    project = folder / "project"
    (project / "plugin").mkdir(parents=True)
    (folder / "world").mkdir()
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
    plugins = {"providers": [{"name": "toy", "path": "./plugin"}]}
    document = {"name": "yard", "runtime": runtime, "plugins": plugins, "config": {"toy:prefix": ""}}
    (project / "Pulumi.yaml").write_text(json.dumps(document), encoding="utf-8")
    stack = {"config": {"yard:storage": {"sizes": [1, 2], "fast": True}}}
    (project / "Pulumi.dev.yaml").write_text(json.dumps(stack), encoding="utf-8")
    shutil.copy(TOY / "toy.py", project / "toy.py")
    shutil.copy(TOY / "comparison_program.py", project / "__main__.py")
    plugin = project / "plugin" / "pulumi-resource-toy"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} {TOY / "toy_provider.py"} "$@"\n', encoding="utf-8")
    plugin.chmod(0o755)


@pytest.fixture
def real(tmp_path):
    make_project(tmp_path / "real")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
        "PULUMI_CONFIG_PASSPHRASE": "yard",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    side = Real(tmp_path / "real", environment, ["pulumi"])
    side.run("stack", "init", "dev")
    return side


@pytest.fixture
def stand_in(tmp_path):
    make_project(tmp_path / "ours")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "NOMAD_CSI_SANDBOX": "engine:stand-in",
        "PYTHONPATH": str(REPOSITORY / "infra"),
    }
    return StandIn(tmp_path / "ours", environment, [sys.executable, "-m", "nomad_csi_sandbox.engine"])


def both(real, stand_in, change):
    for side in (real, stand_in):
        change(side)


def fail_things(side):
    side.fault(**{"Create:fragile": {"kind": "error", "message": "no fragile things today"}})


def half_make_things(side):
    side.fault(**{"Created:fragile": {"kind": "init", "message": "not ready yet"}})


def heal(side):
    side.fault()


def lose_watched(side):
    (side.world / "thing-watched-1.json").unlink()


def add_foreign(side):
    for name in ("foreign", "found"):
        (side.world / f"thing-{name}-1.json").write_text('{"value": "theirs"}', encoding="utf-8")


def drift(side):
    (side.world / "thing-two-1.json").write_text('{"value": "drifted"}', encoding="utf-8")
    (side.world / "thing-marked-1.json").unlink()


CHANGES = {7: fail_things, 8: half_make_things, 9: heal, 12: lose_watched, 14: add_foreign}


def normal(resources):
    """Return *resources* by URN and deletion mark, without what the two engines cannot have in common."""
    text = json.dumps(resources)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)
    return {(each["urn"], each.get("delete", False)): normal_resource(each) for each in json.loads(text)}


def normal_resource(resource):
    kept = {key: hide(value) for key, value in resource.items() if key not in FORGOTTEN}
    for properties in (kept.get("inputs", {}), kept.get("outputs", {})):
        properties.pop("__internal", None)
    if "dependencies" in kept:
        kept["dependencies"] = sorted(kept["dependencies"])
    by_property = kept.get("propertyDependencies", {})
    kept["propertyDependencies"] = {key: sorted(urns) for key, urns in by_property.items() if urns}
    return {key: value for key, value in kept.items() if value not in ({}, [])}


def hide(value):
    if isinstance(value, dict):
        return "[secret]" if SECRET in value else {key: hide(item) for key, item in value.items()}
    return [hide(item) for item in value] if isinstance(value, list) else value


def shown(operations):
    """Return *operations* that change something; the two tell differently of providers and of what only was read."""
    return {(op, urn) for op, urn in operations if "pulumi:providers" not in urn and op not in UNTOLD}


def differences(ours, theirs):
    """Return one line for each field in which *ours* and *theirs*, both normal, differ."""
    return [
        f"{urn} {key}: {ours.get((urn, gone), {}).get(key)} here, {theirs.get((urn, gone), {}).get(key)} there"
        for urn, gone in sorted({*ours, *theirs})
        for key in sorted({*ours.get((urn, gone), {}), *theirs.get((urn, gone), {})})
        if ours.get((urn, gone), {}).get(key) != theirs.get((urn, gone), {}).get(key)
    ]


def in_order(resources):
    """Whether nothing stands before what it depends on."""
    seen = set()
    for each in resources:
        needed = {each.get("parent"), *each.get("dependencies", ())} - {None}
        if not needed <= seen:
            return False
        seen.add(each["urn"])
    return True


def test_both_engines_leave_the_same_state(real, stand_in):
    """Through creates, updates, replacements, failures, recoveries, renames and imports, step by step."""
    for step in range(15):
        both(real, stand_in, CHANGES.get(step, lambda _side: None))
        planned, agreed = real.preview(step)
        ours, ours_agreed = stand_in.preview(step)

        assert ours_agreed == agreed, f"preview of step {step}"
        if agreed:
            assert shown(ours) == shown(planned), f"preview of step {step}"

        theirs_done, ours_done = real.up(step), stand_in.up(step)

        assert (ours_done.returncode == 0) == (theirs_done.returncode == 0), theirs_done.stdout + ours_done.stdout
        found = differences(normal(stand_in.resources()), normal(real.resources()))
        assert not found, "\n".join([f"state after step {step}", *found])
        assert in_order(stand_in.resources()), f"order after step {step}"


def test_both_engines_refresh_and_destroy_alike(real, stand_in):
    """Drift is taken over, what is gone leaves the state, and a destroy leaves nothing in either world."""
    both(real, stand_in, lambda side: side.up(0))
    both(real, stand_in, drift)

    both(real, stand_in, lambda side: side.refresh(0))

    found = differences(normal(stand_in.resources()), normal(real.resources()))
    assert not found, "\n".join(found)

    both(real, stand_in, lambda side: side.destroy(0))

    assert stand_in.resources() == real.resources() == []
    left = {side.folder.name: sorted(path.name for path in side.world.glob("*.json")) for side in (real, stand_in)}
    assert left["ours"] == left["real"]

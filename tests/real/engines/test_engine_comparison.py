"""
The stand-in for the Pulumi engine held to the real one: same program, same steps, states compared after each.

Known deviations, which the comparison leaves out:
times and source positions (the stand-in keeps no source positions); the ids of providers, which are random; the values
of secrets, of which the stand-in keeps digests only (that both are secret is compared); ``__internal`` among the inputs
of a provider (the real engine's own); empty lists of property dependencies, which a refresh of the real engine drops.
Outputs of components are compared where a run before has recorded them: once a step has failed, the real engine records
those of no further component, and the stand-in does; the next `up` records them in both.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
TOY = REPOSITORY / "tests" / "sandbox" / "engine"


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


def test_both_engines_leave_the_same_state(real, stand_in, states):
    """Through creates, updates, replacements, failures, recoveries, renames and imports, step by step."""
    for step in range(15):
        both(real, stand_in, CHANGES.get(step, lambda _side: None))
        planned, agreed = real.preview(step)
        ours, ours_agreed = stand_in.preview(step)

        assert ours_agreed == agreed, f"preview of step {step}"
        if agreed:
            assert states.shown(ours) == states.shown(planned), f"preview of step {step}"

        theirs_done, ours_done = real.up(step), stand_in.up(step)

        assert (ours_done.returncode == 0) == (theirs_done.returncode == 0), theirs_done.stdout + ours_done.stdout
        found = states.differences(states.normal(stand_in.resources()), states.normal(real.resources()))
        assert not found, "\n".join([f"state after step {step}", *found])
        assert states.in_order(stand_in.resources()), f"order after step {step}"


def test_both_engines_refresh_and_destroy_alike(real, stand_in, states):
    """Drift is taken over, what is gone leaves the state, and a destroy leaves nothing in either world."""
    both(real, stand_in, lambda side: side.up(0))
    both(real, stand_in, drift)

    both(real, stand_in, lambda side: side.refresh(0))

    found = states.differences(states.normal(stand_in.resources()), states.normal(real.resources()))
    assert not found, "\n".join(found)

    both(real, stand_in, lambda side: side.destroy(0))

    assert stand_in.resources() == real.resources() == []
    left = {side.folder.name: sorted(path.name for path in side.world.glob("*.json")) for side in (real, stand_in)}
    assert left["ours"] == left["real"]


def calls(side, method):
    """Return the names of what the provider was asked to do so."""
    found = [json.loads(line) for line in (side.world / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    return sorted(call["name"] for call in found if call["method"] == method)


def test_both_engines_read_before_a_destroy_what_asks_for_it(real, stand_in):
    """What is found to be gone is not deleted once more, and nothing else is read."""
    both(real, stand_in, lambda side: side.up(0))
    both(real, stand_in, lose_watched)
    both(real, stand_in, lambda side: (side.world / "calls.jsonl").unlink())

    both(real, stand_in, lambda side: side.destroy(0))

    assert stand_in.resources() == real.resources() == []
    assert calls(stand_in, "Read") == calls(real, "Read") == ["watched"]
    assert calls(stand_in, "Delete") == calls(real, "Delete")
    assert "watched" not in calls(real, "Delete")


def test_both_engines_refresh_what_is_half_made_alike(real, stand_in, states):
    """What was made and is not ready is recorded with the reason; a refresh finds it whole, or gone."""
    both(real, stand_in, lambda side: side.up(6))
    both(real, stand_in, half_make_things)
    made = [side.up(8) for side in (real, stand_in)]
    both(real, stand_in, heal)
    kept = assert_same(real, stand_in, states)

    both(real, stand_in, lambda side: side.refresh(8))
    whole = assert_same(real, stand_in, states)

    both(real, stand_in, lambda side: (side.world / "thing-fragile-1.json").unlink())
    both(real, stand_in, lambda side: side.refresh(8))
    left = assert_same(real, stand_in, states)

    assert [done.returncode == 0 for done in made] == [False, False]
    assert [named(found).get("initErrors") for found in (kept, whole)] == [["not ready yet"], None]
    assert named(left) is None


def assert_same(real, stand_in, states):
    """Insist on equal states, and return the resources."""
    found = states.differences(states.normal(stand_in.resources()), states.normal(real.resources()))
    assert not found, "\n".join(found)
    return stand_in.resources()


def named(resources, name="fragile"):
    return next((each for each in resources if each["urn"].endswith(f"::{name}")), None)

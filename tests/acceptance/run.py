"""One run: its folder, its spec, and its steps with the seconds that each took."""

import datetime as dt
import html
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

RUN_TAG, EXPIRES_TAG = "nomad-csi-accept-run", "nomad-csi-accept-expires"
"""Tags of everything in AWS: the id of the run, and the time (UTC, ISO 8601) from which it may be swept."""

LIFE_H = 4
STEP_S = 1800
PROJECT = "nomad-csi-accept"
SIZE_GIB, GROWN_GIB = 1, 2
USD_PER_GIB_MONTH = 0.16
"""Twice the list price of gp3 in us-east-1; snapshots cost less. Source: https://aws.amazon.com/ebs/pricing/."""

HOURS_A_MONTH = 730
PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
PROGRAMS = Path(sys.executable).parent


class FailedError(Exception):
    """A step ended otherwise than it must."""


def most_usd():
    """Return what the storage of a run costs at most until it expires: two volumes and a snapshot of the grown size."""
    return 3 * GROWN_GIB * USD_PER_GIB_MONTH * LIFE_H / HOURS_A_MONTH


@dataclass
class Run:
    """A run in its folder, which has the Pulumi project, its state and what was seen."""

    run_id: str
    folder: Path
    region: str
    zone: str
    plugin: dict = field(default_factory=dict)
    """Keys of the plugin that the cluster wants, such as ``constraints`` or ``task_driver``."""

    steps: list = field(default_factory=list)

    @property
    def volumes(self):
        """Return the ids of the volume and of the one that is restored from its snapshot."""
        return f"{self.run_id}-data", f"{self.run_id}-restored"

    @property
    def environment(self):
        """Return the variables of all commands: the state is in the folder, and nowhere else."""
        own = {
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": self.run_id,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        }
        return os.environ | own

    def tags(self):
        """Return the tags of everything in AWS."""
        expires = dt.datetime.now(dt.UTC) + dt.timedelta(hours=LIFE_H)
        return {RUN_TAG: self.run_id, EXPIRES_TAG: expires.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def spec(self, tags, size_gib, snapshot_id=""):
        """Return the spec: a plugin and a volume, and one that the plugin makes from *snapshot_id*."""
        own, restored = self.volumes
        plugin = {"id": self.run_id, "driver": "aws-ebs", "aws_region": self.region, "extra_tags": tags}
        made = {"availability_zone": self.zone, "size_gib": size_gib, "tags": tags}
        volumes = [{"id": own, "plugin_id": self.run_id, "ebs": made}]
        if snapshot_id:
            create = {"capacity_min_gib": size_gib, "availability_zone": self.zone, "snapshot_id": snapshot_id}
            create |= {"on_destroy": "delete", "deletion": {"aws_region": self.region, "skip_final_snapshot": True}}
            volumes.append({"id": restored, "plugin_id": self.run_id, "create": create})
        return {"protect": False, "plugins": [plugin | self.plugin], "volumes": volumes}

    def write(self, spec):
        """Write the stack's config."""
        config = {"aws:region": self.region, "nomad-csi:storage": spec}
        text = yaml.safe_dump({"config": config}, sort_keys=False)
        kept = self.config.read_text() if self.config.exists() else ""
        salt = "".join(line for line in kept.splitlines(keepends=True) if line.startswith("encryptionsalt:"))
        self.config.write_text(salt + text)

    @property
    def config(self):
        """Return the path of the stack's config."""
        return self.folder / f"Pulumi.{self.run_id}.yaml"

    def begin(self):
        """Make the project and its stack."""
        (self.folder / "state").mkdir(parents=True)
        (self.folder / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\n")
        (self.folder / "__main__.py").write_text(PROGRAM)
        self.call("nomad-csi", "plugin", "install")
        self.pulumi("stack", "init")

    def pulumi(self, *words):
        """Run a command of Pulumi for the stack; return its output."""
        stack = ("--stack", self.run_id) if words[:2] != ("stack", "init") else (self.run_id,)
        return self.call("pulumi", *words, *stack, "--non-interactive", "--color", "never")

    def call(self, *command, codes=(0,)):
        """Run *command* in the folder; return its standard output. Another exit code than *codes* fails the step."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=STEP_S,
            check=False,
        )
        if done.returncode not in codes:
            raise FailedError(f"{' '.join(command[:3])}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def step(self, name, action):
        """Do *action*, print and record the seconds it took and what it returns; a failure is recorded, too."""
        began = time.monotonic()
        print(f"{name} ...", flush=True)
        recorded = {"step": name, "ok": False}
        self.steps.append(recorded)
        try:
            recorded |= {"ok": True, "seen": action()}
            return recorded["seen"]
        except Exception as error:
            recorded["error"] = str(error)
            raise
        finally:
            recorded["seconds"] = round(time.monotonic() - began, 1)
            self._record()
            print(f"{name}: {'ok' if recorded['ok'] else 'FAILED'} after {recorded['seconds']} s", flush=True)

    def _record(self):
        """Write what was seen so far as JSON and as a page."""
        ok = all(each["ok"] for each in self.steps)
        seen = {"run": self.run_id, "region": self.region, "ok": ok, "steps": self.steps}
        (self.folder / "run.json").write_text(json.dumps(seen, indent=2) + "\n")
        rows = "".join(
            f"<tr><td>{html.escape(each['step'])}</td><td>{'ok' if each['ok'] else 'failed'}</td><td>{each['seconds']}</td>"
            f"<td><pre>{html.escape(json.dumps(each.get('seen', each.get('error')), indent=1))}</pre></td></tr>\n"
            for each in self.steps
        )
        (self.folder / "run.html").write_text(
            f"<!doctype html><meta charset=utf-8><title>{self.run_id}</title><h1>{self.run_id}: {'ok' if ok else 'failed'}"
            f"</h1><p><a href=report.html>The cluster</a></p><table border=1><tr><th>step<th>status<th>s<th>seen</tr>\n{rows}</table>\n"
        )


def main_job(run):
    """Create, claim, snapshot, grow, restore, verify and destroy; raise `FailedError` where one does not do its work."""
    tags, (own, restored) = run.tags(), run.volumes

    def up(size_gib, snapshot_id=""):
        run.write(run.spec(tags, size_gib, snapshot_id))
        run.pulumi("up", "--yes", "--skip-preview")
        outputs = run.pulumi("stack", "output", "--json")
        (run.folder / "outputs.json").write_text(outputs)
        return json.loads(outputs)["externalIds"]

    def claim(volume):
        words = ("smoke", volume, "--aws-region", run.region, "--json")
        emulated = ("--task-driver", "exec") if in_sandbox() else ()
        found = json.loads(run.call("nomad-csi", *words, *emulated, codes=(0, 2) if in_sandbox() else (0,)))
        if found["status"] != ("not verified" if in_sandbox() else "verified"):
            raise FailedError(f"smoke {volume}: {found}")
        return {key: found[key] for key in ("status", "verified", "not_verified", "left_behind")}

    def snapshot():
        words = ("snapshot", "create", own, "--name", own, "--timeout", "900s", "--json")
        [made] = json.loads(run.call("nomad-csi", *words))["snapshots"]
        return made["snapshot_id"]

    def verify():
        words = ("verify", str(run.config), "--stack-output", "outputs.json", "--json")
        found = json.loads(run.call("nomad-csi", *words))
        run.call(
            "nomad-csi",
            "verify",
            str(run.config),
            "--stack-output",
            "outputs.json",
            "--html",
            "report.html",
            codes=(0, 1),
        )
        return {each["volume_id"]: each["status"] for each in found["volumes"]}

    run.step("project", run.begin)
    run.step("up", lambda: up(SIZE_GIB))
    run.step("claim", lambda: claim(own))
    snapshot_id = run.step("snapshot", snapshot)
    run.step("grow", lambda: up(GROWN_GIB))
    run.step("restore", lambda: up(GROWN_GIB, snapshot_id))
    run.step("claim of the restored volume", lambda: claim(restored))
    run.step("verify", verify)
    delete = ("snapshot", "delete", snapshot_id, "--made-by", run.run_id, "--confirm", snapshot_id)
    run.step("delete the snapshot", lambda: run.call("nomad-csi", *delete))
    run.step("destroy", lambda: run.pulumi("destroy", "--yes", "--skip-preview") and None)


def in_sandbox():
    """Return whether AWS and Nomad are emulators, whose plugins mount nothing."""
    return bool(os.environ.get("NOMAD_CSI_SANDBOX"))

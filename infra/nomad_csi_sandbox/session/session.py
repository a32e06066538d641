"""A sandbox from `up` to `down`."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors, exit_codes, nomad
from nomad_csi.hcl import disk
from nomad_csi.nomad import cluster_identity, jobs
from nomad_csi.plan import model, storage
from nomad_csi.spec import draft
from nomad_csi_sandbox.aws import account
from nomad_csi_sandbox.session import (
    agent,
    engine,
    environment,
    folder,
    foreground,
    outputs,
    parts,
    processes,
    project,
    stack_config,
)

CHANGES_OUTPUTS = frozenset({"refresh", "up", "update"})
"""Commands of Pulumi after which a stack's outputs may be others."""

DAMAGED = (AttributeError, LookupError, TypeError, ValueError)
"""What reading a file raises that does not have the form in which the sandbox wrote it."""


class Session:
    """The sandbox of the project in *root*. Every command of ``nomad-csi sandbox`` is a method."""

    def __init__(self, root: Path, say: Callable[[str], None] | None = None) -> None:
        self.paths = folder.Folder(root)
        self.say = say or _say

    def plan(self) -> model.StoragePlan | None:
        """
        Return the plan of the spec in the config that the engines read; ``None``: a program of components has none.

        Raises `errors.SpecError` with all problems.
        """
        document = self._config().get(stack_config.KEY)
        return None if document is None else storage.plan_document(document, source=self.paths.config.name)

    def up(self, *, engine_kind: str = "", nomad_kind: str = "", skip_preview: bool = False) -> int:
        """Start what is missing, make everything, after a preview unless told to skip it; return the exit code."""
        for path in project.write(self.paths):
            self.say(f"wrote {path}")
        plan = self.plan()
        with self.paths.locked():
            record = self._record(plan, {"engine": engine_kind, "nomad": nomad_kind})
            is_new = not record.processes
            self.say(parts.describe(record.parts) if is_new else f"{parts.TITLE}: {parts.summary(record.parts)}")
            self._start(record)
            before = _essence(self._state(record))
            code = self._run("up", record, ["--skip-preview"] if skip_preview else [], described=True)
            if code == 0 and _essence(self._state(record)) == before:
                self.say("Nothing has changed: everything is as the config asks.\n")
            return code

    def preview(self) -> int:
        """Show what `up` would change."""
        return self._operate("preview")

    def refresh(self) -> int:
        """Take over into the state what has changed outside."""
        return self._operate("refresh")

    def down(self) -> int:
        """
        End and remove all that is the sandbox's own, whatever state it is in.

        Nothing in it is data, and its AWS ends with it: no resource is destroyed first, which protection, a claim or a
        failure could prevent.
        """
        if not self.paths.path.exists():
            self.say("There is no sandbox here; nothing to take down.")
            return 0
        with self.paths.locked():
            record = self._record_left()
            self._stop(record or folder.Record(data_dir=folder.default_data_dir(self.paths.project)))
            rendered = self._rendered(record) if record else []
        self.paths.remove()
        for path in rendered:
            self._remove_rendered(path)
        self.say("Gone: no process, port or file of the sandbox is left.")
        return 0

    def environment(self) -> dict[str, str]:
        """Return the environment of a sandbox that is up."""
        record = self._up()
        self._write_config(record)
        return environment.build(self.paths, record, record.aws_region)

    def shell_variables(self) -> dict[str, str]:
        """Return the variables by which a shell reaches a sandbox that is up."""
        return environment.of_shell(self.paths, self._up())

    def execute(self, command: Sequence[str]) -> int:
        """
        Run *command* in the environment of a sandbox that is up. Return its exit code.

        Without a program `nomad`, its ``job run FILE`` and ``job stop JOB`` are done here.
        """
        variables = environment.of_command(self.environment(), self.paths, command) | processes.guarded()
        if shutil.which(command[0], path=variables.get("PATH", os.defpath)) is None:
            match command:
                case ["nomad", "job", "run", file]:
                    return self._run_job(Path(file))
                case ["nomad", "job", "stop", job_id]:
                    return self._stop_job(job_id)
            raise errors.NomadCsiError(_not_found(command[0], self.record()))
        code = foreground.run(command, variables)
        if Path(command[0]).name == "pulumi" and CHANGES_OUTPUTS & set(command[1:]):
            self._write_outputs()
        return code

    def _run_job(self, file: Path) -> int:
        """Run the job of *file*, HCL, as `nomad job run` does; return 1 if it cannot be placed."""
        try:
            source = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise errors.NomadCsiError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
        with self._nomad() as client:
            job = jobs.parse(client, source)
            failed = jobs.plan(client, job).failed_groups
            jobs.register(client, job, source=source, enforce_index=None)
        self.say(f"job {job['ID']} is registered; its claims: nomad-csi sandbox exec -- nomad-csi claims")
        for group, why in failed.items():
            self.say(f"group {group} cannot be placed: {why}")
        return exit_codes.CHANGES if failed else 0

    def _stop_job(self, job_id: str) -> int:
        """Stop a job, as `nomad job stop` does."""
        with self._nomad() as client:
            if jobs.get(client, "default", job_id) is None:
                raise errors.NomadCsiError(f"Nomad has no job {job_id} in namespace default")
            jobs.stop(client, "default", job_id, purge=False)
        self.say(f"job {job_id} is stopped")
        return 0

    def _nomad(self) -> nomad.Nomad:
        return nomad.Nomad(nomad.Connection.from_environment(self.environment()))

    def introduce(self) -> None:
        """Say on a terminal, beside the output, which sandbox answers and what is real in it."""
        if sys.stderr.isatty():
            print(f"sandbox in {self.paths.project}: {parts.summary(self._up().parts)}", file=sys.stderr, flush=True)

    def lowered(self) -> tuple[stack_config.Lowered, ...]:
        """Return what of the project's config is more than this sandbox can run."""
        return self._fit(self._up())[1]

    def record(self) -> folder.Record:
        """Return the record of a sandbox that is up."""
        return self._up()

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources in the state."""
        return self._state(self._up())

    def outputs(self) -> dict[str, Any]:
        """Return the outputs of the stack as they stand in its state, secrets encrypted."""
        record = self._up()
        return engine.outputs(self.paths, self.environment(), real=record.parts["engine"] == "real")

    def external_ids(self) -> dict[str, str]:
        """Return the external ids that the stack gave out, by ``namespace/volume_id``."""
        return dict(self.outputs().get("externalIds") or {})

    def _state(self, record: folder.Record) -> list[dict[str, Any]]:
        real = record.parts["engine"] == "real"
        return engine.resources(self.paths, environment.build(self.paths, record, record.aws_region), real=real)

    def _operate(self, operation: str) -> int:
        self._up()  # before the lock, which makes the folder
        with self.paths.locked():
            record = self._up()
            self._start(record)
            return self._run(operation, record)

    def _run(
        self, operation: str, record: folder.Record, options: Sequence[str] = (), *, described: bool = False
    ) -> int:
        for lowered in self._write_config(record):
            self.say(f"{lowered} ({self.paths.engine_config.relative_to(self.paths.project)})")
        real = record.parts["engine"] == "real"
        variables = environment.build(self.paths, record, record.aws_region)
        code = engine.run(self.paths, operation, variables, real=real, options=options, described=described)
        if not code and operation in {"up", "refresh"}:
            self._write_outputs()
        return code

    def _write_outputs(self) -> None:
        """Write the outputs of the stack to where commands read them by ``--stack-output``."""
        folder.write_private(self.paths.outputs, f"{json.dumps(outputs.shown(self.outputs()), indent=2)}\n")

    def _up(self) -> folder.Record:
        record = self.paths.load()
        if record is None:
            raise errors.NomadCsiError(
                f"there is no sandbox in {self.paths.project}; start one with `nomad-csi sandbox up` "
                "(in a checkout: `make up`), or name the folder of another: nomad-csi sandbox --project DIR"
            )
        return record

    def _record(self, plan: model.StoragePlan | None, kinds: Mapping[str, str]) -> folder.Record:
        """Return the record of this sandbox; what is real was decided when it was made."""
        record = self.paths.load()
        for name, kind in kinds.items():
            if record and kind and record.parts[name] != kind:
                raise errors.RefusedError(
                    f"this sandbox runs with {name} {record.parts[name]}; take it down before you choose another"
                )
        data_dir = _data_dir(plan) or folder.default_data_dir(self.paths.project)
        if record and record.data_dir != data_dir:
            raise errors.RefusedError(
                f"this sandbox keeps its sockets in {record.data_dir}; take it down before you change client_data_dir"
            )
        if record and not self._aws_is_alive(record):
            self.say("The AWS emulator has ended, and everything in it: starting empty, with an empty state.")
            self._stop(record)
            self.paths.forget_state()
            record = None
        region = self._config().get("aws:region")
        if region is None:
            problem = errors.Problem(
                path="config.aws:region", got="nothing", allowed="the region of the emulated AWS", fix="add us-east-1"
            )
            raise errors.SpecError((problem,), self.paths.config.name)
        if record and record.aws_region != region:
            raise errors.RefusedError(
                f"this sandbox is in {record.aws_region}; take it down before you change aws:region"
            )
        chosen = record.parts if record else parts.decide(**kinds)
        project.refuse_language(self.paths, chosen["engine"])
        return record or self._new_record(folder.Record(parts=chosen, data_dir=data_dir, aws_region=region))

    def _new_record(self, record: folder.Record) -> folder.Record:
        """Write *record* down before anything is there that a killed command would leave behind."""
        self.paths.make()
        self.paths.save(record)
        try:
            folder.claim_data_dir(Path(record.data_dir), self.paths.project)
        except errors.RefusedError:
            self.paths.remove()
            raise
        return record

    def _start(self, record: folder.Record) -> None:
        """Start what does not run. AWS first: Nomad's clients are instances there."""
        project.write_plugin(self.paths)
        self.paths.make_token()
        if not self._runs(record, "moto"):
            self.say("starting moto, the AWS emulator")
            self._launch(record, "moto", "nomad_csi_sandbox.aws.moto", [])
        if not record.instances:
            record.instances = dict(account.seed(_moto(record), region=record.aws_region).instances)
            self.paths.save(record)
        if not self._runs(record, "aws-provider"):
            self._launch(record, "aws-provider", "nomad_csi_sandbox.aws.provider", [])
        if not self._runs(record, "nomad"):
            has_ended = "nomad" in record.processes
            self._start_nomad(record)
            if has_ended:
                self._restore_identity(record)

    def _start_nomad(self, record: folder.Record) -> None:
        if record.processes.pop("nomad", None):
            self.say("Nomad has ended, and with it all it knew of jobs, registrations and claims: starting it empty.")
            instances = tuple(record.instances.values())
            for volume_id in account.detach_volumes(_moto(record), record.aws_region, instances):
                self.say(f"detached {volume_id}, which was attached to a client")
        folder.claim_data_dir(Path(record.data_dir), self.paths.project)  # a killed command may not have come to it
        clients = sorted(record.instances.items())
        if record.parts["nomad"] == "real":
            self.say(f"starting the Nomad agent, its client in {clients[0][0]}")
            variables = environment.of_server(self.paths, record)
            record.processes["nomad"] = agent.start(self.paths, Path(record.data_dir), clients[0], variables)
            self.paths.save(record)
            return
        self.say(f"starting the Nomad emulator with clients in {', '.join(zone for zone, _ in clients)}")
        nodes = [
            argument
            for index, (zone, instance) in enumerate(clients, start=1)
            for argument in ("--node", f"client-{index}={zone}={instance}")
        ]
        guarded = ["--guarded", "--token-file", str(self.paths.token_file)]
        self._launch(record, "nomad", "nomad_csi_sandbox.nomad", ["--data-dir", record.data_dir, *guarded, *nodes])

    def _restore_identity(self, record: folder.Record) -> None:
        """Give a Nomad that was started empty the identity of the one that ended, as an operator would."""
        recorded = (resource.get("outputs", {}).get("cluster") for resource in self._state(record))
        if cluster := next(filter(None, recorded), ""):
            with nomad.Nomad(nomad.Connection.from_environment(environment.of_nomad(self.paths, record))) as client:
                cluster_identity.restore(client, cluster)

    def _launch(self, record: folder.Record, name: str, module: str, arguments: list[str]) -> None:
        variables = environment.of_server(self.paths, record)
        record.processes[name] = processes.start(self.paths, name, module, arguments, variables)
        self.paths.save(record)

    def _stop(self, record: folder.Record) -> None:
        """End what *record* names, a real agent with its jobs; then what runs besides, and the data directory."""
        started = dict(record.processes)
        if "nomad" in started and record.parts["nomad"] == "real":
            agent.stop(started.pop("nomad"), self.paths)
        for name in ("nomad", "aws-provider", "moto"):
            if name in started:
                processes.stop(started[name])
        processes.end_marked(processes.MARK, str(self.paths.project))
        processes.end_orphans(environment.ROOT_VARIABLE, str(self.paths.project))
        self._remove_data_dir(Path(record.data_dir))

    def _remove_data_dir(self, data_dir: Path) -> None:
        """Remove *data_dir* and what an agent left there, unless it belongs to someone else."""
        if folder.owns_data_dir(data_dir, self.paths.project):
            agent.clear(data_dir)
            shutil.rmtree(data_dir)

    def _record_left(self) -> folder.Record | None:
        """Return the record, or ``None`` where there is none, or where it is damaged: processes are marked, too."""
        try:
            return self.paths.load()
        except DAMAGED as error:
            self.say(f"The record of the sandbox is damaged ({error}): rendered files stay.")
            return None

    def _rendered(self, record: folder.Record) -> list[Path]:
        """Return the rendered files that the state knows; none where it cannot be read."""
        try:
            found = [item for item in self._state(record) if item["type"] == "nomad-csi:index:RenderedFile"]
            return [disk.location(self.paths.project, item["inputs"]["path"]) for item in found]
        except (errors.NomadCsiError, *DAMAGED) as error:
            self.say(f"The state of the sandbox cannot be read ({error}): rendered files stay.")
            return []

    def _remove_rendered(self, path: Path) -> None:
        """Remove a rendered file, unless it was edited since, and the folders that it leaves empty."""
        if disk.is_ours(disk.read(path) or ""):
            path.unlink()
        with contextlib.suppress(OSError):  # not empty, or gone: someone else's file is in it
            for parent in path.relative_to(self.paths.project).parents[:-1]:
                (self.paths.project / parent).rmdir()

    @staticmethod
    def _runs(record: folder.Record, name: str) -> bool:
        return name in record.processes and processes.alive(record.processes[name])

    def _aws_is_alive(self, record: folder.Record) -> bool:
        return "moto" not in record.processes or self._runs(record, "moto")

    def _write_config(self, record: folder.Record) -> tuple[stack_config.Lowered, ...]:
        return stack_config.write(self.paths, self._clients(record), record.data_dir)

    def _fit(self, record: folder.Record | None) -> tuple[Any, tuple[stack_config.Lowered, ...]]:
        data_dir = record.data_dir if record else folder.default_data_dir(self.paths.project)
        return stack_config.fit(self._document(), self._clients(record), data_dir)

    @staticmethod
    def _clients(record: folder.Record | None) -> int | None:
        """Return how many clients the engines' config must make do with; ``None`` where it is not to be changed."""
        return 1 if record and record.parts["nomad"] == "real" else None

    def _document(self) -> Any:
        if not self.paths.config.exists():
            raise errors.NomadCsiError(f"{self.paths.config} is not there; put it back, or write it with `sandbox up`")
        return draft.read_yaml(self.paths.config.read_text(), self.paths.config.name)

    def _config(self) -> Mapping[str, Any]:
        document, _ = self._fit(self.paths.load())
        config = document.get("config") if isinstance(document, Mapping) else None
        return config if isinstance(config, Mapping) else {}


def _not_found(name: str, record: folder.Record) -> str:
    """Return why a command of this *name* is not run."""
    if name == "pulumi" and record.parts["engine"] != "real":
        return (
            "pulumi is not on PATH; the sandbox uses its emulator engine: nomad-csi sandbox preview, "
            "nomad-csi sandbox up, nomad-csi sandbox up --refresh"
        )
    where = "is no file that can be run" if os.sep in name else "is not on PATH"
    return f"{name} {where}; nothing was run"


def _say(text: str) -> None:
    """Print *text* at once: the engine writes to the same output from a process of its own."""
    print(text, flush=True)


def _moto(record: folder.Record) -> str:
    return f"http://127.0.0.1:{record.processes['moto'].port}"


def _data_dir(plan: model.StoragePlan | None) -> str:
    """Return the clients' data directory that the spec names, which all plugins share; empty if it names none."""
    found = sorted({plugin.expectation.client_data_dir for plugin in plan.plugins} - {""} if plan else ())
    if len(found) > 1:
        allowed, fix = "one directory for all plugins of a sandbox", "leave client_data_dir out"
        path = "plugins[].task_driver.client_data_dir"
        problem = errors.Problem(path=path, got=" and ".join(found), allowed=allowed, fix=fix)
        raise errors.SpecError((problem,), "Pulumi.sandbox.yaml")
    return "".join(found)


def _essence(resources: list[dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Return what of *resources* shows whether something has changed: not their order. A timestamp shows drift."""
    told = ("id", "inputs", "outputs", "protect", "created", "modified")
    return {item["urn"]: tuple(item.get(key) for key in told) for item in resources}

"""
A plugin job that is wanted: what is known of it, whether it may be run, and the steps that run and remove it.

The resource, in a preview and in an update, `plan` and `apply` ask the same `WantedJob`. A refusal comes before
anything is changed.
"""

import dataclasses
import functools
from collections.abc import Collection, Mapping
from typing import Any, Literal

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.jobs import conflicts, owner
from nomad_csi.nomad import cluster_identity, jobs, version_gates, volumes
from nomad_csi.text import listing
from nomad_csi.volumes import ownership

EQUAL = "None"
"""``Diff.Type`` of a plan that changes nothing (hashicorp/nomad, ``nomad/structs/diff.go``, ``DiffTypeNone``)."""

STOPPED = "Stopped"
"""Drift of a stopped job; not one of Nomad's types."""

END_TIMEOUT_S = 120.0
"""Longer than Nomad's ``kill_timeout`` (5 s, at most 30 s by default) of several tasks one after another."""

INTERVAL_S = 0.25

OF_A_STACK = "belongs to Pulumi stack {label}: change it with `pulumi up`, or take it over with --adopt"
"""Why a command leaves the job of a stack to it."""

Refusal = Literal["other type", "foreign", "of a stack", "ownerless"]
"""
Why a job is left as it is. ``foreign``: another owner's. ``of a stack``: a Pulumi stack's, and a command would change
it. ``ownerless``: it runs without an owner, is not recorded, and differs.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Drift:
    """How a job in Nomad differs from the wanted one."""

    kind: str = EQUAL
    """`EQUAL`, `STOPPED`, or Nomad's type of the plan, such as ``Edited``."""

    changes: tuple[str, ...] = ()
    """One line for each change."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What differs, without values: another program may have put a secret there."""
        return tuple(dict.fromkeys(line.partition(": ")[0] for line in self.changes))


class WantedJob:
    """The job of the inputs *new_inputs*, with the *recorded* outputs; empty where the state does not have it."""

    def __init__(
        self,
        context: resource.Context,
        new_inputs: Mapping[str, Any],
        recorded: Mapping[str, Any],
        *,
        command: ownership.Requester | None = None,
    ) -> None:
        self.context = context
        self.inputs = new_inputs
        self.key = (new_inputs["namespace"], new_inputs["jobId"])
        self.name = f"job {'/'.join(self.key)}"
        self.who = ownership.requester(new_inputs, recorded)
        self.recorded = recorded
        self._command = command
        """Who acts by a command: it knows the owner's label alone, and takes over a job of a stack by --adopt alone."""

    # What is known.

    @functools.cached_property
    def document(self) -> jobs.Document:
        """The HCL as the server parses it. Raises `errors.SpecError` where its job differs from the inputs."""
        job = jobs.parse(self.context.client, self.inputs["hcl"], namespace=self.key[0])
        problems = tuple(
            errors.Problem(path=f"hcl: {key}", got=repr(job.get(key)), allowed=f"{self.inputs[name]!r} as in {name}")
            for key, name in (("ID", "jobId"), ("Namespace", "namespace"))
            if job.get(key) != self.inputs[name]
        )
        if problems:
            raise errors.SpecError(problems, source=self.name)
        return job

    @functools.cached_property
    def registered(self) -> jobs.Job | None:
        """The job in Nomad, also a stopped one."""
        return jobs.get(self.context.client, *self.key)

    @functools.cached_property
    def kind(self) -> str:
        """The type of the wanted job; empty where it is not known."""
        return str(self.document.get("Type") or "")

    @functools.cached_property
    def owner(self) -> owner.OwnerRecord | None:
        """The owner of the running job."""
        return owner.owner_of(self.context.client, self.registered)

    @functools.cached_property
    def drift(self) -> Drift:
        """How the job in Nomad differs, by Nomad's plan."""
        if self.registered is None or self.registered.stopped:
            return Drift(kind=STOPPED)
        return drift_of(self.context.client, self.document)

    @property
    def label(self) -> str:
        """The label of the owner; empty where the job has none."""
        return str(self.owner or "")

    @property
    def is_as_wanted(self) -> bool:
        """Whether the job runs as wanted, and is not another owner's."""
        return self.is_permitted and self.drift.kind == EQUAL

    @property
    def type_refusal(self) -> str:
        """
        Why the job in Nomad cannot become the wanted one, and the fix; empty where both have one type.

        Nomad plans a change of type and then refuses it for any existing job, stopped ones included. Source:
        hashicorp/nomad, ``nomad/job_endpoint.go`` (``validateJobUpdate``); tried on 2.0.6-dev, 2026-11.
        """
        job, kind = self.registered, self.kind
        if job is None or not kind or job.type in {"", kind}:
            return ""
        return (
            f"it is a {job.type} job, and Nomad makes no {kind} job of it: keep the type (monolith.job_type, where "
            "it serves both roles), or stop and purge it while no volume of the plugin is claimed"
        )

    @property
    def is_permitted(self) -> bool:
        """Whether the running job may be changed without being taken over."""
        is_nobodys = bool(self.recorded) and not (self.who.owner or self.who.former)
        who = dataclasses.replace(self.who, adopts=False)
        return is_nobodys or who.may_have(self.owner, owner.token_of(self.recorded))

    # What is decided.

    def refusal(self) -> Refusal | None:
        """Return why the job in Nomad is left as it is."""
        if self.type_refusal:
            return "other type"
        if self.registered is None or self.registered.stopped:
            return None
        is_of_stack, adopts = False, self.who.adopts
        if self._command is not None and self.owner is not None and self.owner.stack_id:
            is_of_stack, adopts = True, self._command.adopts
        if adopts:
            return None
        if not self.is_permitted:
            return "of a stack" if is_of_stack else "foreign"
        is_left = is_of_stack or (self.owner is None and not self.recorded)
        if not is_left or self.drift.kind == EQUAL:
            return None
        return "of a stack" if is_of_stack else "ownerless"

    def refuse_unfit(self, replaced: tuple[str, str] | None = None) -> None:
        """
        Raise `errors.RefusedError` for servers that are too old, and another job that runs the plugin.

        That is none of the plugin's own jobs, and not the one *replaced*.
        """
        new_inputs, given = self.inputs, self.inputs.get("pluginJobs", [])
        if new_inputs.get("minimumNomad"):
            version_gates.refuse_older(self.context.client, {self.name: new_inputs["minimumNomad"]})
        ids = [] if given == resource.UNKNOWN else [item for item in given if item != resource.UNKNOWN]
        own = {(self.key[0], job_id) for job_id in (self.key[1], *ids)} | ({replaced} if replaced else set())
        tasks = jobs.tasks_of_document(self.document)
        conflicts.refuse(self.context, tasks, own)

    def refuse(self, refusal: Refusal | None) -> None:
        """Raise `errors.RefusedError` for a *refusal*, and where the job is recorded in another cluster."""
        recorded = self.recorded or self.context.operation.recorded_cluster()
        if refusal == "other type":
            raise errors.RefusedError(f"{self.name} stays as it is: {self.type_refusal}")
        cluster_identity.refuse_other(self.context.client, self.name, recorded)
        if refusal == "of a stack":
            raise errors.RefusedError(f"{self.name} {OF_A_STACK.format(label=self.label)}")
        if refusal == "ownerless":
            shown = listing.shortened(self.drift.changes) or self.drift.kind
            raise errors.RefusedError(
                f"{self.name} runs already, is not this stack's, and would change: {shown}; {ownership.OF_ANOTHER}"
            )
        if refusal == "foreign":
            raise errors.RefusedError(f"{self.name} belongs to stack {self.label}: {ownership.OF_ANOTHER}")

    # What is done.

    def run(self) -> resource.Properties:
        """
        Record the owner and register the job, unless it runs already; return the outputs of the owner.

        A job taken over from another stack is registered.
        """
        context, new_inputs = self.context, self.inputs
        is_same = all(new_inputs.get(name) == self.recorded.get(name) for name in stack_identity.OF_OWNER)
        token = ownership.next_token(str(self.recorded.get("nonce", "")), is_same=is_same)
        is_as_wanted = self.registered is not None and self.is_as_wanted
        if self.who.owner:
            who = dataclasses.replace(self.who, adopts=True)
            owner.records(context.client).acquire(self.key, token, who, context.warn)
        if not is_as_wanted:
            self._register()
        return stack_identity.recorded(context, token.nonce)

    def _register(self) -> None:
        """Register once, with check-and-set on the planned job."""
        client, document = self.context.client, self.document
        plan = jobs.plan(client, document)
        for group, reason in plan.failed_groups.items():
            self.context.warn(f"group {group} of {self.name} cannot be placed yet: {reason}")
        if plan.warnings:
            self.context.warn(f"Nomad warns of {self.name}: {' '.join(plan.warnings.split())}")
        try:
            jobs.register(client, document, source=self.inputs["hcl"], enforce_index=plan.job_modify_index)
        except errors.NomadApiError as error:
            if "Enforcing job modify index" in error.message:
                raise errors.RefusedError(
                    f"{self.name} was changed meanwhile, and was left as it is: {error.message}; check it, then run "
                    "again"
                ) from error
            raise


def drift_of(client: nomad.Nomad, document: dict[str, Any]) -> Drift:
    """Return the drift of the running job from *document* by Nomad's plan."""
    plan = jobs.plan(client, document)
    return Drift(kind=plan.diff_type, changes=plan.changes if plan.diff_type != EQUAL else ())


# Removal: stop, wait until the tasks have ended, purge; in this order, so that no task is orphaned.


def refuse_serving(
    client: nomad.Nomad, job: jobs.Job, *, registered_too: bool = False, without: Collection[volumes.Key] = ()
) -> None:
    """
    Raise `errors.RefusedError` while a volume of a plugin that the running *job* has is claimed.

    Without the plugin Nomad releases the claim, but the volume stays mounted and attached (tried on Nomad 2.0.6-dev).
    With *registered_too*, volumes that are registered and not claimed count, except those in *without*.
    """
    document = None if job.stopped else jobs.document(client, job.namespace, job.job_id)
    served = {task.plugin_id for task in jobs.tasks_of_document(document)} if document else set()
    listed = volumes.list_volumes(client, "*") if served else ()
    of_plugin = [item for item in listed if item.plugin_id in served]
    claimed = [f"{item.namespace}/{item.volume_id}" for item in of_plugin if item.readers + item.writers > 0]
    if claimed:
        raise errors.RefusedError(
            f"job {job.namespace}/{job.job_id} runs on: volumes of its plugin are claimed, and would stay mounted and "
            f"attached without it: {', '.join(claimed)}; stop the jobs that use them and run again"
        )
    keys = [(item.namespace, item.volume_id) for item in of_plugin]
    registered = ["/".join(key) for key in keys if key not in without]
    if registered_too and registered:
        raise errors.RefusedError(
            f"job {job.namespace}/{job.job_id} runs on: volumes are registered with its plugin, and nothing could "
            f"mount them without it: {', '.join(registered)}; deregister them first: `nomad-csi remove VOLUME`"
        )


def remove(context: resource.Context, job: jobs.Job) -> None:
    """
    Stop and purge *job*.

    A purge straight after the stop can leave the task and its mounts behind on a client (tried on Nomad 2.0.6-dev).
    Raises `errors.CancelledError` when interrupted, `errors.NomadCsiError` when tasks do not end in time; the job is
    stopped then, and the next run continues from there.
    """
    if not job.stopped:
        jobs.stop(context.client, job.namespace, job.job_id, purge=False)
    client, timeout_s, name = context.client, context.timeout_s or END_TIMEOUT_S, f"job {job.namespace}/{job.job_id}"
    deadline = client.clock.now() + timeout_s
    while True:
        allocations = jobs.allocations(client, job.namespace, job.job_id)
        running = [item for item in allocations if item.client_status not in volumes.ENDED]
        if not running:
            break
        context.status(f"{len(running)} tasks are stopping" if len(running) > 1 else "1 task is stopping")
        if context.cancelled.is_set():
            raise errors.CancelledError(f"interrupted: {name} is stopped, not purged")
        if client.clock.now() > deadline:
            left = ", ".join(f"{item.alloc_id[:8]} on {item.node_name} ({item.client_status})" for item in running)
            raise errors.NomadCsiError(
                f"{name} is stopped, but after {timeout_s:g} s allocations still run: {left}; it was not purged: check "
                "these clients, then run again"
            )
        client.clock.wait(context.cancelled, INTERVAL_S)
    jobs.stop(client, job.namespace, job.job_id, purge=True)

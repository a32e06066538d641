"""The component of a CSI plugin: its IAM policy, its jobs, the proof that it is healthy."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, identity, lifting, program, recorded, resources, scope
from nomad_csi.components.argument_classes import CsiPluginArgs
from nomad_csi.hcl import documents
from nomad_csi.health import plugin_health_properties
from nomad_csi.plan import model
from nomad_csi.spec import model as spec

Plan = lifting.Lifted[model.PluginPlan]


class CsiPlugin(program.Component):
    """A CSI plugin: IAM policy, plugin jobs, and the proof that every instance is healthy."""

    plugin_id: pulumi.Output[str]
    """The plugin's id, known once it is verified healthy: volumes that use it are registered after that."""
    job_ids: pulumi.Output[Sequence[str]]
    """Ids of the plugin jobs."""
    job_hcl: pulumi.Output[Mapping[str, str]]
    """The job file of each role: ``controller``, ``node`` or ``monolith``."""
    iam_policy_arn: pulumi.Output[str]
    """ARN of the policy for the role in ``iam``; empty without one."""
    iam_policy: pulumi.Output[str]
    """That policy, as JSON; empty without one."""
    version: pulumi.Output[str]
    """Version that the plugin reported when it was verified last."""
    healthy_controllers: pulumi.Output[int]
    """Healthy controllers, when the plugin was verified last."""
    expected_controllers: pulumi.Output[int]
    """Controllers that must be healthy."""
    healthy_nodes: pulumi.Output[int]
    """Clients with a healthy node instance, when the plugin was verified last."""
    expected_nodes: pulumi.Output[int]
    """Clients that must have a node instance."""

    def __init__(self, name: str, args: CsiPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the plugin *name*, which is also its id."""
        super().__init__("nomad-csi:index:CsiPlugin", name, {}, opts)
        plan = arguments.plugin_plan(self, name, args)
        policy, needs = self._grant(name, plan, args)
        roles = arguments.plugin_driver(args["driver"]).roles
        job_ids: list[lifting.Later[str]] = []
        jobs: list[resources.PluginJob] = []
        for role in roles:
            # Controllers first; so a tear-down stops the node plugins, then the controllers, then the rest.
            job_id, job = self._job(name, role, plan, args, [*needs, *jobs])
            job_ids.append(job_id)
            jobs.append(job)
        health = resources.PluginHealth(
            name,
            **_expected(plan),
            jobs=_by_id(job_ids, [_whole(job.job_modify_index).apply(str) for job in jobs]),
            opts=pulumi.ResourceOptions(parent=self, depends_on=jobs),
        )
        hcl = pulumi.Output.all(*[job.hcl for job in jobs])
        self.finish(
            plugin_id=health.plugin_id,
            job_ids=pulumi.Output.all(*job_ids),
            job_hcl=hcl.apply(lambda texts: dict(zip(roles, texts, strict=True))),
            iam_policy_arn=policy.arn if policy else "",
            iam_policy=policy.policy if policy else "",
            version=health.reported_version.apply(lambda known: known or ""),
            healthy_controllers=_whole(health.healthy_controllers),
            expected_controllers=_whole(health.expected_controllers),
            healthy_nodes=_whole(health.healthy_nodes),
            expected_nodes=_whole(health.expected_nodes),
        )
        scope.scope().name_output(self.plugin_id, name)
        recorded.warn_of_removed()

    def _job(
        self, name: str, role: spec.PluginRole, plan: Plan, args: CsiPluginArgs, before: Sequence[pulumi.Resource]
    ) -> tuple[lifting.Later[str], resources.PluginJob]:
        """Declare the job of *role*, behind *before*, and its file where there are files. Return its id and itself."""

        def part(get: Callable[[model.PluginJob], Any], *names: str) -> lifting.Later[Any]:
            return plan.part(lambda planned: get(next(job for job in planned.jobs if job.role == role)), *names)

        job_id = part(lambda job: job.job_id, "job_ids")
        templates = args.get("templates")
        hcl = part(lambda job: documents.job_file(job, templates=templates), *plan.but("iam"))
        job = resources.PluginJob(
            f"{name}-{role}",
            job_id=job_id,
            namespace=part(lambda job: job.namespace, "namespace"),
            hcl=hcl,
            owner=program.owner(),
            owner_id=identity.stack_id(self),
            adopt=plan.part(lambda planned: planned.adopt, "adopt"),
            minimum_nomad=plan.part(lambda planned: planned.minimum_nomad or None, "image"),
            replace_for_type=part(lambda job: job.says_type or None, "monolith"),
            plugin_jobs=plan.part(lambda planned: [job.job_id for job in planned.jobs], "job_ids"),
            opts=self.child(depends_on=before),
        )
        if args.get("render_to"):
            path = f"{args['render_to']}/{model.job_file_name(name, role)}"
            file_opts = pulumi.ResourceOptions(parent=self)
            resources.RenderedFile(f"{name}-{role}", path=path, content=hcl, opts=file_opts)
        return job_id, job

    def _grant(self, name: str, plan: Plan, args: CsiPluginArgs) -> tuple[aws.iam.Policy | None, list[pulumi.Resource]]:
        """Give the policy of *plan* to its role. Return it, and what the jobs must wait for."""
        if args.get("iam") is None or arguments.plugin_driver(args["driver"]).storage != "ebs":
            return None, []
        child = self.child()
        document = plan.part(
            lambda planned: json.dumps(_policy(planned).document, indent=2),
            "aws_region",
            "iam.create_volumes",
            "iam.kms_key_arns",
            "iam.volume_ids",
        )
        description = plan.part(lambda planned: _policy(planned).description, "iam.create_volumes", "image")
        policy = aws.iam.Policy(name, description=description, policy=document, opts=child)
        role = plan.part(lambda planned: _policy(planned).role_name, "iam.role_name")
        return policy, [identity.attach(name, role=role, policy_arn=policy.arn, opts=child)]


def _whole(number: pulumi.Output[float]) -> pulumi.Output[int]:
    """Return a whole number: the wire has floats only; 0 where the mocks of a unit test return none."""
    return number.apply(lambda known: int(known or 0))


def _policy(planned: model.PluginPlan) -> model.IamPolicy:
    assert planned.iam_policy is not None  # noqa: S101  # checked before
    return planned.iam_policy


def _expected(plan: Plan) -> dict[str, Any]:
    """Return the arguments of the resource that waits for the plugin."""
    own = {"pluginId": (), "driver": (), "namespace": ("namespace",)}
    return {
        name: plan.part(
            lambda planned, name=name: plugin_health_properties.inputs_of(planned.expectation).get(name),  # type: ignore[misc]
            *own.get(name, plan.but("iam")),
        )
        for name in plugin_health_properties.DECLARED.inputs
        if name != "jobs"
    }


def _by_id(ids: Sequence[lifting.Later[str]], values: Sequence[pulumi.Output[Any]]) -> pulumi.Input[Mapping[str, Any]]:
    """Return *values* by *ids*, which may be outputs."""
    if not lifting.has_output(ids):
        return dict(zip(map(str, ids), values, strict=True))
    known = pulumi.Output.all(pulumi.Output.all(*ids), pulumi.Output.all(*values))
    return known.apply(lambda pair: dict(zip(*pair, strict=True)))

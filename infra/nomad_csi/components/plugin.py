"""The component of a CSI plugin: its IAM policy, its jobs, the proof that it is healthy."""

import json
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, resources
from nomad_csi.plan import model
from nomad_csi.render import documents


class Iam(TypedDict):
    """Whom the plugin's AWS permissions are given to."""

    role_name: pulumi.Input[str]
    """The instance role of the Nomad clients that may run the controller."""
    create_volumes: NotRequired[bool]
    """Also allow the driver to create, expand, snapshot and delete volumes. Default: false."""
    kms_key_arns: NotRequired[Sequence[str]]
    """Customer keys of the encrypted volumes that this plugin attaches."""
    volume_ids: NotRequired[Sequence[str]]
    """Volumes made elsewhere, which may lack the tag that the policy asks for."""


class Controller(TypedDict):
    """The controller service job."""

    count: NotRequired[int]
    """Instances, on distinct clients. Default: 2."""


class TaskDriver(TypedDict):
    """How the plugin's process is run on the clients."""

    name: NotRequired[str]
    """``docker`` (default) or ``raw_exec``."""
    command: NotRequired[str]
    """``raw_exec``: the driver's binary."""
    arguments: NotRequired[Sequence[str]]
    """``raw_exec``: arguments before the driver's own."""
    client_data_dir: NotRequired[str]
    """``data_dir`` of the Nomad clients; required for ``raw_exec``."""


class PluginResources(TypedDict):
    """What Nomad reserves for each plugin task."""

    cpu_mhz: NotRequired[int]
    """Default: 100."""
    memory_mib: NotRequired[int]
    """Default: 256."""


class ExtraArguments(TypedDict):
    """Arguments for the driver beyond those of the catalogue."""

    controller: NotRequired[Sequence[str]]
    """For the controller, such as ``--extra-tags=team=data``."""
    node: NotRequired[Sequence[str]]
    """For the node plugin."""


class Verify(TypedDict):
    """When the plugin counts as proven."""

    proof: NotRequired[str]
    """``nomad`` (default) believes Nomad's health, ``csi`` wants the plugin's own answers."""
    timeout_s: NotRequired[float]
    """How long to wait. Default: 300."""
    stable_s: NotRequired[float]
    """How long every instance must stay healthy. Default: 3."""


class CsiPluginArgs(TypedDict):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""

    driver: str
    """``aws-ebs`` or ``aws-efs``."""
    aws_region: str
    """Region of the storage, such as ``us-east-1``."""
    namespace: NotRequired[str]
    """Nomad namespace of the jobs. Default: ``default``."""
    datacenters: NotRequired[Sequence[str]]
    """Nomad datacenters. Default: all."""
    node_pool: NotRequired[str]
    """Nomad node pool. Default: ``default``."""
    priority: NotRequired[int]
    """Job priority. Default: 80."""
    iam: NotRequired[Iam]
    """Absent: no policy is made."""
    controller: NotRequired[Controller]
    """The controller service job."""
    task_driver: NotRequired[TaskDriver]
    """How the process is run. Default: ``docker``."""
    image: NotRequired[str]
    """Container image in place of the catalogue's."""
    extra_arguments: NotRequired[ExtraArguments]
    """Arguments beyond those of the catalogue."""
    environment: NotRequired[Mapping[str, str]]
    """Environment of the plugin's tasks. It stands in the job file: not for secrets."""
    resources: NotRequired[PluginResources]
    """What Nomad reserves."""
    log_verbosity: NotRequired[int]
    """klog verbosity. Default: 2."""
    health_timeout_s: NotRequired[int]
    """How long Nomad waits for the first healthy answer. Default: the driver's."""
    verify: NotRequired[Verify]
    """When the plugin counts as proven."""
    adopt: NotRequired[bool]
    """Take over jobs of the same ids that differ. Default: false."""
    render_to: NotRequired[str]
    """Folder, below the provider's root, for the job files. Absent: none are written."""


class CsiPlugin(pulumi.ComponentResource):
    """A CSI plugin: IAM policy, plugin jobs, and the proof that every instance is healthy."""

    plugin_id: pulumi.Output[str]
    """The plugin's id, known once it is proven healthy: volumes that use it are registered after that."""
    job_ids: pulumi.Output[Sequence[str]]
    """Ids of the plugin jobs."""

    def __init__(self, name: str, args: CsiPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the plugin *name*, which is also its id."""
        super().__init__("nomad-csi:index:CsiPlugin", name, {}, opts)
        render_to = args.get("render_to")
        plan = arguments.plugin_plan(name, {key: value for key, value in args.items() if key != "render_to"})
        # What the caller wants made before (and removed after) the plugin concerns its jobs, not the component alone.
        caller = pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None)
        needs: list[pulumi.Resource] = self._grant(name, plan, args.get("iam"))
        jobs: dict[str, resources.PluginJob] = {}
        for job in plan.jobs:
            hcl = documents.job_file(job)
            # Controllers first; so a tear-down stops the node plugins, then the controllers, then the rest.
            child = pulumi.ResourceOptions(parent=self, depends_on=[*needs, *jobs.values()])
            jobs[job.job_id] = resources.PluginJob(
                f"{name}-{job.role}",
                job_id=job.job_id,
                namespace=job.namespace,
                hcl=hcl,
                adopt=plan.adopt,
                opts=pulumi.ResourceOptions.merge(caller, child),
            )
            if render_to:
                path = f"{render_to}/{job.file_name}"
                file_opts = pulumi.ResourceOptions(parent=self)
                resources.RenderedFile(f"{name}-{job.role}", path=path, content=hcl, opts=file_opts)
        health = self._health(name, plan.expectation, jobs)
        self.plugin_id = health.plugin_id
        self.job_ids = pulumi.Output.from_input(list(jobs))
        self.register_outputs({"pluginId": self.plugin_id, "jobIds": self.job_ids})

    def _grant(self, name: str, plan: model.PluginPlan, iam: Iam | None) -> list[pulumi.Resource]:
        """Give the policy of *plan* to its role. Return what the jobs must wait for."""
        if plan.iam_policy is None or iam is None:
            return []
        child = pulumi.ResourceOptions(parent=self)
        document = json.dumps(plan.iam_policy.document, indent=2)
        policy = aws.iam.Policy(name, description=plan.iam_policy.description, policy=document, opts=child)
        role = arguments.checked("role_name", iam["role_name"])
        return [aws.iam.RolePolicyAttachment(name, role=role, policy_arn=policy.arn, opts=child)]

    def _health(
        self, name: str, expectation: model.PluginExpectation, jobs: Mapping[str, resources.PluginJob]
    ) -> resources.PluginHealth:
        return resources.PluginHealth(
            name,
            plugin_id=expectation.plugin_id,
            provider=expectation.provider,
            version=expectation.version,
            namespace=expectation.namespace,
            controllers=expectation.controllers,
            datacenters=list(expectation.datacenters),
            nodePool=expectation.node_pool,
            taskDriver=expectation.task_driver,
            clientDataDir=expectation.client_data_dir,
            proof=expectation.proof,
            timeoutS=expectation.timeout_s,
            stableS=expectation.stable_s,
            jobs={job_id: job.job_modify_index for job_id, job in jobs.items()},
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(jobs.values())),
        )

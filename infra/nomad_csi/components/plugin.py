"""The component of a CSI plugin: its IAM policy, its jobs, the proof that it is healthy."""

import json
from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, aws_resources, identity, program, resources
from nomad_csi.components.argument_classes import CsiPluginArgs, Iam
from nomad_csi.plan import model
from nomad_csi.render import documents
from nomad_csi.resources import plugin_health_properties

NOT_IN_THE_SPEC = frozenset({"render_to", "templates"})
"""Arguments about files."""


class CsiPlugin(program.Component):
    """A CSI plugin: IAM policy, plugin jobs, and the proof that every instance is healthy."""

    plugin_id: pulumi.Output[str]
    """The plugin's id, known once it is verified healthy: volumes that use it are registered after that."""
    job_ids: pulumi.Output[Sequence[str]]
    """Ids of the plugin jobs."""

    def __init__(self, name: str, args: CsiPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the plugin *name*, which is also its id."""
        super().__init__("nomad-csi:index:CsiPlugin", name, {}, opts)
        render_to = args.get("render_to")
        plan = arguments.plugin_plan(name, {key: value for key, value in args.items() if key not in NOT_IN_THE_SPEC})
        # What the caller wants made before (and removed after) the plugin concerns its jobs, not the component alone.
        caller = pulumi.ResourceOptions(depends_on=opts.depends_on if opts else None)
        needs: list[pulumi.Resource] = self._grant(name, plan, args.get("iam"))
        jobs: dict[str, resources.PluginJob] = {}
        for job in plan.jobs:
            hcl = documents.job_file(job, templates=args.get("templates"))
            # Controllers first; so a tear-down stops the node plugins, then the controllers, then the rest.
            child = pulumi.ResourceOptions(parent=self, depends_on=[*needs, *jobs.values()])
            jobs[job.job_id] = resources.PluginJob(
                f"{name}-{job.role}",
                job_id=job.job_id,
                namespace=job.namespace,
                hcl=hcl,
                owner=arguments.owner(),
                owner_id=identity.stack_id(self),
                adopt=plan.adopt,
                minimum_nomad=plan.minimum_nomad or None,
                replace_for_type=job.says_type or None,
                plugin_jobs=[each.job_id for each in plan.jobs],
                opts=pulumi.ResourceOptions.merge(caller, child),
            )
            if render_to:
                path = f"{render_to}/{job.file_name}"
                file_opts = pulumi.ResourceOptions(parent=self)
                resources.RenderedFile(f"{name}-{job.role}", path=path, content=hcl, opts=file_opts)
        expected = plugin_health_properties.inputs_of(plan.expectation)
        health = resources.PluginHealth(
            name,
            **expected,
            jobs={job_id: job.job_modify_index for job_id, job in jobs.items()},
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(jobs.values())),
        )
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
        return [aws_resources.attach(name, role=role, policy_arn=policy.arn, opts=child)]

"""What a `PluginJob` is given and what it answers: names, kinds and descriptions."""

import re
from collections.abc import Mapping

from nomad_csi.resources import stack_identity
from nomad_csi.resources.frame import named_properties, properties
from nomad_csi.spec import names

INPUTS: Mapping[str, properties.Property] = {
    "jobId": properties.Property(
        kind="text",
        required=True,
        replaces=True,
        pattern=names.JOB_ID,
        pattern_says=names.JOB_ID_ALLOWED,
        description="Id of the job, as in its HCL.",
    ),
    "namespace": named_properties.namespace("Nomad namespace of the job, as in its HCL; `default` when omitted."),
    "hcl": properties.Property(kind="text", required=True, description="The job file (HCL2), without variables."),
    "owner": stack_identity.OWNER,
    "ownerId": stack_identity.OWNER_ID,
    "adopt": properties.Property(
        compared=False,
        recorded=False,
        kind="flag",
        description="Take over a running job of this id that differs and is not this stack's.",
    ),
    "pluginJobs": properties.Property(
        compared=False,
        recorded=False,
        kind="list",
        item=properties.Property(kind="text"),
        description="Ids of all jobs of the plugin; where another one runs it on their clients, this is refused.",
    ),
    "replaceForType": properties.Property(
        compared=False,
        recorded=False,
        kind="flag",
        description="Replace the job where its type changes, which Nomad does not do in place; else that is refused.",
    ),
    "minimumNomad": properties.Property(
        compared=False,
        recorded=False,
        kind="text",
        pattern=re.compile(r"\d+\.\d+\.\d+"),
        pattern_says="a version such as `1.9.4`",
        description="Oldest version of Nomad's servers that the plugin works with; older ones are refused.",
    ),
}

OUTPUTS: Mapping[str, properties.Property] = {
    "jobModifyIndex": properties.Property(
        kind="number", required=True, description="Nomad's index of the job's last change."
    ),
    "version": properties.Property(kind="number", required=True, description="Nomad's version of the job."),
    "driftType": properties.Property(
        kind="text",
        required=True,
        description="`None`, or how the running job differs: Nomad's plan type such as `Edited`, or `Stopped`.",
    ),
    "cluster": properties.Property(
        kind="text", description="Identity of the cluster and region that runs it; not where it is not known."
    ),
    **stack_identity.OUTPUTS,
}

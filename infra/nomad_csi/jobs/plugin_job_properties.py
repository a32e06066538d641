"""Inputs and outputs of a `PluginJob`: names, kinds and descriptions."""

import re
from collections.abc import Mapping

from nomad_csi.frame import declaration, properties, stack_identity
from nomad_csi.spec import names

INPUTS: Mapping[str, properties.Property] = {
    "jobId": properties.text(
        "Id of the job, as in its HCL.",
        required=True,
        replaces=True,
        pattern=names.JOB_ID,
        pattern_says=names.JOB_ID_ALLOWED,
    ),
    "namespace": properties.namespace("Nomad namespace of the job, as in its HCL; `default` when omitted."),
    "hcl": properties.text("The job file (HCL2), without variables.", required=True),
    "owner": stack_identity.OWNER,
    "ownerId": stack_identity.OWNER_ID,
    "adopt": properties.flag(
        "Take over a running job of this id that differs and is not this stack's.", compared=False, recorded=False
    ),
    "pluginJobs": properties.texts(
        "Ids of all jobs of the plugin; where another one runs it on their clients, this is refused.",
        compared=False,
        recorded=False,
    ),
    "replaceForType": properties.flag(
        "Replace the job where its type changes, which Nomad does not do in place; else that is refused.",
        compared=False,
        recorded=False,
    ),
    "minimumNomad": properties.text(
        "Oldest version of Nomad's servers that the plugin works with; older ones are refused.",
        compared=False,
        recorded=False,
        pattern=re.compile(r"\d+\.\d+\.\d+"),
        pattern_says="a version such as `1.9.4`",
    ),
}

OUTPUTS: Mapping[str, properties.Property] = {
    "jobModifyIndex": properties.number("Nomad's index of the job's last change.", required=True),
    "version": properties.number("Nomad's version of the job.", required=True),
    "driftType": properties.text(
        "`None`, or how the running job differs: Nomad's plan type such as `Edited`, or `Stopped`.", required=True
    ),
    "drift": properties.texts("What differs in the running job, such as `group plugin > task plugin > config.image`."),
    "cluster": properties.text(
        "Identity of the cluster and region that runs it; not where it is not known.", internal=True
    ),
    **stack_identity.OUTPUTS,
}

DECLARED = declaration.Declaration(
    token=names.PLUGIN_JOB_TYPE,
    description="A Nomad job that runs a CSI plugin. Deleting it stops the job, waits for its tasks and purges it.",
    inputs=INPUTS,
    outputs=OUTPUTS,
)

"""Inputs and outputs of a `PluginJob`."""

import re
from typing import Annotated

from nomad_csi.frame import properties, stack_identity
from nomad_csi.frame.properties import Mark
from nomad_csi.spec import base, names

Version = Annotated[str, base.Matching(re.compile(r"\d+\.\d+\.\d+"), "a version such as 1.9.4")]


class PluginJobInputs(stack_identity.Owned):
    """A Nomad job that runs a CSI plugin. Deleting it stops the job, waits for its tasks and purges it."""

    job_id: Annotated[base.JobId, Mark.REPLACES]
    """Id of the job, as in its HCL."""

    namespace: Annotated[base.Namespace, Mark.REPLACES] = "default"
    """Nomad namespace of the job, as in its HCL; `default` when omitted."""

    hcl: base.Word
    """The job file (HCL2), without variables."""

    adopt: Annotated[bool, Mark.NOT_COMPARED, Mark.NOT_RECORDED] = False
    """Take over a running job of this id that differs and is not this stack's."""

    plugin_jobs: Annotated[list[base.Word], Mark.NOT_COMPARED, Mark.NOT_RECORDED] = []
    """Ids of all jobs of the plugin; where another one runs it on their clients, this is refused."""

    replace_for_type: Annotated[bool, Mark.NOT_COMPARED, Mark.NOT_RECORDED] = False
    """Replace the job where its type changes, which Nomad does not do in place; else that is refused."""

    minimum_nomad: Annotated[Version, Mark.NOT_COMPARED, Mark.NOT_RECORDED] = ""
    """Oldest version of Nomad's servers that the plugin works with; older ones are refused."""


class PluginJobOutputs(stack_identity.MadeByStack, stack_identity.InCluster):
    """Outputs of a `PluginJob`."""

    job_modify_index: int
    """Nomad's index of the job's last change."""

    version: int
    """Nomad's version of the job."""

    drift_type: str
    """`None`, or how the running job differs: Nomad's plan type such as `Edited`, or `Stopped`."""

    drift: list[str] = []
    """What differs in the running job, such as `group plugin > task plugin > config.image`."""


DECLARED = properties.Declaration(
    token=names.PLUGIN_JOB_TYPE, input_model=PluginJobInputs, output_model=PluginJobOutputs
)

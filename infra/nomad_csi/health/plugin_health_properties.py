"""Inputs and outputs of the resource `PluginHealth`, and the expectation that its inputs describe."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic
from pydantic import alias_generators

from nomad_csi.frame import properties, resource
from nomad_csi.frame.properties import Mark
from nomad_csi.plan import model
from nomad_csi.spec import base, names
from nomad_csi.spec import plugin as spec

Seconds = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class EligibleIf(properties.Properties):
    """A condition that clients must meet."""

    attribute: base.Word
    """A runtime variable."""

    operator: base.Word
    """How to compare."""

    value: str = ""
    """What to compare with."""


class AskedOnNodes(properties.Properties, spec.OnNodesSpec):
    """
    With `csi`: ask by a job on the clients, which runs once there and is removed.

    Without it, only sockets that the provider's machine sees are asked.
    """


class PluginHealthInputs(properties.Properties):
    """The proof that a CSI plugin is healthy. Making it waits for the plugin; deleting it changes nothing."""

    plugin_id: Annotated[base.PluginId, Mark.REPLACES]
    """Id of the CSI plugin."""

    provider: base.Word
    """The name that every instance must report, such as `ebs.csi.aws.com`."""

    version: str = ""
    """The version that every instance must report; any when omitted."""

    namespace: base.Namespace = "default"
    """Nomad namespace of the plugin's jobs; `default` when omitted."""

    controllers: Annotated[int, pydantic.Field(ge=0)] = 0
    """Controllers that must be healthy; 0 when omitted."""

    monolith: bool = False
    """Whether each node instance is a controller too; no when omitted."""

    nodes: base.Count | None = None
    """Node instances of a service job; one on every eligible client when omitted."""

    constraints: list[EligibleIf] = []
    """Conditions that clients must meet to run the plugin; none when omitted."""

    datacenters: list[base.Word] = ["*"]
    """Nomad datacenters of the plugin's jobs, with `*` for any text; all when omitted."""

    node_pool: str = "default"
    """Node pool of the plugin's jobs; `default` when omitted."""

    task_driver: str = "docker"
    """Task driver of the plugin's jobs; `docker` when omitted."""

    client_data_dir: str = ""
    """`data_dir` of the Nomad clients: where the plugin's sockets are."""

    evidence: Literal["nomad", "csi"] = "nomad"
    """`nomad` (default) relies on Nomad's health, `csi` requires the instances' own answers."""

    on_nodes: Annotated[AskedOnNodes | None, Mark.NOT_COMPARED] = None
    """
    With `csi`: ask by a job on the clients, which runs once there and is removed. Without it, only sockets that the
    provider's machine sees are asked.
    """

    timeout_s: Annotated[Seconds, Mark.NOT_COMPARED] = 300
    """Seconds to wait until the plugin is verified; 300 when omitted."""

    stable_s: Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False), Mark.NOT_COMPARED] = 3
    """Seconds without a restart before it counts; 3 when omitted."""

    min_healthy_percent: Annotated[int, pydantic.Field(ge=1, le=100)] | None = None
    """Percentage of node instances that must be healthy; all when omitted."""

    min_healthy_per_zone: base.Count | None = None
    """How many node instances must be healthy in each zone; all when omitted."""

    controller_supports: list[base.Word] = []
    """Capabilities that each controller must report, by Nomad's names, such as `AttachDetach`."""

    node_supports: list[base.Word] = []
    """Capabilities that each node instance must report, such as `StageVolume`."""

    driver: str = ""
    """Name of the driver in the catalogue, for what explains a failure."""

    jobs: dict[str, str] = {}
    """Ids of the plugin's jobs, each with what changes when the job does: then it is verified again."""


class PluginHealthOutputs(properties.Properties):
    """Outputs of a `PluginHealth`."""

    healthy_controllers: int
    """Healthy controllers."""

    expected_controllers: int | None = None
    """Controllers that must be healthy."""

    healthy_nodes: int
    """Clients with a healthy node instance that must have one."""

    expected_nodes: int
    """Clients that must have a node instance."""

    reported_version: str = ""
    """The version that the plugin reported; empty where it reported none."""

    verified_by: str
    """`csi` where every instance answered itself, `nomad` where it is Nomad's status."""

    status: str
    """`healthy`; `partial` where some instances are; else what is wrong, such as `missing`."""

    satisfied: bool
    """Whether that is enough: all, or what minHealthyPercent and minHealthyPerZone ask for."""


DECLARED = properties.Declaration(
    token=names.PLUGIN_HEALTH_TYPE, input_model=PluginHealthInputs, output_model=PluginHealthOutputs
)


# The expectation of a plan, as inputs and back.


def inputs_of(expected: model.PluginExpectation) -> resource.Properties:
    """Return the inputs of *expected*; `check` leaves out absent ones."""
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in dataclasses.asdict(expected).items()
    }
    if expected.on_nodes:
        values["on_nodes"] = _camel_case(expected.on_nodes.model_dump())
    return _camel_case(values)


def expectation(inputs: Mapping[str, Any]) -> model.PluginExpectation:
    """Return the expectation of checked *inputs*, all of which are known."""
    checked = PluginHealthInputs.model_validate(dict(inputs))
    shown = ((name, value) for name, value in checked if name != "jobs")
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in shown}
    given["constraints"] = tuple(model.Constraint(**dict(item)) for item in checked.constraints)
    return model.PluginExpectation(**given)


def _camel_case(values: Mapping[str, Any]) -> resource.Properties:
    return {alias_generators.to_camel(name): value for name, value in values.items()}

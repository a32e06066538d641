"""Inputs and outputs of the resource `PluginHealth`, and the inputs that describe an expectation."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi.frame import declaration, properties, resource
from nomad_csi.plan import probe_job
from nomad_csi.spec import names

if TYPE_CHECKING:
    from nomad_csi.plan import model

INPUTS: Mapping[str, properties.Property] = {
    "pluginId": properties.plugin_id("Id of the CSI plugin."),
    "provider": properties.text("The name that every instance must report, such as `ebs.csi.aws.com`.", required=True),
    "version": properties.text("The version that every instance must report; any when omitted."),
    "namespace": properties.namespace("Nomad namespace of the plugin's jobs; `default` when omitted.", replaces=False),
    "controllers": properties.number(
        "Controllers that must be healthy; 0 when omitted.",
        default=0,
        range=properties.Range("a whole number, at least 0", 0),
    ),
    "monolith": properties.flag("Whether each node instance is a controller too; no when omitted."),
    "nodes": properties.number(
        "Node instances of a service job; one on every eligible client when omitted.",
        range=properties.Range("a whole number, at least 1; omit it for one on every eligible client", 1),
    ),
    "constraints": properties.items(
        "Conditions that clients must meet to run the plugin; none when omitted.",
        item=properties.record(
            "A condition that clients must meet.",
            type_name="EligibleIf",
            fields={
                "attribute": properties.text("A runtime variable.", required=True),
                "operator": properties.text("How to compare.", required=True),
                "value": properties.text("What to compare with.", may_be_empty=True),
            },
        ),
    ),
    "datacenters": properties.texts(
        "Nomad datacenters of the plugin's jobs, with `*` for any text; all when omitted.", default=["*"]
    ),
    "nodePool": properties.text("Node pool of the plugin's jobs; `default` when omitted.", default="default"),
    "taskDriver": properties.text("Task driver of the plugin's jobs; `docker` when omitted.", default="docker"),
    "clientDataDir": properties.text("`data_dir` of the Nomad clients: where the plugin's sockets are."),
    "evidence": properties.text(
        "`nomad` (default) relies on Nomad's health, `csi` requires the instances' own answers.",
        default="nomad",
        one_of=("nomad", "csi"),
    ),
    "onNodes": properties.record(
        "With `csi`: ask by a job on the clients, which runs once there and is removed. Without it, only "
        "sockets that the provider's machine sees are asked.",
        compared=False,
        type_name="AskedOnNodes",
        fields={
            "command": properties.text(
                "The program, on the clients or in the image; `nomad-csi` when omitted.", default="nomad-csi"
            ),
            "image": properties.text(
                "Image with that program, for Docker; `raw_exec` when omitted, which needs it installed."
            ),
            "stateDir": properties.text(
                "`state_dir` of the Nomad clients; required with an image, else found by itself."
            ),
            "timeoutS": properties.number(
                "Seconds for all clients together; 60 when omitted.",
                default=probe_job.WAIT_S,
                range=properties.Range("a number above 0", math.ulp(0), is_whole=False),
            ),
        },
    ),
    "timeoutS": properties.number(
        "Seconds to wait until the plugin is verified; 300 when omitted.",
        compared=False,
        default=300,
        range=properties.Range("a number of seconds above 0", math.ulp(0), is_whole=False),
    ),
    "stableS": properties.number(
        "Seconds without a restart before it counts; 3 when omitted.",
        compared=False,
        default=3,
        range=properties.Range("a number of seconds, at least 0", 0, is_whole=False),
    ),
    "minHealthyPercent": properties.number(
        "Percentage of node instances that must be healthy; all when omitted.",
        range=properties.Range("a whole number from 1 to 100", 1, 100),
    ),
    "minHealthyPerZone": properties.number(
        "How many node instances must be healthy in each zone; all when omitted.",
        range=properties.Range("a whole number, at least 1", 1),
    ),
    "controllerSupports": properties.texts(
        "Capabilities that each controller must report, by Nomad's names, such as `AttachDetach`."
    ),
    "nodeSupports": properties.texts("Capabilities that each node instance must report, such as `StageVolume`."),
    "driver": properties.text("Name of the driver in the catalogue, for what explains a failure."),
    "jobs": properties.mapping(
        "Ids of the plugin's jobs, each with what changes when the job does: then it is verified again."
    ),
}

OUTPUTS: Mapping[str, properties.Property] = {
    "healthyControllers": properties.number("Healthy controllers.", required=True),
    "expectedControllers": properties.number("Controllers that must be healthy."),
    "healthyNodes": properties.number("Clients with a healthy node instance that must have one.", required=True),
    "expectedNodes": properties.number("Clients that must have a node instance.", required=True),
    "reportedVersion": properties.text("The version that the plugin reported; empty where it reported none."),
    "verifiedBy": properties.text(
        "`csi` where every instance answered itself, `nomad` where it is Nomad's status.", required=True
    ),
    "status": properties.text(
        "`healthy`; `partial` where some instances are; else what is wrong, such as `missing`.", required=True
    ),
    "satisfied": properties.flag(
        "Whether that is enough: all, or what minHealthyPercent and minHealthyPerZone ask for.", required=True
    ),
}

DECLARED = declaration.Declaration(
    token=names.PLUGIN_HEALTH_TYPE,
    description="The proof that a CSI plugin is healthy. Making it waits for the plugin; deleting it changes nothing.",
    inputs=INPUTS,
    outputs=OUTPUTS,
)

_FORMER = {"proof": "evidence", "provenBy": "verifiedBy", "verdict": "status"}
"""Names in states from before the first release -> current names."""

_POLICY = ("minHealthyPercent", "minHealthyPerZone")
"""Inputs for the number of healthy instances that is sufficient."""


FIELDS = {properties.python_name(name): name for name in INPUTS if name not in {"onNodes", "jobs"}}
"""Fields of a `model.PluginExpectation` -> inputs with the same value."""

JOB_FIELDS = {properties.python_name(name): name for name in INPUTS["onNodes"].fields if name != "timeoutS"}
"""Fields of a `probe_job.ProbeJob` -> properties of `onNodes` with the same value."""


def inputs_of(expected: "model.PluginExpectation") -> resource.Properties:
    """Return the inputs of *expected*; `check` leaves out empty ones."""
    plain = dataclasses.asdict(expected)
    inputs = {
        name: list(plain[field]) if isinstance(plain[field], tuple) else plain[field] for field, name in FIELDS.items()
    }
    if expected.on_nodes is None:
        return inputs
    job = {name: getattr(expected.on_nodes.job, field) for field, name in JOB_FIELDS.items()}
    return inputs | {"onNodes": job | {"timeoutS": expected.on_nodes.wait_s}}


def is_strict(news: Mapping[str, Any]) -> bool:
    """Return whether every node instance must be healthy."""
    return not any(news.get(name) for name in _POLICY)


def job_failures(news: Mapping[str, Any]) -> Iterator[resource.Failure]:
    """Yield failures of the job that probes on the clients."""
    asked = news.get("onNodes")
    if not isinstance(asked, Mapping):
        return
    if news.get("evidence", "nomad") == "nomad":
        yield resource.Failure(path="evidence", reason="expected csi where onNodes says how instances are asked")
    if asked.get("image") and not asked.get("stateDir"):
        reason = "expected the clients' state_dir with image: a container cannot find it, got nothing"
        yield resource.Failure(path="onNodes.stateDir", reason=reason)


def rename_recorded(recorded: Mapping[str, Any]) -> resource.Properties:
    """Return the *recorded* properties of a state by their current names."""
    return {_FORMER.get(name, name): value for name, value in recorded.items()}

"""The custom resource `PluginHealth`: the proof that a CSI plugin is healthy. Registrations depend on it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.deploy import asking, compare, gate, properties, resource
from nomad_csi.plan import model
from nomad_csi.spec import names
from nomad_csi.verify import findings, plugins

_SETTINGS = frozenset({"timeoutS", "stableS"})
"""How the step is made, not what is proven."""

_LEAST: Mapping[str, tuple[str, float]] = {
    "minHealthyPercent": ("a whole number from 1 to 100", 100),
    "minHealthyPerZone": ("a whole number, at least 1", math.inf),
}
"""Inputs that say how many instances are enough: what is allowed, in words and as the most."""


class PluginHealth:
    """The proof that a CSI plugin is healthy. Making it waits; deleting it changes nothing."""

    token = "nomad-csi:index:PluginHealth"  # noqa: S105  # Pulumi's word for a type's name
    description = "The proof that a CSI plugin is healthy. Making it waits for the plugin; deleting it changes nothing."
    inputs: Mapping[str, properties.Property] = {
        "pluginId": properties.Property(
            kind="text",
            required=True,
            replaces=True,
            pattern=names.PLUGIN_ID,
            pattern_says="up to 63 letters, digits, '.', '_' and '-', the first a letter or digit",
            description="Id of the CSI plugin.",
        ),
        "provider": properties.Property(
            kind="text",
            required=True,
            description="The name that every instance must answer, such as `ebs.csi.aws.com`.",
        ),
        "version": properties.Property(
            kind="text", description="The version that every instance must answer; any when omitted."
        ),
        "namespace": properties.Property(
            kind="text",
            default="default",
            pattern=names.NAMESPACE,
            pattern_says="up to 128 letters, digits and '-'",
            description="Nomad namespace of the plugin's jobs; `default` when omitted.",
        ),
        "controllers": properties.Property(
            kind="number", default=0, description="Controllers that must be healthy; 0 when omitted."
        ),
        "monolith": properties.Property(
            kind="flag", description="Whether each node instance is a controller too; no when omitted."
        ),
        "nodes": properties.Property(
            kind="number",
            description="Node instances of a service job; one on every eligible client when omitted.",
        ),
        "constraints": properties.Property(
            kind="list",
            item=properties.Property(
                kind="record",
                type_name="EligibleIf",
                description="What a client must be.",
                fields={
                    "attribute": properties.Property(kind="text", required=True, description="A runtime variable."),
                    "operator": properties.Property(kind="text", required=True, description="How to compare."),
                    "value": properties.Property(kind="text", may_be_empty=True, description="What to compare with."),
                },
            ),
            description="Which clients the plugin's jobs run on besides; all when omitted.",
        ),
        "datacenters": properties.Property(
            kind="list",
            default=["*"],
            item=properties.Property(kind="text"),
            description="Nomad datacenters of the plugin's jobs, with `*` for any text; all when omitted.",
        ),
        "nodePool": properties.Property(
            kind="text", default="default", description="Node pool of the plugin's jobs; `default` when omitted."
        ),
        "taskDriver": properties.Property(
            kind="text", default="docker", description="Task driver of the plugin's jobs; `docker` when omitted."
        ),
        "clientDataDir": properties.Property(
            kind="text", description="`data_dir` of the Nomad clients: where the plugin's sockets are."
        ),
        "proof": properties.Property(
            kind="text",
            default="nomad",
            one_of=("nomad", "csi"),
            description="`nomad` (default) believes Nomad's health, `csi` wants the instances' own answers.",
        ),
        "timeoutS": properties.Property(
            kind="number", default=300, description="Seconds to wait for the proof; 300 when omitted."
        ),
        "stableS": properties.Property(
            kind="number", default=3, description="Seconds without a restart before it counts; 3 when omitted."
        ),
        "minHealthyPercent": properties.Property(
            kind="number", description="How many of 100 node instances must be healthy; all when omitted."
        ),
        "minHealthyPerZone": properties.Property(
            kind="number", description="How many node instances must be healthy in each zone; all when omitted."
        ),
        "controllerSupports": properties.Property(
            kind="list",
            item=properties.Property(kind="text"),
            description="What each controller must say that it can do, in Nomad's words, such as `AttachDetach`.",
        ),
        "nodeSupports": properties.Property(
            kind="list",
            item=properties.Property(kind="text"),
            description="What each node instance must say that it can do, such as `StageVolume`.",
        ),
        "driver": properties.Property(
            kind="text", description="Name of the driver in the catalogue, for what explains a failure."
        ),
        "jobs": properties.Property(
            kind="map",
            description="Ids of the plugin's jobs, each with what changes when the job does: then it is proven again.",
        ),
    }
    outputs: Mapping[str, properties.Property] = {
        "healthyControllers": properties.Property(kind="number", required=True, description="Healthy controllers."),
        "healthyNodes": properties.Property(
            kind="number", required=True, description="Clients with a healthy node instance that must have one."
        ),
        "expectedNodes": properties.Property(
            kind="number", required=True, description="Clients that must have a node instance."
        ),
        "provenBy": properties.Property(
            kind="text",
            required=True,
            description="`csi` where every instance answered itself, `nomad` where it is Nomad's word.",
        ),
        "verdict": properties.Property(
            kind="text",
            required=True,
            description="`healthy`; `partial` where some instances are; else what is wrong, such as `missing`.",
        ),
        "satisfied": properties.Property(
            kind="flag",
            required=True,
            description="Whether that is enough: all, or what minHealthyPercent and minHealthyPerZone ask for.",
        ),
    }
    secret_properties = properties.secret_names(inputs)

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with defaults filled in, and everything that is wrong with it."""
        values, failures = properties.check(self.inputs, {name: _as_text(name, value) for name, value in news.items()})
        return values, (*failures, *_policy_failures(news))

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Difference:
        """Compare inputs; a plugin that was not healthy when it was last looked at is to be proven again."""
        del identity
        is_proven = old_outputs.get("satisfied", old_outputs.get("verdict") in {None, plugins.HEALTHY})
        also = () if is_proven else ("verdict",)
        return compare.difference(self.inputs, old_inputs, news, ignored=_SETTINGS, also_updates=also)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, the inputs and what must be proven for the run to go on; the counts are not known."""
        unknown = dict.fromkeys(("healthyControllers", "healthyNodes", "expectedNodes", "provenBy"), resource.UNKNOWN)
        proven = {"verdict": plugins.HEALTHY if _is_strict(news) else resource.UNKNOWN, "satisfied": True}
        return resource.identity(news["pluginId"]), dict(news) | unknown | proven

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Wait until the plugin is proven healthy.

        Raises what `gate.wait` raises. Nothing is recorded then, so that the next run waits again.
        """
        return news["pluginId"], _proven(context, news)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the verdict of this moment. Raises `errors.RefusedError` for an import: there is nothing to import."""
        if not inputs:
            raise errors.RefusedError(
                f"the health of plugin {identity} cannot be imported: it is no object, `pulumi up` proves it"
            )
        client = context.connect()
        with asking.KeptIfUnreachable(context, client, f"the health of plugin {identity}", is_recorded=True):
            verdict = gate.look(client, expectation(inputs), _job_ids(inputs), cancelled=context.cancelled).verdict
            _warn(context, verdict, "is not healthy now")
            return dict(inputs), _outputs(inputs, verdict)
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """Wait until the plugin is proven healthy as it is wanted now."""
        del identity, old_outputs
        return _proven(context, news)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Do nothing: a verdict is no object."""


def expectation(inputs: Mapping[str, Any]) -> model.PluginExpectation:
    """Return what checked *inputs* expect."""
    return model.PluginExpectation(
        plugin_id=inputs["pluginId"],
        provider=inputs["provider"],
        version=inputs.get("version", ""),
        namespace=inputs["namespace"],
        controllers=int(inputs["controllers"]),
        monolith=inputs.get("monolith", False),
        nodes=int(inputs["nodes"]) if inputs.get("nodes") else None,
        constraints=tuple(
            model.Constraint(attribute=item["attribute"], operator=item["operator"], value=item.get("value", ""))
            for item in inputs.get("constraints", ())
        ),
        datacenters=tuple(inputs["datacenters"]),
        node_pool=inputs["nodePool"],
        task_driver=inputs["taskDriver"],
        client_data_dir=inputs.get("clientDataDir", ""),
        proof=inputs["proof"],
        timeout_s=inputs["timeoutS"],
        stable_s=inputs["stableS"],
        min_healthy_percent=_count(inputs, "minHealthyPercent"),
        min_healthy_per_zone=_count(inputs, "minHealthyPerZone"),
        controller_supports=tuple(inputs.get("controllerSupports", ())),
        node_supports=tuple(inputs.get("nodeSupports", ())),
        driver=inputs.get("driver", ""),
    )


def _count(inputs: Mapping[str, Any], name: str) -> int | None:
    return int(inputs[name]) if name in inputs else None


def _is_strict(news: Mapping[str, Any]) -> bool:
    return not any(news.get(name) for name in _LEAST)


def _policy_failures(news: Mapping[str, Any]) -> Iterator[resource.Failure]:
    """Yield minima that cannot be meant."""
    for name, (allowed, most) in _LEAST.items():
        given = news.get(name)
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if is_number and not (given == int(given) and 1 <= given <= most):
            yield resource.Failure(path=name, reason=f"expected {allowed}, got {given:g}")


def _as_text(name: str, value: Any) -> Any:
    """Return ``jobs`` with its numbers as text: whatever marks a version is only compared."""
    if name != "jobs" or not isinstance(value, Mapping):
        return value
    return {job_id: _number_text(marker) for job_id, marker in value.items()}


def _number_text(marker: Any) -> Any:
    if isinstance(marker, bool) or not isinstance(marker, int | float):
        return marker
    return str(int(marker)) if marker == int(marker) else str(marker)


def _job_ids(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(inputs.get("jobs", {})))


def _proven(context: resource.Context, news: Mapping[str, Any]) -> resource.Properties:
    verdict = gate.wait(context, context.connect(), expectation(news), _job_ids(news))
    if verdict.verdict != plugins.HEALTHY:
        _warn(context, verdict, f"is {verdict.verdict}, {verdict.counts}, which is enough ({verdict.policy})")
    return _outputs(news, verdict)


def _outputs(inputs: Mapping[str, Any], verdict: plugins.PluginVerdict) -> resource.Properties:
    return dict(inputs) | {
        "healthyControllers": verdict.healthy_controllers,
        "healthyNodes": verdict.healthy_nodes,
        "expectedNodes": verdict.expected_nodes,
        "provenBy": verdict.proven_by,
        "verdict": verdict.verdict,
        "satisfied": verdict.ok,
    }


def _warn(context: resource.Context, verdict: plugins.PluginVerdict, how: str) -> None:
    """Tell what is wrong with instances that should be there, tolerated or not."""
    wrong = findings.errors_of(verdict.findings)
    if not wrong and verdict.verdict != plugins.HEALTHY:
        wrong = tuple(item for item in verdict.findings if item.code != "instance-extra")
    if wrong:
        more = f" (and {len(wrong) - 1} more: `nomad-csi verify` shows all)" if len(wrong) > 1 else ""
        context.warn(f"plugin {verdict.plugin_id} {how}: {wrong[0]}{more}")

"""The custom resource `PluginHealth`: the proof that a CSI plugin is healthy. Registrations depend on it."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, findings
from nomad_csi.health import plugins
from nomad_csi.resources import gate
from nomad_csi.resources import plugin_health_properties as declared
from nomad_csi.resources.frame import asking, compare, properties, resource


class PluginHealthResource:
    """The proof that a CSI plugin is healthy. Making it waits; deleting it changes nothing."""

    token = "nomad-csi:index:PluginHealth"  # noqa: S105  # Pulumi's word for a type's name
    description = "The proof that a CSI plugin is healthy. Making it waits for the plugin; deleting it changes nothing."
    inputs = declared.INPUTS
    outputs = declared.OUTPUTS
    secret_properties = properties.secret_names(inputs)

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with defaults filled in, and everything that is wrong with it."""
        values, failures = properties.check(self.inputs, {name: _as_text(name, value) for name, value in news.items()})
        return values, (*failures, *declared.number_failures(news), *declared.job_failures(news))

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """Compare inputs; a plugin that was not healthy when it was last looked at is to be proven again."""
        del identity
        is_proven = old_outputs.get("satisfied", old_outputs.get("verdict") in {None, plugins.HEALTHY})
        also = () if is_proven else ("verdict",)
        return compare.difference(self.inputs, old_inputs, news, also_updates=also)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, the inputs and what must be proven for the run to go on; the counts are not known."""
        unknown = dict.fromkeys(("healthyControllers", "healthyNodes", "expectedNodes", "provenBy"), resource.UNKNOWN)
        proven = {"verdict": plugins.HEALTHY if declared.is_strict(news) else resource.UNKNOWN, "satisfied": True}
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
        """
        Return the verdict of this moment. Raises `errors.RefusedError` for an import: there is nothing to import.

        No job is run for it: a plugin that was proven by one is looked at through Nomad, and keeps its proof.
        """
        if not inputs:
            raise errors.RefusedError(
                f"the health of plugin {identity} cannot be imported: it is no object, `pulumi up` proves it"
            )
        client = context.connect()
        with asking.KeptIfUnreachable(context, client, f"the health of plugin {identity}", is_recorded=True):
            wanted = gate.without_job(declared.expectation(inputs))
            verdict = gate.look(client, wanted, _job_ids(inputs), cancelled=context.cancelled).verdict
            _warn(context, verdict, "is not healthy now")
            found = _outputs(inputs, verdict)
            proven = {"provenBy": outputs["provenBy"]} if "onNodes" in inputs and "provenBy" in outputs else {}
            return dict(inputs), found | (proven if verdict.ok else {})
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """Wait until the plugin is proven healthy as it is wanted now."""
        del identity, old_outputs
        return _proven(context, news)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Do nothing: a verdict is no object."""


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
    verdict = gate.wait(context, context.connect(), declared.expectation(news), _job_ids(news))
    if verdict.verdict != plugins.HEALTHY:
        _warn(context, verdict, f"is {verdict.verdict}, {verdict.counts}, which is enough ({verdict.policy})")
    context.note(_by_whom(verdict))
    return _outputs(news, verdict)


def _by_whom(verdict: plugins.PluginVerdict) -> str:
    """Return whose word the proof is, and how to get more than Nomad's."""
    if verdict.proven_by == "csi":
        count = len({row.node_id for row in verdict.instances if row.proven_by == "csi"})
        return f"plugin {verdict.plugin_id}: proved by CSI probes on {count} client{'' if count == 1 else 's'}"
    return (
        f"plugin {verdict.plugin_id}: healthy by Nomad's word; to have its instances asked over CSI, set verify.proof "
        "to csi, with verify.on_nodes where their sockets are not on this machine"
    )


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

"""The custom resource `PluginHealth`: verifies that a CSI plugin is healthy. Registrations depend on it."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, findings
from nomad_csi.frame import resource
from nomad_csi.health import observation, plugin_health_wait, plugins
from nomad_csi.health import plugin_health_properties as of_health


class PluginHealthResource(resource.Resource):
    """The verified health of a CSI plugin. Creating it waits; deleting it changes nothing."""

    declared = of_health.DECLARED

    def diff(
        self,
        identity: str,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        new_inputs: Mapping[str, Any],
    ) -> resource.ResourceDiff:
        """Compare inputs; a plugin that was not healthy when it was last checked is verified again."""
        del identity
        also = () if _was_verified(old_outputs) else ("status",)
        return resource.difference(self.declared, old_inputs, new_inputs, also_updates=also)

    def preview(self, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, the inputs and the status that the run requires; the counts are unknown."""
        unknown = dict.fromkeys(self.declared.outputs.keys() - {"status", "satisfied"}, resource.UNKNOWN)
        verified = {"status": plugins.HEALTHY if _is_strict(new_inputs) else resource.UNKNOWN, "satisfied": True}
        return resource.identity(new_inputs["pluginId"]), dict(new_inputs) | unknown | verified

    def create(self, context: resource.Context, new_inputs: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Wait until the plugin is verified healthy.

        Raises what `plugin_health_wait.wait` raises. Nothing is recorded then, and the next run waits again.
        """
        return new_inputs["pluginId"], _verified(context, new_inputs)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """
        Return the observed status. Raises `errors.RefusedError` for an import: there is nothing to import.

        Runs no job: a plugin that a job has verified is checked through Nomad, and keeps its evidence.
        """
        if not inputs:
            raise errors.RefusedError(
                f"the health of plugin {identity} cannot be imported: it is no object; `pulumi up` verifies it"
            )
        with resource.KeptIfUnreachable(context, _subject(identity), is_recorded=True):
            status = _observe(context, inputs)
            if wrong := _wrong(status):
                context.status(f"plugin {identity} is not healthy now: {wrong}")
            live = _outputs(inputs, status)
            verified = {"verifiedBy": outputs["verifiedBy"]} if "onNodes" in inputs and "verifiedBy" in outputs else {}
            return dict(inputs), live | (verified if status.ok else {})
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], new_inputs: Mapping[str, Any]
    ) -> resource.Properties:
        """Wait until the plugin is verified healthy by the new inputs."""
        del identity, old_outputs
        return _verified(context, new_inputs)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """Do nothing: there is no object to delete."""


def _is_strict(new_inputs: Mapping[str, Any]) -> bool:
    """Return whether every node instance must be healthy."""
    return not (new_inputs.get("minHealthyPercent") or new_inputs.get("minHealthyPerZone"))


def _subject(plugin_id: str) -> str:
    return f"the health of plugin {plugin_id}"


def _was_verified(outputs: Mapping[str, Any]) -> bool:
    return bool(outputs.get("satisfied", True))


def _observe(context: resource.Context, inputs: Mapping[str, Any]) -> plugins.PluginStatus:
    """Return the observed status; runs no job."""
    wanted = observation.WatchedPlugin(
        expectation=plugin_health_wait.drop_job(of_health.expectation(inputs)), job_ids=_job_ids(inputs)
    )
    [observed] = observation.Observer(context.client, [wanted], cancelled=context.cancelled).observe()
    return observed.status


def _job_ids(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(inputs.get("jobs", {})))


def _verified(context: resource.Context, new_inputs: Mapping[str, Any]) -> resource.Properties:
    status = plugin_health_wait.wait(context, of_health.expectation(new_inputs), _job_ids(new_inputs))
    if wrong := _wrong(status):
        enough = f"is {status.status}, {status.counts}, which is enough ({status.policy})"
        context.warn(f"plugin {status.plugin_id} {enough}: {wrong}")
    verified_by = "CSI probes" if status.evidence == "csi" else "Nomad's status"
    context.status(f"plugin {status.plugin_id}: {status.counts}, verified by {verified_by}")
    return _outputs(new_inputs, status)


def _outputs(inputs: Mapping[str, Any], status: plugins.PluginStatus) -> resource.Properties:
    return dict(inputs) | {
        "healthyControllers": status.healthy_controllers,
        "expectedControllers": status.expected_controllers,
        "healthyNodes": status.healthy_nodes,
        "expectedNodes": status.expected_nodes,
        "reportedVersion": status.version,
        "verifiedBy": status.evidence,
        "status": status.status,
        "satisfied": status.ok,
    }


def _wrong(status: plugins.PluginStatus) -> str:
    """Return the problems of expected instances, tolerated or not; empty where there are none."""
    wrong = findings.errors_of(status.findings)
    if not wrong and status.status != plugins.HEALTHY:
        wrong = tuple(item for item in status.findings if item.code != "instance-extra")
    more = f" (and {len(wrong) - 1} more: `nomad-csi verify` shows all)" if len(wrong) > 1 else ""
    return f"{wrong[0]}{more}" if wrong else ""

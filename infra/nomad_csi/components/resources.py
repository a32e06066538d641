"""
The custom resources as a Pulumi program sees them. Their rules are in `nomad_csi.resources`.

Property names inside are those on the wire, or as Python writes them: ``accessMode`` or ``access_mode``. The keys of
maps are the operator's, and stay.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.resources import volume_properties
from nomad_csi.resources.created import created_properties
from nomad_csi.resources.frame import properties
from nomad_csi.resources.plugin_jobs import plugin_job_properties


class Provider(pulumi.ProviderResource):
    """
    The Nomad cluster that plugin jobs run in and volumes are registered with.

    What is not given is read from the ``NOMAD_*`` variables, as the ``nomad`` command does.
    """

    def __init__(
        self,
        resource_name: str,
        *,
        address: pulumi.Input[str] | None = None,
        token: pulumi.Input[str] | None = None,
        namespace: pulumi.Input[str] | None = None,
        region: pulumi.Input[str] | None = None,
        root: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Connect to *address* with *token*; paths of rendered files are relative to *root*."""
        props = {
            "address": address,
            "token": pulumi.Output.secret(token) if token is not None else None,
            "namespace": namespace,
            "region": region,
            "root": root,
        }
        super().__init__("nomad-csi", resource_name, props, opts)


class StackIdentity(pulumi.CustomResource):
    """The random id by which a stack owns what it makes; one in each stack, declared by the components."""

    def __init__(
        self, resource_name: str, *, stack: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Have an id for *stack* (``project/stack``), another one for another label."""
        super().__init__("nomad-csi:index:StackIdentity", resource_name, {"stack": stack, "stackId": None}, opts)

    @property
    def stack_id(self) -> pulumi.Output[str]:
        """16 hexadecimal digits."""
        return pulumi.get(self, "stackId")


class PluginJob(pulumi.CustomResource):
    """A Nomad job that runs one role of a CSI plugin. The HCL is the document."""

    def __init__(
        self,
        resource_name: str,
        *,
        job_id: pulumi.Input[str],
        hcl: pulumi.Input[str],
        namespace: pulumi.Input[str] | None = None,
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        minimum_nomad: pulumi.Input[str] | None = None,
        plugin_jobs: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None,
        replace_for_type: pulumi.Input[bool] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """
        Run the job of *hcl* for the stack *owner* (``project/stack``), whose id is *owner_id*.

        A job of that id that differs and is not this owner's is taken over only when *adopt* is true. It is refused
        where a server of Nomad is older than *minimum_nomad*, such as ``1.9.4``, and where another job than
        *plugin_jobs*, the ids of all jobs of its plugin, runs that plugin where it would. Another type of the job,
        which Nomad does not change in place, is refused unless *replace_for_type* is true.
        """
        inputs = _inputs(plugin_job_properties.INPUTS, locals())
        outputs = {"jobModifyIndex": None, "version": None, "driftType": None, "cluster": None}
        super().__init__("nomad-csi:index:PluginJob", resource_name, inputs | outputs, opts)

    @property
    def job_modify_index(self) -> pulumi.Output[int]:
        """Nomad's index of the last change of the job's specification."""
        return pulumi.get(self, "jobModifyIndex")


class PluginHealth(pulumi.CustomResource):
    """The gate: it is there once the plugin is verified healthy. Registrations depend on it."""

    def __init__(
        self,
        resource_name: str,
        *,
        plugin_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
        **expectation: pulumi.Input[Any],
    ) -> None:
        """Wait for what *expectation* says of *plugin_id* (`plan.model.PluginExpectation`, names in camelCase)."""
        outputs = dict.fromkeys(
            ("healthyControllers", "healthyNodes", "expectedNodes", "verifiedBy", "status", "satisfied")
        )
        super().__init__(
            "nomad-csi:index:PluginHealth", resource_name, {"pluginId": plugin_id} | expectation | outputs, opts
        )

    @property
    def plugin_id(self) -> pulumi.Output[str]:
        """The plugin's id; known only when the plugin is healthy."""
        return pulumi.get(self, "pluginId")

    @property
    def status(self) -> pulumi.Output[str]:
        """What was found, ``healthy`` or the reason why not."""
        return pulumi.get(self, "status")


class VolumeRegistration(pulumi.CustomResource):
    """A CSI volume as Nomad holds it. Its storage exists already and is never deleted by it."""

    def __init__(
        self,
        resource_name: str,
        *,
        volume_id: pulumi.Input[str],
        external_id: pulumi.Input[str],
        plugin_id: pulumi.Input[str],
        capabilities: Sequence[Mapping[str, str]],
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        mount_options: Mapping[str, Any] | None = None,
        required_topologies: Sequence[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, str] | None = None,
        context: Mapping[str, str] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        protect: pulumi.Input[bool] | None = None,
        storage: Mapping[str, Any] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """
        Register *volume_id* for the stack *owner* (``project/stack``), whose id is *owner_id*.

        One of that id that differs, or is another owner's, is taken over only when *adopt* is true. With *protect*, a
        change is refused by which the id would stand for other data; *storage* is what the program knows of that.
        """
        inputs = _inputs(volume_properties.INPUTS, locals())
        outputs = dict.fromkeys(("controllerRequired", "cluster", "marked"))
        super().__init__("nomad-csi:index:VolumeRegistration", resource_name, inputs | outputs, opts)


class CreatedVolume(pulumi.CustomResource):
    """A CSI volume that its plugin makes, through Nomad. Deleting it deregisters it; *on_destroy* says what more."""

    def __init__(
        self,
        resource_name: str,
        *,
        volume_id: pulumi.Input[str],
        plugin_id: pulumi.Input[str],
        capabilities: Sequence[Mapping[str, str]],
        namespace: pulumi.Input[str] | None = None,
        name: pulumi.Input[str] | None = None,
        mount_options: Mapping[str, Any] | None = None,
        required_topologies: Sequence[Mapping[str, Any]] | None = None,
        preferred_topologies: Sequence[Mapping[str, Any]] | None = None,
        parameters: Mapping[str, str] | None = None,
        secrets: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None,
        owner: pulumi.Input[str] | None = None,
        owner_id: pulumi.Input[str] | None = None,
        capacity_min_bytes: pulumi.Input[int] | None = None,
        capacity_max_bytes: pulumi.Input[int] | None = None,
        clone_id: pulumi.Input[str] | None = None,
        snapshot_id: pulumi.Input[str] | None = None,
        on_destroy: pulumi.Input[str] | None = None,
        deletion: Mapping[str, Any] | None = None,
        availability_zone: pulumi.Input[str] | None = None,
        adopt: pulumi.Input[bool] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """
        Have *plugin_id* make *volume_id* for the stack *owner* (``project/stack``), whose id is *owner_id*.

        One of that id that differs, or is another owner's, is taken over only when *adopt* is true. When it is removed
        or replaced, its storage stays, or goes with all data: *on_destroy* ``keep`` or ``delete``, *deletion* says how.
        While *availability_zone* stays, another topology key replaces nothing.
        """
        inputs = _inputs(created_properties.INPUTS, locals())
        outputs = dict.fromkeys(("externalId", "capacityBytes", "context", "topologies", "cluster", "marked"))
        super().__init__("nomad-csi:index:CreatedVolume", resource_name, inputs | outputs, opts)

    @property
    def external_id(self) -> pulumi.Output[str]:
        """The storage provider's id of what the plugin made."""
        return pulumi.get(self, "externalId")

    @property
    def capacity_bytes(self) -> pulumi.Output[int]:
        """How large the plugin made it; 0 where it does not say."""
        return pulumi.get(self, "capacityBytes")


class RenderedFile(pulumi.CustomResource):
    """A rendered file below the provider's ``root``: written at once, and never over a file that is not ours."""

    def __init__(
        self,
        resource_name: str,
        *,
        path: pulumi.Input[str],
        content: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Write *content* to *path*, which is relative to the provider's ``root``."""
        super().__init__(
            "nomad-csi:index:RenderedFile", resource_name, {"path": path, "content": content, "sha256": None}, opts
        )

    @property
    def path(self) -> pulumi.Output[str]:
        """Path of the file below the provider's ``root``."""
        return pulumi.get(self, "path")


def _inputs(declared: Mapping[str, properties.Property], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that are *declared*, out of *arguments* with the same names as Python writes them."""
    return {name: _input(item, arguments[properties.in_python(name)]) for name, item in declared.items()}


def _input(declared: properties.Property, value: Any) -> Any:
    is_given = isinstance(value, pulumi.Output) or bool(value)
    if declared.secret:
        return pulumi.Output.secret(value) if is_given else None
    if not is_given or isinstance(value, pulumi.Output):
        return value
    if declared.kind == "record":
        names = {properties.in_python(name): name for name in declared.fields}
        return {names.get(name, name): item for name, item in value.items()}
    if declared.kind == "list" and declared.item:
        return [_input(declared.item, item) for item in value]
    return value

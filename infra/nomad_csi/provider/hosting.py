"""Serve the components to programs in other languages; a Python program has them in its own process."""

import asyncio
import contextlib
import dataclasses
import functools
import json
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any

import pulumi
from pulumi import provider
from pulumi.output import UNKNOWN, Unknown, contains_unknowns
from pulumi.provider import server
from pulumi.provider.experimental import util

from nomad_csi import errors
from nomad_csi.provider import about, wire
from nomad_csi.spec import names

PACKAGE = "nomad-csi"

# Conversion of a component's inputs from a program in another language to the arguments of its Python class.
#
# Pulumi's own mapping loses unexpected values: it drops an unknown name, turns an object that is an output into an
# empty one, and leaves a whole number as the float that it is on the wire (pulumi SDK 3.272,
# ``pulumi/provider/experimental/component.py``, ``ComponentProvider.map_input_properties``). This conversion keeps all
# values, so that the spec validates them, with its own error messages.


@dataclasses.dataclass(frozen=True)
class _Origin:
    """What an output says about each leaf in it."""

    dependencies: frozenset[pulumi.Resource]
    is_secret: bool

    def leaf(self, value: Any) -> pulumi.Output[Any]:
        """Return an output of *value*; an unknown value stays unknown."""
        return pulumi.Output(set(self.dependencies), _done(value), _done(True), _done(self.is_secret))


async def opened(value: Any, path: str = "", origin: _Origin | None = None) -> Any:
    """
    Return the input *value*, at *path* of the schema's names, with an output for each leaf of what is one output.

    The SDK makes one output of a whole input where any part of it depends on a resource or is secret. Each leaf keeps
    the dependencies, and whether it is secret. What must be known when the program runs is taken out, where it is.
    """
    if isinstance(value, pulumi.Output):
        above = origin or _Origin(frozenset(), is_secret=False)
        is_secret = await value.is_secret() or above.is_secret
        own = _Origin(above.dependencies | await value.resources(), is_secret)
        inside = await value.future(with_unknowns=True)
        is_unknown = not await value.is_known() and not contains_unknowns(inside)
        return await opened(UNKNOWN if is_unknown else inside, path, own)
    if isinstance(value, Mapping):
        return {name: await opened(item, f"{path}.{name}".lstrip("."), origin) for name, item in value.items()}
    if isinstance(value, list):
        return [await opened(item, f"{path}[]", origin) for item in value]
    if origin is None or value is None:
        return value
    if path in _plain() and not origin.is_secret and not isinstance(value, Unknown):
        return value
    leaf = origin.leaf(value)
    if path in _NAMED:
        from nomad_csi.components import scope  # noqa: PLC0415  # see `Hosted`

        all_urns = [str(await each.urn.future()) for each in origin.dependencies]
        component_names = {urn.rpartition("::")[2] for urn in all_urns if names.read_urn(urn).type in _NAMED[path]}
        if len(component_names) == 1:
            scope.scope().name_output(leaf, *component_names)
    return leaf


_NAMED = {
    "pluginId": {"nomad-csi:index:CsiPlugin", names.PLUGIN_HEALTH_TYPE},
    "fileSystemId": {"nomad-csi:index:EfsFileSystem", "nomad-csi:index:StorageHold"},
}
"""Inputs that are an output of another component -> that, and the resource in it that has the output; of one name."""


def keep_named_dependencies(request: Any) -> None:
    """
    Take out of the dependencies of a `Construct` request those that come from inputs.

    What is left is the caller's ``dependsOn``, for which all children wait. Those of an input reach what uses it: the
    storage does not wait for the plugin that serves it. Source: pulumi/pulumi, ``sdk/nodejs/runtime/resource.ts``
    (``prepareResource``, ``allDirectDependencies``), 2026-08.
    """
    of_inputs = {urn for item in request.inputDependencies.values() for urn in item.urns}
    named = [urn for urn in request.dependencies if urn not in of_inputs]
    request.ClearField("dependencies")
    request.dependencies.extend(named)


def _done(value: Any) -> Awaitable[Any]:
    future = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


@functools.cache
def _plain() -> frozenset[str]:
    """Return the paths of the arguments that are no outputs."""
    from nomad_csi.components import arguments  # noqa: PLC0415  # see `Hosted`

    return frozenset(".".join(map(util.camel_case, path.split("."))) for path in arguments.PLAIN)


def component_arguments(given: Mapping[str, Any], component_type: str) -> dict[str, Any]:
    """Return *given*, the inputs of a *component_type*, by the names of its class."""
    from nomad_csi.components import documentation  # noqa: PLC0415  # see `Hosted`

    def value_of(value: Any, declared: Mapping[str, Any] | None) -> Any:
        """Return *value*; of an undeclared type, whole floats become integers: on the wire all numbers are floats."""
        if isinstance(value, Unknown):
            return pulumi.Output.from_input(value)
        if declared is not None and declared.get("$ref") == ANY:
            declared = None
        if isinstance(value, list):
            return [value_of(item, declared and declared.get("items")) for item in value]
        if isinstance(value, Mapping):
            record = documentation.object_type(declared) if declared else {}
            if "properties" in record:
                return named(value, record["properties"])
            of_items = declared and declared.get("additionalProperties")
            return {name: value_of(item, of_items) for name, item in value.items()}
        is_whole = declared is None or declared.get("type") == "integer"
        return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value

    def named(values: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
        return {
            names.python_name(name) if name in declared else name: value_of(value, declared.get(name))
            for name, value in values.items()
            if value is not None
        }

    return named(given, documentation.package()["resources"][component_type]["inputProperties"])


ANY = "pulumi.json#/Any"
"""Type of a value that may be anything. Source: Pulumi's package schema, "Built-in types"."""


# The server of components.


@contextlib.contextmanager
def shared(request: Any) -> Iterator[None]:
    """Share what a program declares once among the components of its `Construct` requests."""
    from nomad_csi.components import scope  # noqa: PLC0415  # see `Hosted`

    name = request.providers.get(PACKAGE, "").rpartition("::")[0].rpartition("::")[2]
    key = request.monitorEndpoint, "" if name.startswith("default") else name
    if key not in _SCOPES:
        _SCOPES[key] = scope.Scope(key[1], is_hosted=True)
    with scope.shared_scope(_SCOPES[key]):
        yield


_SCOPES: dict[tuple[str, str], Any] = {}
"""Key: the address of the program's monitor, new for each operation, and the name of an explicit provider."""


class Hosted(provider.Provider):
    """
    The components and the schema of the whole package.

    They are imported on first use: pulumi-aws takes half a second, which a step that only needs the custom resources
    would pay at every start of the plugin.
    """

    def __init__(self) -> None:
        super().__init__(about.version())

    @property
    def schema(self) -> str:
        """The package schema, as JSON."""
        from nomad_csi.components import documentation  # noqa: PLC0415  # see the class

        return json.dumps({**documentation.package(), "version": self.version})

    @schema.setter
    def schema(self, value: str | None) -> None:
        """Ignore *value*: the base class sets that there is no schema."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> provider.ConstructResult:
        """Construct the component. Raises `errors.SpecError` for arguments that the spec refuses."""
        from nomad_csi import components  # noqa: PLC0415  # see the class
        from nomad_csi.components import documentation  # noqa: PLC0415  # as above

        kind = getattr(components, resource_type.removeprefix(names.TYPES))
        try:
            component = kind(name, component_arguments(inputs, resource_type), options)
        except errors.NomadCsiError:
            raise
        except Exception as error:
            raise server.ComponentInitError(error) from error
        outputs = documentation.package()["resources"][resource_type]["properties"]
        state = {key: getattr(component, names.python_name(key)) for key in outputs}
        state |= {key: state[key].apply(wire.camel_case) for key, item in outputs.items() if "$ref" in item}
        return provider.ConstructResult(component.urn, state)

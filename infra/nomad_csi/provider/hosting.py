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
from pulumi.provider.experimental import analyzer, component, util

from nomad_csi import errors
from nomad_csi.provider import about
from nomad_csi.pulumi_state import urns
from nomad_csi.spec import names

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
        found = {urn.rpartition("::")[2] for urn in all_urns if urns.read(urn).type in _NAMED[path]}
        if len(found) == 1:
            scope.scope().name_output(leaf, *found)
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


def component_arguments(
    given: Mapping[str, Any], kind: analyzer.ComponentDefinition, types: Mapping[str, analyzer.TypeDefinition]
) -> dict[str, Any]:
    """Return *given*, with names of the schema, by the names of *kind*'s class; *types* are its object types."""
    return _named(given, kind.inputs, kind.inputs_mapping, types)


def _named(
    given: Mapping[str, Any],
    declared: Mapping[str, analyzer.PropertyDefinition],
    python_names: Mapping[str, str],
    types: Mapping[str, analyzer.TypeDefinition],
) -> dict[str, Any]:
    return {
        python_names.get(name, name): _value(value, declared.get(name), types)
        for name, value in given.items()
        if value is not None
    }


def _value(
    value: Any, declared: analyzer.PropertyDefinition | None, types: Mapping[str, analyzer.TypeDefinition]
) -> Any:
    """Return *value*; without a declared type, whole floats become integers: on the wire all numbers are floats."""
    if isinstance(value, Unknown):
        return pulumi.Output.from_input(value)
    if declared is not None and (declared.ref or "").endswith("#/Any"):
        declared = None
    if isinstance(value, list):
        return [_value(item, declared and declared.items, types) for item in value]
    if isinstance(value, Mapping):
        record = types.get((declared.ref or "").rpartition(":")[2]) if declared else None
        if record is not None:
            return _named(value, record.properties, record.properties_mapping, types)
        return {name: _value(item, declared and declared.additional_properties, types) for name, item in value.items()}
    is_whole = declared is None or declared.type is analyzer.PropertyType.INTEGER
    return int(value) if is_whole and isinstance(value, float) and value.is_integer() else value


# The server of components.


@contextlib.contextmanager
def shared(request: Any) -> Iterator[None]:
    """Share what a program declares once among the components of its `Construct` requests."""
    from nomad_csi.components import scope  # noqa: PLC0415  # see `Hosted`

    name = request.providers.get(about.PACKAGE, "").rpartition("::")[0].rpartition("::")[2]
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
        super().__init__(about.about().version)

    @property
    def schema(self) -> str:
        """The package schema, as JSON."""
        from nomad_csi.provider import schema  # noqa: PLC0415  # see the class

        return json.dumps(schema.merged(self._components.described()))

    @schema.setter
    def schema(self, value: str | None) -> None:
        """Ignore *value*: the base class sets that there is no schema."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> provider.ConstructResult:
        """Construct the component. Raises `errors.SpecError` for arguments that the spec refuses."""
        try:
            return self._components.construct(name, resource_type, inputs, options)
        except server.ComponentInitError as error:
            if isinstance(error.inner, errors.NomadCsiError):
                raise error.inner from None
            raise

    @functools.cached_property
    def _components(self) -> "_Components":
        from nomad_csi import components  # noqa: PLC0415  # see the class
        from nomad_csi.components import documentation  # noqa: PLC0415  # as above

        with documentation.brief():
            return _Components(list(components.COMPONENTS), about.PACKAGE, None, self.version or "")


class _Components(component.ComponentProvider):
    """Pulumi's host of components, with lossless arguments and a schema that describes all of them."""

    def map_inputs(self, inputs: Any, component_def: Any) -> Any:
        """Return the arguments of a component."""
        return component_arguments(inputs, component_def, self._type_defs)

    def described(self) -> dict[str, Any]:
        """Return the schema with descriptions of arguments: Pulumi's analyzer reads them from sources of classes."""
        from nomad_csi.components import (  # noqa: PLC0415  # see `Hosted`
            argument_classes,
            derived_arguments,
            documentation,
        )

        package: dict[str, Any] = json.loads(self.schema or "{}")
        for part, keys, suffix in (("resources", "inputProperties", "Args"), ("types", "properties", "")):
            for token, item in package[part].items():
                if made := self._components.get(token.rpartition(":")[2]):
                    for name, text in documentation.output_texts(made).items():
                        item["properties"][util.camel_case(name)]["description"] = text
                if "enum" in item:
                    item["enum"] = [{"name": each["name"], "value": each["value"]} for each in item["enum"]]
                    continue
                if token.rpartition(":")[2] + suffix not in argument_classes.classes():
                    continue  # the type of an output
                for name, text in derived_arguments.texts(token.rpartition(":")[2] + suffix).items():
                    item[keys][util.camel_case(name)]["description"] = text
        return package

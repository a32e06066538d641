"""Serve the components to programs in other languages; a Python program has them in its own process."""

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
from pulumi import provider
from pulumi.output import Unknown
from pulumi.provider import server
from pulumi.provider.experimental import analyzer, component, util

from nomad_csi import errors
from nomad_csi.provider import schema

# Conversion of a component's inputs from a program in another language to the arguments of its Python class.
#
# Pulumi's own mapping loses unexpected values: it drops an unknown name, turns an object that is an output into an
# empty one, and leaves a whole number as the float that it is on the wire (pulumi SDK 3.272,
# ``pulumi/provider/experimental/component.py``, ``ComponentProvider.map_input_properties``). This conversion keeps all
# values, so that the spec validates them, with its own error messages.


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
    from nomad_csi.components import identity  # noqa: PLC0415  # see `Hosted`

    name = request.providers.get(schema.PACKAGE, "").rpartition("::")[0].rpartition("::")[2]
    key = request.monitorEndpoint, "" if name.startswith("default") else name
    if key not in _SCOPES:
        _SCOPES[key] = identity.Scope(key[1])
    with identity.shared_scope(_SCOPES[key]):
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
        super().__init__(schema.version())

    @property
    def schema(self) -> str:
        """The package schema, as JSON."""
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

        return _Components(list(components.COMPONENTS), schema.PACKAGE, None, self.version or "")


class _Components(component.ComponentProvider):
    """Pulumi's host of components, with lossless arguments and a schema that describes all of them."""

    def map_inputs(self, inputs: Any, component_def: Any) -> Any:
        """Return the arguments of a component."""
        return component_arguments(inputs, component_def, self._type_defs)

    def described(self) -> dict[str, Any]:
        """Return the schema with descriptions of arguments: Pulumi's analyzer reads them from sources of classes."""
        from nomad_csi.components import derived_arguments  # noqa: PLC0415  # with the components, see `Hosted`

        package: dict[str, Any] = json.loads(self.schema or "{}")
        for part, keys, suffix in (("resources", "inputProperties", "Args"), ("types", "properties", "")):
            for token, item in package[part].items():
                for name, text in derived_arguments.texts(token.rpartition(":")[2] + suffix).items():
                    item[keys][util.camel_case(name)]["description"] = text
        return package

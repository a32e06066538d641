"""The components, served to programs in other languages; a Python program has them in its own process."""

import contextlib
import functools
import json
from collections.abc import Iterator
from typing import Any

import pulumi
from pulumi import provider
from pulumi.provider import server
from pulumi.provider.experimental import component, util

from nomad_csi import errors
from nomad_csi.provider import component_inputs, schema


@contextlib.contextmanager
def shared(request: Any) -> Iterator[None]:
    """Have the component of a `Construct` *request* share what one program declares once with the others of it."""
    from nomad_csi.components import identity  # noqa: PLC0415  # see `Hosted`

    name = request.providers.get(schema.PACKAGE, "").rpartition("::")[0].rpartition("::")[2]
    key = request.monitorEndpoint, "" if name.startswith("default") else name
    if key not in _SCOPES:
        _SCOPES[key] = identity.Scope(key[1])
    with identity.within(_SCOPES[key]):
        yield


_SCOPES: dict[tuple[str, str], Any] = {}
"""By the monitor of the program, which is another one in each operation, and the name of an explicit provider."""


class Hosted(provider.Provider):
    """
    The components and the schema of the whole package.

    They are imported when somebody asks for them: pulumi-aws takes half a second, which a step that only needs the
    custom resources would pay at every start of the plugin.
    """

    def __init__(self) -> None:
        super().__init__(schema.version())

    @property
    def schema(self) -> str:
        """The package schema, as JSON."""
        return json.dumps(schema.merged(self._components.described()))

    @schema.setter
    def schema(self, value: str | None) -> None:
        """Take nothing: the base class says that there is no schema."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> provider.ConstructResult:
        """Construct the component. Raises `errors.SpecError` for what the rules of the spec refuse."""
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
    """Pulumi's host of components, with arguments that lose nothing and a schema that describes all of them."""

    def map_inputs(self, inputs: Any, component_def: Any) -> Any:
        """Return the arguments of a component."""
        return component_inputs.arguments(inputs, component_def, self._type_defs)

    def described(self) -> dict[str, Any]:
        """Return the schema, with the texts of arguments: Pulumi's analyzer looks for them in sources of classes."""
        from nomad_csi.components import derived_arguments  # noqa: PLC0415  # with the components, see `Hosted`

        package: dict[str, Any] = json.loads(self.schema or "{}")
        for part, keys, suffix in (("resources", "inputProperties", "Args"), ("types", "properties", "")):
            for token, item in package[part].items():
                for name, text in derived_arguments.texts(token.rpartition(":")[2] + suffix).items():
                    item[keys][util.camel_case(name)]["description"] = text
        return package

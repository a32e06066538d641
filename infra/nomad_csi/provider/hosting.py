"""The components, served to programs in other languages; a Python program has them in its own process."""

import functools
import json
from typing import Any

import pulumi
from pulumi import provider
from pulumi.provider.experimental import component

from nomad_csi.provider import schema


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
        return json.dumps(schema.merged(json.loads(self._components.schema or "{}")))

    @schema.setter
    def schema(self, value: str | None) -> None:
        """Take nothing: the base class says that there is no schema."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> provider.ConstructResult:
        """Construct the component."""
        return self._components.construct(name, resource_type, inputs, options)

    @functools.cached_property
    def _components(self) -> component.ComponentProvider:
        from nomad_csi import components  # noqa: PLC0415  # see the class

        return component.ComponentProvider(list(components.COMPONENTS), schema.PACKAGE, None, self.version or "")

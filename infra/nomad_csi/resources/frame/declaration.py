"""One kind of custom resource as declared: for its checks, for the package schema, for the classes of programs."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.resources.frame import properties


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What a kind of custom resource is called, what it is given and what it answers."""

    token: str
    """Pulumi's type token, such as ``nomad-csi:index:VolumeRegistration``."""

    description: str
    """What the object is."""

    inputs: Mapping[str, properties.Property]
    """What an operator may give."""

    outputs: Mapping[str, properties.Property]
    """What an object has besides its inputs."""

    @functools.cached_property
    def secret(self) -> frozenset[str]:
        """Names of the inputs that are always secret."""
        return properties.secret_names(self.inputs)

    @functools.cached_property
    def not_compared(self) -> frozenset[str]:
        """Names of the inputs whose change changes nothing of the object."""
        return frozenset(name for name, item in self.inputs.items() if not item.compared)

    def differing(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
        """Return the names of the inputs that are compared and have another value *after* than *before*."""
        return {name for name in self.inputs.keys() - self.not_compared if before.get(name) != after.get(name)}

    def recorded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of *values* that are outputs as well."""
        return {name: value for name, value in values.items() if name not in self.inputs or self.inputs[name].recorded}

    def inputs_in(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs that are recorded in *outputs*."""
        return {name: value for name, value in outputs.items() if name in self.inputs}

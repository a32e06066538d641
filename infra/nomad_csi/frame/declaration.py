"""The declaration of a custom resource: for its checks, the package schema, and the classes of programs."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.frame import properties


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Token, description, inputs and outputs of a kind of custom resource."""

    token: str
    """Pulumi's type token, such as ``nomad-csi:index:VolumeRegistration``."""

    description: str
    """Description of the object."""

    inputs: Mapping[str, properties.Property]
    """The inputs, by name."""

    outputs: Mapping[str, properties.Property]
    """The outputs that are not inputs, by name."""

    @functools.cached_property
    def secret(self) -> frozenset[str]:
        """Names of the inputs that are always secret."""
        return properties.secret_names(self.inputs)

    @functools.cached_property
    def not_compared(self) -> frozenset[str]:
        """Names of the inputs whose change does not change the object."""
        return frozenset(name for name, item in self.inputs.items() if not item.compared)

    @functools.cached_property
    def program_outputs(self) -> Mapping[str, properties.Property]:
        """The outputs that programs have, by name."""
        return {name: item for name, item in self.outputs.items() if not item.internal}

    @functools.cached_property
    def python_names(self) -> Mapping[str, str]:
        """Names of the properties that programs have, by their names in Python."""
        return {properties.python_name(name): name for name in (*self.inputs, *self.program_outputs)}

    def differing(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
        """Return the names of the compared inputs whose values *before* and *after* differ."""
        return {name for name in self.inputs.keys() - self.not_compared if before.get(name) != after.get(name)}

    def recorded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of *values* that are outputs as well."""
        return {name: value for name, value in values.items() if name not in self.inputs or self.inputs[name].recorded}

    def inputs_in(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs that are recorded in *outputs*."""
        return {name: value for name, value in outputs.items() if name in self.inputs}

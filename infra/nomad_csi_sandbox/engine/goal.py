"""What a program wants of one resource, read from the request that registers it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pulumi.runtime.proto import resource_pb2

from nomad_csi import errors
from nomad_csi_sandbox.engine import paths, plugins, state, values

PROVIDER_TYPE = "pulumi:providers:"
STACK_TYPE = "pulumi:pulumi:Stack"

_UNSUPPORTED = (
    "remote",
    "deletedWith",
    "replace_with",
    "replacement_trigger",
    "transforms",
    "state_migrations",
    "packageRef",
    "hooks",
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, kw_only=True)
class Goal:
    """One wanted resource."""

    target: plugins.Target
    custom: bool
    parent: str
    inputs: values.Properties
    protect: bool
    retain_on_delete: bool | None
    dependencies: tuple[str, ...]
    property_dependencies: Mapping[str, list[str]]
    provider: str
    """Reference of an explicit provider; empty for the default one."""

    version: str
    ignore_changes: tuple[str, ...]
    replace_on_changes: tuple[str, ...]
    additional_secret_outputs: tuple[str, ...]
    aliases: tuple[Any, ...]
    """Messages of the protocol, made into URNs by `aliases.candidates`."""

    import_id: str
    delete_before_replace: bool | None
    """``None``: as the provider says."""

    timeouts_s: Mapping[str, float]
    """Seconds by ``create``, ``update``, ``delete``."""

    @property
    def urn(self) -> str:
        """The URN of the resource."""
        return self.target.urn

    @property
    def is_provider(self) -> bool:
        """Whether it is an explicit provider."""
        return self.target.type.startswith(PROVIDER_TYPE)

    def kept_inputs(self, old_inputs: values.Properties) -> values.Properties:
        """Return the wanted inputs with everything under ``ignoreChanges`` as it is in *old_inputs*."""
        inputs = values.copy(self.inputs)
        for text in self.ignore_changes:
            paths.reset(paths.parse(text), old_inputs, inputs)
        return inputs

    def forces_new(self, difference: plugins.Difference) -> bool:
        """Whether *difference* needs a new object, by the provider's word or by ``replaceOnChanges``."""
        outer = [paths.parse(text) for text in self.replace_on_changes]
        inner = [paths.parse(path) for path in difference.marks]
        return bool(difference.replaces) or any(paths.contains(mine, theirs) for mine in outer for theirs in inner)

    def state(self, provider: str) -> state.Resource:
        """Return the part of the resource's state that the program decides."""
        fields: dict[str, Any] = {
            "parent": self.parent,
            "protect": self.protect,
            "dependencies": list(self.dependencies),
            "provider": provider,
            "propertyDependencies": dict(self.property_dependencies) if self.custom else {},
            "additionalSecretOutputs": list(self.additional_secret_outputs),
            "customTimeouts": dict(self.timeouts_s),
            "importID": self.import_id,
            "retainOnDelete": self.retain_on_delete,
            "ignoreChanges": list(self.ignore_changes),
            "replaceOnChanges": list(self.replace_on_changes),
        }
        head = {"urn": self.urn, "custom": self.custom, "type": self.target.type}
        return {**head, **{key: value for key, value in fields.items() if value}}


def read(request: resource_pb2.RegisterResourceRequest, urn: str) -> Goal:
    """Return what *request* wants. Raises `errors.RefusedError` for what this engine does not do."""
    _refuse_unsupported(request, urn)
    timeouts = {name: _seconds(getattr(request.customTimeouts, name)) for name in ("create", "update", "delete")}
    return Goal(
        target=plugins.Target(urn=urn, type=request.type, name=request.name),
        custom=request.custom,
        parent=request.parent,
        inputs={key: value for key, value in values.load(request.object).items() if value is not None},
        protect=request.protect,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        dependencies=tuple(request.dependencies),
        property_dependencies={key: list(each.urns) for key, each in sorted(request.propertyDependencies.items())},
        provider=request.provider,
        version=request.version,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        additional_secret_outputs=tuple(request.additionalSecretOutputs),
        aliases=tuple(request.aliases),
        import_id=request.importId,
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        timeouts_s={name: seconds for name, seconds in timeouts.items() if seconds},
    )


def _refuse_unsupported(request: resource_pb2.RegisterResourceRequest, urn: str) -> None:
    for name in _UNSUPPORTED:
        value = getattr(request, name)
        asked = bool(value.ListFields()) if hasattr(value, "ListFields") else bool(value)
        if asked:
            raise errors.RefusedError(
                f"{urn}: {name} is not supported by the emulator of the Pulumi engine; it needs the pulumi CLI"
            )
    refuse_builtin(request.type, urn)


def refuse_builtin(kind: str, urn: str) -> None:
    """Raise `errors.RefusedError` for the engine's own resource types but the stack, such as stack references."""
    if kind.startswith(("pulumi:pulumi:", "pulumi:index:")) and kind != STACK_TYPE:
        raise errors.RefusedError(
            f"{urn}: {kind} is not supported by the emulator of the Pulumi engine; it needs the pulumi CLI"
        )


def _seconds(text: str) -> float:
    """Return the seconds of a duration such as ``1h30m``; 0 where there is none."""
    return sum(float(number) * _UNIT_S[unit] for number, unit in _DURATION.findall(text))

"""
All custom resources by their Pulumi type token. A new one is added here, and nowhere else.

The module of each is imported when it is first used: the engine starts the provider up to twice in a run, and waits for
it; a program seldom has all kinds.
"""

import functools
import importlib
from collections.abc import Iterator, Mapping

from nomad_csi.frame import declaration, resource, stack_identity
from nomad_csi.jobs import plugin_job_properties
from nomad_csi.resources import plugin_health_properties, rendered_file
from nomad_csi.volumes import created_properties, hold, volume_properties

_KINDS: tuple[tuple[declaration.Declaration, str, str], ...] = (
    (stack_identity.DECLARED, "frame.stack_identity", "StackIdentityResource"),
    (plugin_job_properties.DECLARED, "jobs.plugin_job", "PluginJobResource"),
    (plugin_health_properties.DECLARED, "resources.plugin_health", "PluginHealthResource"),
    (volume_properties.DECLARED, "volumes.volume_registration", "VolumeRegistrationResource"),
    (created_properties.DECLARED, "volumes.created_volume", "CreatedVolumeResource"),
    (hold.DECLARED, "volumes.hold", "StorageHoldResource"),
    (rendered_file.DECLARED, "resources.rendered_file", "RenderedFileResource"),
)
"""Declaration, module below `nomad_csi`, and class."""

DECLARED: Mapping[str, declaration.Declaration] = {declared.token: declared for declared, _, _ in _KINDS}
"""The declarations by token; they import no module that sends requests."""


class _Resources(Mapping[str, resource.Resource]):
    """The resources by token."""

    def __init__(self) -> None:
        self._places = {declared.token: (module, name) for declared, module, name in _KINDS}
        self._found = functools.cache(self._imported)

    def __getitem__(self, token: str) -> resource.Resource:
        return self._found(token)

    def __contains__(self, token: object) -> bool:
        return token in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _imported(self, token: str) -> resource.Resource:
        module, name = self._places[token]
        found: resource.Resource = getattr(importlib.import_module(f"nomad_csi.{module}"), name)()
        return found


RESOURCES: Mapping[str, resource.Resource] = _Resources()

"""
Which controllers of a plugin can be asked, and asking them. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``pluginValidateVolume``), ``nomad/client_csi_endpoint.go``
(``sendCSIControllerRPC``), 2026-08-21.
"""

from collections.abc import Callable
from typing import TypeVar

from nomad_csi_sandbox.nomad import state
from nomad_csi_sandbox.nomad.storage import csi_client, plugins, volumes

Answer = TypeVar("Answer")


def sockets(known: state.State, plugin_id: str) -> list[str]:
    """Return the sockets of the controllers to ask; none for a plugin that needs none. Raises `VolumeError`."""
    record = known.plugins.get(plugin_id)
    if record is None:
        raise volumes.VolumeError(f"no CSI plugin named: {plugin_id} could be found")
    if not record.controller_required:
        return []
    found = plugins.controller_sockets(known, plugin_id)
    if not found:
        raise volumes.VolumeError(f"no healthy controllers for CSI plugin: {plugin_id}")
    return found


def ask(reachable: list[str], question: Callable[[csi_client.PluginClient], Answer]) -> Answer:
    """Ask the first of some controllers that can be reached, and return its answer. Raises `CsiCallError`."""
    *others, last = reachable
    for socket in others:
        try:
            return _ask_one(socket, question)
        except csi_client.CsiCallError as error:
            if error.code not in {"", "Unavailable"}:
                raise
    return _ask_one(last, question)


def _ask_one(socket: str, question: Callable[[csi_client.PluginClient], Answer]) -> Answer:
    with csi_client.connected(socket, csi_client.CONTROLLER_TIMEOUT_S) as client:
        return question(client)

"""The plugin of what is to take the place of a registration is asked for first."""

import pytest

from nomad_csi.nomad import plugins
from nomad_csi.volumes import desired, fitness, volume_properties

USE = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
NEWS = {"volumeId": "v", "namespace": "default", "name": "v", "pluginId": "p", "capabilities": [USE]}


def wanted(news):
    """Return the desired volume of inputs; without an external id its plugin creates the storage."""
    return desired.of_properties(volume_properties.of("existing" if "externalId" in news else "created"), news)


def instance(role="controller", *, healthy=True):
    """An instance of a plugin."""
    return plugins.Instance(
        role=role,
        node_id="node",
        alloc_id="alloc",
        healthy=healthy,
        health_description="",
        provider_version="",
        segments={},
        supports=frozenset(),
    )


def plugin(*instances, provider="", controller_required=False):
    """A plugin as Nomad has it."""
    return plugins.Plugin(
        plugin_id="p",
        provider=provider,
        version="",
        controller_required=controller_required,
        controllers=tuple(item for item in instances if item.role == "controller"),
        nodes=tuple(item for item in instances if item.role == "node"),
        controllers_expected=1,
        nodes_expected=1,
    )


# --- Nomad
NODE, SICK = instance("node"), instance("node", healthy=False)
CONTROLLER, SICK_CONTROLLER = instance(), instance(healthy=False)


UNHEALTHY = "expected a healthy plugin, got 'p': no instance is healthy; "
ABLE = {
    "a node": (plugin(NODE), False, ""),
    "node and controller": (plugin(NODE, CONTROLLER, controller_required=True), True, ""),
    "nothing": (plugin(), False, UNHEALTHY),
    "nothing healthy": (plugin(SICK, SICK_CONTROLLER), False, UNHEALTHY),
    "a controller that it does not need": (plugin(NODE, SICK_CONTROLLER), False, ""),
    "a controller that it needs": (
        plugin(NODE, SICK_CONTROLLER, controller_required=True), False,
        "expected a plugin with a healthy controller, got 'p': 0 of 1 are healthy; ",
    ),
    "no controller to create volumes": (plugin(NODE), True, "expected a plugin with a controller, got 'p': it has none; "),
}  # fmt: skip


@pytest.mark.parametrize(("found", "needs_controller", "expected"), ABLE.values(), ids=ABLE)
def test_plugin_must_be_able_to_serve_the_volume(found, needs_controller, expected):
    """One that was never healthy would take any registration, and one without controller makes no volume."""
    news = NEWS | ({} if needs_controller else {"externalId": "vol-1"})

    problems = [str(problem) for problem in fitness.plugin_problems(found, wanted(news))]

    assert len(problems) == bool(expected)
    assert not problems or problems[0].startswith(f"pluginId: {expected}")

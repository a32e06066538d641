"""Text that a job file cannot hold is refused by the plan, at its key."""

import copy

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage
from tests import hostile_specs

ROLE = "plugins[0].driver.roles.node"
PLACES = {
    f"{ROLE}.mount_dir": ("driver", "roles", "node", "mount_dir"),
    f"{ROLE}.binds[0]": ("driver", "roles", "node", "binds", 0),
    f"{ROLE}.arguments[3]": ("driver", "roles", "node", "arguments", 3),
    f"{ROLE}.environment.LEVEL": ("driver", "roles", "node", "environment", "LEVEL"),
    f"{ROLE}.credentials_environment.KEY_FILE": ("driver", "roles", "node", "credentials_environment", "KEY_FILE"),
    f"{ROLE}.network_mode": ("driver", "roles", "node", "network_mode"),
    f"{ROLE}.ipc_mode": ("driver", "roles", "node", "ipc_mode"),
    "plugins[0].driver.settings.zone.default": ("driver", "settings", "zone", "default"),
    "plugins[0].credentials.vault.path": ("credentials", "vault", "path"),
    "plugins[0].registry_credentials.vault.path": ("registry_credentials", "vault", "path"),
    "plugins[0].credentials.vault.role": ("credentials", "vault", "role"),
    "plugins[0].image": ("image",),
    "plugins[0].node_pool": ("node_pool",),
    "plugins[0].nomad_region": ("nomad_region",),
    "plugins[0].datacenters[1]": ("datacenters", 1),
    "plugins[0].config.server.host": ("config", "server", "host"),
    "plugins[0].environment.PROXY": ("environment", "PROXY"),
}
"""Places of text in `hostile_specs.SPEC`, by their paths."""


def changed(way, text):
    """Return the spec with *text* behind what stands at *way* in its plugin."""
    document = copy.deepcopy(hostile_specs.SPEC)
    *above, last = ("plugins", 0, *way)
    inside = document
    for step in above:
        inside = inside[step]
    inside[last] = f"{inside[last]}{text}"
    return document


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("text", ["${x", "%{"])
def test_text_that_a_job_file_cannot_hold_is_refused_at_its_key(path, text):
    """With the path, before anything is rendered."""
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(changed(PLACES[path], text))

    assert path in {problem.path for problem in caught.value.problems}

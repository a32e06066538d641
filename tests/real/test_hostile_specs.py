"""Hostile specs that the plan accepts: a real Nomad reads the rendered jobs as they were planned."""

import random
import shutil

import pytest

from nomad_csi.nomad import jobs
from tests import hostile_specs

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(shutil.which("nomad") is None, reason="no `nomad` on PATH to parse with"),
]


def test_nomad_reads_accepted_specs_as_planned(agent):
    """Each text of an own driver, of `config` and of the credentials arrives as it was, and nothing beside it."""
    seed = random.randrange(2**32)  # noqa: S311  # tests are to be repeated
    count = 0
    for found in hostile_specs.accepted(seed):
        parsed = jobs.parse(agent.client, found.job_file)
        wanted = found.job
        [group] = parsed["TaskGroups"]
        [task] = group["Tasks"]
        config = task["Config"]
        read = {
            "id": parsed["ID"],
            "region": parsed["Region"],
            "datacenters": parsed["Datacenters"],
            "node_pool": parsed["NodePool"],
            "constraints": [(item["LTarget"], item["RTarget"]) for item in parsed["Constraints"] or []],
            "image": config["image"],
            "args": config["args"],
            "network_mode": config.get("network_mode", ""),
            "ipc_mode": config.get("ipc_mode", ""),
            "volumes": config.get("volumes", []),
            "env": task["Env"],
            "mount_dir": task["CSIPluginConfig"]["MountDir"],
            "templates": [item["EmbeddedTmpl"].removesuffix("\n") for item in task["Templates"]],
            "vault": task["Vault"]["Role"],
        }
        planned = {
            "id": wanted.job_id,
            "region": wanted.region,
            "datacenters": list(wanted.datacenters),
            "node_pool": wanted.node_pool,
            "constraints": [(item.attribute, item.value) for item in wanted.constraints],
            "image": wanted.image,
            "args": list(wanted.arguments),
            "network_mode": wanted.network_mode,
            "ipc_mode": wanted.ipc_mode,
            "volumes": list(wanted.binds),
            "env": dict(wanted.environment),
            "mount_dir": wanted.mount_dir,
            "templates": [item.data for item in wanted.templates],
            "vault": wanted.vault_role,
        }
        assert read == planned, found.document
        count += 1

    assert count > hostile_specs.COUNT / 10

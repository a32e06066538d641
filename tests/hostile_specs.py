"""Whole specs with hostile texts in any of their places: an own driver and a volume that use every kind of field."""

import copy
import json
import os
import random
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.hcl import documents
from nomad_csi.plan import model, storage
from tests import hostile

COUNT = int(os.environ.get("NOMAD_CSI_HOSTILE_SPECS", "300"))
"""How many specs a test makes; 6,000 search for longer, and take minutes."""

DRIVER = {
    "name": "own",
    "title": "Own storage",
    "provider": "own.example.com",
    "image": "registry.example.com/own:1",
    "version": "1",
    "roles": {
        "node": {
            "job_type": "system",
            "arguments": ["--endpoint=${CSI_ENDPOINT}", "--config={config_file}", "--zone={zone}", "--x=y"],
            "environment": {"LEVEL": "info", "ZONE": "{zone}"},
            "secret_environment": {"TOKEN": "token"},
            "secret_files": {"key.pem": "key"},
            "credentials_environment": {"KEY_FILE": "${NOMAD_SECRETS_DIR}/key.pem"},
            "privileged": True,
            "network_mode": "host",
            "ipc_mode": "host",
            "binds": ["/var/own:/var/own"],
            "mount_dir": "/csi",
            "needs": ["a kernel module", "a service"],
        }
    },
    "capabilities": [{"access_mode": "multi-node-multi-writer"}],
    "config_file": {"name": "own.yaml"},
    "settings": {"zone": {"text": "the zone", "default": "a"}},
    "topology_key": "topology.example.com/zone",
}
SPEC = {
    "plugins": [
        {
            "id": "own0",
            "driver": DRIVER,
            "config": {"server": {"host": "nas", "shares": ["one", "two"], "login": {"from_secret": "login"}}},
            "credentials": {"vault": {"path": "secret/data/own", "role": "csi"}},
            "registry_credentials": {"vault": {"path": "secret/data/registry", "role": "csi"}},
            "environment": {"PROXY": "http://proxy", "EMPTY": "x"},
            "extra_arguments": {"node": ["--name=value", "--other=thing"]},
            "constraints": [{"attribute": "${meta.storage}", "operator": "=", "value": "fast"}],
            "datacenters": ["dc1", "dc2"],
            "node_pool": "storage",
            "nomad_region": "global",
            "image": "mirror.example.com/own:1",
        }
    ],
    "volumes": [
        {
            "id": "data",
            "plugin_id": "own0",
            "name": "Data",
            "existing": {"external_id": "nas#data", "availability_zone": "zone-a"},
            "mount_options": {"fs_type": "ext4", "mount_flags": ["noatime", "nodiratime"]},
            "topologies": [{"topology.example.com/zone": "a"}, {"topology.example.com/zone": "b"}],
            "context": {"tier": "slow", "share": "one"},
            "parameters": {"kind": "thin"},
            "secrets": {"user": "CANARY"},
        }
    ],
}


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """A hostile spec that passed all rules."""

    document: str
    """The spec as JSON, for a failure to be repeated."""

    job: model.PluginJob
    volume: model.VolumePlan
    job_file: str
    volume_file: str


def accepted(seed, count=COUNT):
    """
    Yield those of *count* hostile specs that are accepted, with their files: rendering may refuse nothing.

    Each problem of the others has the path of a value.
    """
    chance = random.Random(seed)  # noqa: S311  # tests are to be repeated
    for _ in range(count):
        document = changed(chance)
        plan, nameless = _planned(document)
        assert not nameless, json.dumps(document)
        if plan is not None:
            yield _rendered(document, plan)


def _planned(document):
    """Return the plan of *document*, or none and the problems that have no path."""
    try:
        return storage.plan_document(document), []
    except errors.SpecError as error:
        return None, [problem for problem in error.problems if not problem.path]


def changed(chance):
    """Return `SPEC` with hostile texts in one to three places, in a value or in a key, each in a tenth unwritable."""
    document = copy.deepcopy(SPEC)
    chosen = chance.sample(PLACES, 1 + chance.randrange(3))
    for *way, last in sorted(chosen, key=lambda place: (place in KEYS, -len(place))):
        inside = document
        for step in way:
            inside = inside[step]
        if last == "":
            name = chance.choice(list(inside))
            inside[f"{name}{_text(chance)}"] = inside.pop(name)
        else:
            inside[last] = _text(chance) if chance.randrange(2) else f"{inside[last]}{_text(chance)}"
    return document


def _text(chance):
    made = hostile.texts if chance.randrange(10) else hostile.unwritable_texts
    return next(text for text in made(100, chance.randrange(2**32)) if text)


def _rendered(document, plan):
    [job], [volume] = plan.plugins[0].jobs, plan.volumes
    texts = documents.render_plan(plan, {})
    return Accepted(
        document=json.dumps(document),
        job=job,
        volume=volume,
        job_file=texts[job.file_name],
        volume_file=texts[volume.file_name],
    )


def _places(value, way=()):
    if isinstance(value, str):
        yield way
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*way, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*way, index))


_DRIVER = ("plugins", 0, "driver")
_NODE = (*_DRIVER, "roles", "node")
KEYS = [
    *(("plugins", 0, name, "") for name in ("config", "environment")),
    ("plugins", 0, "config", "server", ""),
    *((*_NODE, name, "") for name in ("environment", "secret_environment", "secret_files", "credentials_environment")),
    (*_DRIVER, "settings", ""),
    *(("volumes", 0, name, "") for name in ("context", "parameters", "secrets")),
    ("volumes", 0, "topologies", 0, ""),
]
"""Maps of `SPEC` whose keys are the operator's own."""

PLACES = [
    *(place for place in _places(SPEC) if place[-1] not in {"plugin_id", "from_secret"} and "secrets" not in place),
    *KEYS,
]
"""Where the texts of `SPEC` stand; with an empty text at the end: the keys of a map."""

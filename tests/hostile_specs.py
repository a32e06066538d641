"""Whole specs with hostile texts in any of their places: an own driver and a volume that use every kind of field."""

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

"""What the tests of the linter share: files that are right, and a driver that is strict about everything."""

import pytest

from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import files
from nomad_csi.spec import model as spec

STRICT = catalogue.DRIVERS["aws-efs"].model_copy(
    update={
        "name": "strict",
        "title": "Strict",
        "image": "registry.example/strict-csi:v1",
        "version": "v1",
        "creates": True,
        "needs_capacity": True,
        "registers": True,
        "health_timeout_s": 90,
        "minimum_nomad": "1.9.4",
        "topology_key": None,
        "topology_keys": (),
        "fs_types": frozenset({"nfs"}),
        "external_id": spec.ExternalIdSpec(pattern=r"strict-\d+", allowed="a strict id such as strict-1"),
        "capabilities": (spec.CapabilitySpec(access_mode="single-node-writer"),),
        "context": spec.KeysSpec(
            allowed=frozenset({"driver", "server"}),
            required=frozenset({"driver"}),
            values={"driver": frozenset({"nfs", "iscsi"})},
            required_with={"driver": {"nfs": frozenset({"server"})}},
        ),
        "parameters": spec.KeysSpec(
            allowed=frozenset({"type"}), required=frozenset({"type"}), values={"type": frozenset({"a", "b"})}
        ),
        "roles": {
            "controller": catalogue.DRIVERS["aws-efs"]
            .roles["node"]
            .model_copy(
                update={
                    "job_type": "service",
                    "arguments": ("--mode=controller", "--endpoint=${CSI_ENDPOINT}"),
                    "flags": frozenset({"mode", "endpoint", "log-level"}),
                    "unfit_flags": {"kubeconfig": "it names a Kubernetes API", "drivername": "it has a name"},
                    "privileged": False,
                    "network_mode": "",
                    "binds": (),
                    "count_limit": 1,
                    "count_advice": "its lock is in one process",
                }
            ),
            "node": catalogue.DRIVERS["aws-efs"]
            .roles["node"]
            .model_copy(
                update={
                    "arguments": ("--mode=node", "--endpoint=${CSI_ENDPOINT}"),
                    "flags": frozenset({"mode", "endpoint", "log-level"}),
                }
            ),
        },
    }
)
"""A driver made up for the rules that no driver of today's catalogue calls for."""

ONLY_CREATED = STRICT.model_copy(update={"name": "creator", "registers": False})


@pytest.fixture(autouse=True)
def known_drivers(monkeypatch):
    """The two drivers of AWS, that of NFS and two made up ones, whatever else the catalogue holds."""
    known = {name: catalogue.DRIVERS[name] for name in ("aws-ebs", "aws-efs", "csi-driver-nfs")}
    known |= {"strict": STRICT, "creator": ONLY_CREATED}
    monkeypatch.setattr(catalogue, "DRIVERS", known)


@pytest.fixture
def judged():
    """Return a function that gives the findings in texts by their file names."""
    return lambda texts: judge.judge([files.parse(text, name) for name, text in texts.items()])

"""A user's unit tests with Pulumi's mocks: those that return the inputs are enough, and `nomad_csi.testing` has some."""

import pulumi
import pytest

import nomad_csi
from nomad_csi import components
from nomad_csi.components import documentation

ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
EBS = {"plugin_id": "ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
TARGETS = {
    "mount_targets": [{"availability_zone": "us-east-1a"}],
    "clients": {"cidr_blocks": ["10.0.0.0/8"]},
    "iam": {"role_name": "client", "required": True},
}
MOUNTED = {"plugin_id": "efs0", "mount_options": {"mount_flags": ["tls", "iam"]}}
EXISTING = {"plugin_id": "ebs0", "driver": "aws-ebs", "external_id": "vol-0123456789abcdef0"}
DECLARED = [
    (components.CsiPlugin, {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role_name": "client"}}),
    (components.CsiVolume, {"plugin_id": "nfs0", "driver": "csi-hostpath", "capacity_min_gib": 1}),
    (components.EbsSnapshots, {"keep": 7}),
    (components.EbsVolume, EBS | {"render_to": "out"}),
    (components.EfsBackups, {"keep_days": 35, "file_system_arns": [ARN]}),
    (components.EfsFileSystem, TARGETS),
    (components.EfsVolume, TARGETS | MOUNTED | {"access_point": {"path": "/a", "uid": 1, "gid": 1}}),
    (components.ExistingVolume, EXISTING | {"availability_zone": "us-east-1a"}),
]


class Echo(pulumi.runtime.Mocks):
    """As in Pulumi's own guide for unit tests."""

    def new_resource(self, args):
        return f"{args.name}_id", args.inputs

    def call(self, args):
        return args.args


class Silent(Echo):
    """As above, without any result of functions."""

    def call(self, _):
        return {}


def test_every_component_is_declared():
    """One that is added is tested, too."""
    assert [component for component, _ in DECLARED] == list(nomad_csi.COMPONENTS)


@pytest.mark.parametrize("mocks", [Echo, Silent])
@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(("component", "args"), DECLARED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_component_takes_mocks_that_return_the_inputs(component, args, preview, mocks):
    """Without answers for functions that only the package calls: nothing fails."""
    pulumi.runtime.set_mocks(mocks(), project="storage", stack="prod", preview=preview)

    @pulumi.runtime.test
    def program():
        made = component("data", args)
        return pulumi.Output.all(*(getattr(made, name) for name in documentation.output_types(component)))

    program()

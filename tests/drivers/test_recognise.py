"""Which driver somebody else's job or volume is about."""

import pytest

from nomad_csi.drivers import catalogue, recognise


def name_of(driver):
    return driver.name if driver else None


@pytest.mark.parametrize("driver", catalogue.DRIVERS.values(), ids=catalogue.DRIVERS)
def test_every_driver_is_known_by_its_own_image(driver):
    """From wherever it is pulled, in whichever version."""
    program = recognise.repository(driver.image).rpartition("/")[2]

    for role in driver.roles.values():
        for image in (driver.image, f"mirror.example:5000/a/{program}:other"):
            assert recognise.recognise_plugin(image=image, arguments=role.arguments) is driver


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"image": "amazon/aws-ebs-csi-driver:v0.10.1"}, "aws-ebs"),
        ({"image": "amazon/aws-efs-csi-driver"}, "aws-efs"),
        ({"command": "/usr/local/bin/aws-ebs-csi-driver"}, "aws-ebs"),
        ({"image": "amazon/aws-efs-csi-driver", "command": "/usr/local/bin/aws-ebs-csi-driver"}, "aws-efs"),
        ({"image": "mirror/ebs:1", "plugin_id": "aws-ebs0", "arguments": ["node", "--v=2"]}, "aws-ebs"),
        ({"image": "mirror/ebs:1", "plugin_id": "aws-ebs", "arguments": ["node", "--kubeconfig=x"]}, "aws-ebs"),
        ({"image": "mirror/ebs:1", "plugin_id": "aws-ebs-7"}, "aws-ebs"),
        ({"image": "mirror/ebs:1", "plugin_id": "aws-ebs_7", "arguments": ["--extra-tags=a=b"]}, "aws-ebs"),
        ({"image": "$IMAGE", "plugin_id": "hetzner.0", "arguments": ["-node", "-controller"]}, "hetzner"),
        ({"image": "mirror/ebs:1", "plugin_id": "aws-ebs0", "arguments": ["--csi-name=x"]}, None),
        ({"image": "mirror/ebs:1", "plugin_id": "ebs0"}, None),
        ({"image": "$IMAGE", "plugin_id": "csi.hetzner.cloud", "arguments": ["-node"]}, "hetzner"),
        ({"image": "mirror/nothing:1"}, None),
        ({"image": "quay.io/cephcsi/cephcsi:canary", "arguments": ["--v=5", "--type=cephfs"]}, "cephfs"),
        ({"image": "quay.io/cephcsi/cephcsi:canary", "arguments": ["-type", "rbd"]}, "ceph-rbd"),
        ({"image": "quay.io/cephcsi/cephcsi:canary", "arguments": ["--type=nfs"]}, None),
        ({}, None),
    ],
)
def test_plugins(given, name):
    """By image or command; else by an id that begins as the driver is called, and flags that are all its own."""
    assert name_of(recognise.recognise_plugin(**given)) == name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"external_id": "vol-0123456789abcdef0", "plugin_id": "aws-efs0"}, "aws-ebs"),
        ({"external_id": "fs-0123456789abcdef0::fsap-0123456789abcdef0"}, "aws-efs"),
        (
            {"context": {"node_attach_driver": "nfs", "provisioner_driver": "x", "server": "s", "share": "/a"}},
            "democratic-csi",
        ),
        ({"context": {"server": "s", "share": "/a"}, "external_id": "vol-0123456789abcdef0"}, "csi-driver-nfs"),
        ({"topology_keys": ["topology.ebs.csi.aws.com/zone"], "context": {"source": "//a/b"}}, "aws-ebs"),
        ({"topology_keys": ["kubernetes.io/os"], "external_id": "x"}, "aws-ebs"),
        ({"plugin_id": "aws-efs0", "external_id": "x"}, "aws-efs"),
        ({"plugin_id": "p", "external_id": "x"}, None),
        ({"plugin_id": "p", "external_id": "12345678901234567890"}, None),
        ({}, None),
    ],
)
def test_volumes(given, name):
    """By what only one driver has."""
    assert name_of(recognise.recognise_volume(**given)) == name


@pytest.mark.parametrize(
    ("image", "repository", "tag", "is_unpinned"),
    [
        ("a/b:v1", "a/b", "v1", False),
        ("a/b:latest", "a/b", "latest", True),
        ("a/b:latest@sha256:0", "a/b", "latest", False),
        ("a.example:5000/b", "a.example:5000/b", "", True),
        ("a.example:5000/b:v1@sha256:0", "a.example:5000/b", "v1", False),
        ("b", "b", "", True),
    ],
)
def test_images(image, repository, tag, is_unpinned):
    """A port is no tag; a digest pins whatever the tag is."""
    assert (recognise.repository(image), recognise.tag(image)) == (repository, tag)
    assert recognise.is_unpinned(image) is is_unpinned


@pytest.mark.parametrize(
    ("image", "name", "published"),
    [
        ("democraticcsi/democratic-csi:v1", "democratic-csi", True),
        ("docker.io/democraticcsi/democratic-csi:v1", "democratic-csi", True),
        ("mirror.example/democraticcsi/democratic-csi:v1", "democratic-csi", False),
        ("amazon/aws-ebs-csi-driver:v1", "aws-ebs", False),
    ],
)
def test_where_an_image_is_published(image, name, published):
    """The registry that Docker takes by itself need not be named."""
    assert recognise.is_published(image, catalogue.DRIVERS[name]) is published


@pytest.mark.parametrize(
    ("image", "mirror"),
    [
        ("public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1", "public.ecr.aws"),
        ("mirror.example:5000/a/ebs-csi-driver/aws-ebs-csi-driver@sha256:0", "mirror.example:5000/a"),
        ("mirror.example/aws-ebs-csi-driver:v1", ""),
        ("mirror.example/ebs-csi-driver/aws-ebs-csi-driver/x", ""),
    ],
)
def test_mirror_is_what_stands_before_the_path(image, mirror):
    """Where the path is that of the driver's image."""
    assert recognise.mirror(image, catalogue.DRIVERS["aws-ebs"]) == mirror


def test_arguments():
    """Flags with one dash or two, with the value behind = or as the next word."""
    given = ["node", "--v", "5", "-endpoint=x", "--flag", "--other=1", "word"]

    assert catalogue.flags(given) == {"v", "endpoint", "flag", "other"}
    assert catalogue.joined(["-c", "{cluster_id}", "-a", "-k", "${KVDB}"]) == [
        (0, "-c={cluster_id}"),
        (2, "-a"),
        (3, "-k=${KVDB}"),
    ]
    assert catalogue.joined(given) == [
        (0, "node"),
        (1, "--v=5"),
        (3, "-endpoint=x"),
        (4, "--flag"),
        (5, "--other=1"),
        (6, "word"),
    ]

"""What cannot work with a driver is refused before anything changes, each with a message of its own."""

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage

EBS = {"id": "p", "driver": "aws-ebs", "aws_region": "us-east-1"}
EFS = {"id": "p", "driver": "aws-efs", "aws_region": "us-east-1"}
GCE = {"id": "p", "driver": "gce-pd"}
DIGITALOCEAN = {"id": "p", "driver": "digitalocean", "credentials": {"nomad_variable": "nomad/jobs"}}
PORTWORX = {"id": "p", "driver": "portworx", "config": {"cluster_id": "px"}}
NFS = {"id": "p", "driver": "csi-driver-nfs"}
DEMOCRATIC = {"id": "p", "driver": "democratic-csi", "config": {"driver": "freenas-api-nfs"}}


def existing(external_id, zone=None, **more):
    source = {"external_id": external_id} | ({"availability_zone": zone} if zone else {})
    return {"id": "v", "plugin_id": "p", "existing": source} | more


def problems(plugin, *volumes):
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document({"plugins": [plugin], "volumes": volumes})
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EBS | {"driver": "aws-esb"}, [], ["plugins[0].driver: expected one of aws-ebs, aws-efs, ceph-rbd, cephfs, csi-driver-nfs, csi-hostpath, democratic-csi, digitalocean, gce-pd, hetzner, portworx, rocketduck-nfs, seaweedfs, smb, got 'aws-esb'; did you mean aws-efs"]),
        ({"id": "p", "driver": "cinder"}, [], ["plugins[0].driver: expected one of aws-ebs, aws-efs, ceph-rbd, cephfs, csi-driver-nfs, csi-hostpath, democratic-csi, digitalocean, gce-pd, hetzner, portworx, rocketduck-nfs, seaweedfs, smb, got 'cinder'; or describe the driver here: {name, provider, image, roles, ...}"]),
    ],
)  # fmt: skip
def test_rejects_a_driver_that_it_does_not_have(plugin, volumes, lines):
    """What was meant, or what to do: the catalogue is no limit."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        ({"id": "p", "driver": "aws-s3"}, [], ["plugins[0].driver: expected a driver that can run on Nomad; Mountpoint for Amazon S3 cannot: it queries the Kubernetes API when it starts, and mounts through Kubernetes pods of its own, got 'aws-s3'; use aws-efs with an external id such as s3files:fs-0123456789abcdef0 (Amazon S3 Files)"]),
    ],
)  # fmt: skip
def test_rejects_a_driver_that_cannot_run_on_nomad(plugin, volumes, lines):
    """The reason, and what to use."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EBS | {"extra_arguments": {"controller": ["nodes"]}}, [], ["plugins[0].extra_arguments.controller[0]: expected a flag such as --name=value; a bare value makes the driver ignore or misread what follows, got 'nodes'"]),
        (EFS | {"extra_arguments": {"node": ["node"]}}, [], ["plugins[0].extra_arguments.node[0]: expected a flag such as --name=value; a bare value makes the driver ignore or misread what follows, got 'node'"]),
        (EBS | {"extra_arguments": {"controller": ["--volume-attach-limit=3"]}}, [], ["plugins[0].extra_arguments.controller[0]: expected a flag of aws-ebs v1.64.0: aws-sdk-debug-log, batching, deprecated-metrics, enable-node-local-volumes, enable-otel-tracing, extra-tags, extra-volume-tags, http-endpoint, k8s-tag-cluster-id, log-flush-frequency, logtostderr, metadata-sources, metrics-cert-file, metrics-key-file, modify-volume-request-handler-timeout, user-agent-extra, vmodule, warn-on-invalid-tag, got '--volume-attach-limit=3'"]),
        (EBS | {"extra_arguments": {"node": ["--volume-attach-limit=9", "--reserved-volume-attachments=1"]}}, [], ["plugins[0].extra_arguments.node: expected one of --volume-attach-limit and --reserved-volume-attachments, got both"]),
        (DIGITALOCEAN | {"extra_arguments": {"node": ["--logtostderr"]}}, [], ["plugins[0].extra_arguments.node[0]: expected a flag of digitalocean v4.16.0: validate-attachment, volume-limit, got '--logtostderr'"]),
        (DIGITALOCEAN | {"extra_arguments": {"controller": ["--v=5"]}}, [], ["plugins[0].extra_arguments.controller[0]: expected a flag of digitalocean v4.16.0: debug-addr, default-volumes-page-size, do-api-rate-limit, do-tag, got '--v=5'"]),
        (DIGITALOCEAN | {"extra_arguments": {"controller": ["--region=nyc3"]}}, [], ["plugins[0].extra_arguments.controller[0]: expected no --region: the driver queries the droplet for its region; with the flag it creates volumes in no region at all, got '--region=nyc3'"]),
        (GCE | {"extra_arguments": {"node": ["--enable-data-cache=true"]}}, [], ["plugins[0].extra_arguments.node[0]: expected no --enable-data-cache: it queries the Kubernetes API, which nothing on Nomad has, got '--enable-data-cache=true'"]),
    ],
)  # fmt: skip
def test_rejects_arguments_that_the_driver_would_end_on_or_misread(plugin, volumes, lines):
    """Some drivers end with exit code 0 then, and look complete."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (DIGITALOCEAN | {"log_verbosity": 5}, [], ["plugins[0].log_verbosity: expected none: digitalocean has no klog flags, got 5; remove it"]),
        (DIGITALOCEAN | {"log_level": "debug"}, [], ["plugins[0].log_level: expected none: digitalocean takes no name as log level, got 'debug'; remove it"]),
        (DEMOCRATIC | {"log_verbosity": 5}, [], ["plugins[0].log_verbosity: expected none: democratic-csi has no klog flags, got 5; use log_level"]),
    ],
)  # fmt: skip
def test_rejects_log_settings_that_the_driver_does_not_have(plugin, volumes, lines):
    """Each driver logs in its own way."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (DIGITALOCEAN | {"extra_arguments": {"controller": ["--token=abc123"]}}, [], ["plugins[0].extra_arguments.controller[0]: expected no secret in an argument: it would stand in the job file, and in ps on the clients, got --token and a value that is not shown; use credentials"]),
        (DIGITALOCEAN | {"extra_arguments": {"node": ["--token=abc123"]}}, [], ["plugins[0].extra_arguments.node[0]: expected no secret in an argument: it would stand in the job file, and in ps on the clients, got --token and a value that is not shown; use credentials"]),
        (PORTWORX | {"extra_arguments": {"monolith": ["-password=abc123"]}}, [], ["plugins[0].extra_arguments.monolith[0]: expected no secret in an argument: it would stand in the job file, and in ps on the clients, got --password and a value that is not shown; use credentials"]),
        (PORTWORX | {"config": {"cluster_id": "px", "kvdb": "etcd://root:abc123@10.0.0.1:2379"}}, [], ["plugins[0].config.kvdb: expected where Portworx keeps its own state: consul://HOST:PORT or etcd://HOST:PORT, without a password, got [not shown]"]),
        (DEMOCRATIC | {"config": {"driver": "freenas-api-nfs", "httpConnection": {"apiKey": "1-abc123"}}}, [], ["plugins[0].config.httpConnection.apiKey: expected {from_secret: ITEM}: what stands here would stand in the job file, got [not shown]; put the value into a Nomad variable or Vault, and name it under credentials"]),
    ],
)  # fmt: skip
def test_rejects_secrets_in_clear(plugin, volumes, lines):
    """A job file and `ps` are read by many; the message does not show the value either."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        ({"id": "p", "driver": "digitalocean"}, [], ["plugins[0].credentials: expected nomad_variable or vault, with the items token, got nothing; add credentials"]),
        (GCE | {"credentials": {"workload_identity": {"role_arn": "arn:aws:iam::123456789012:role/x"}}}, [], ["plugins[0].credentials.workload_identity: expected nomad_variable or vault: gce-pd takes no AWS role, got one"]),
    ],
)  # fmt: skip
def test_rejects_credentials_that_are_missing_or_not_understood(plugin, volumes, lines):
    """A driver without its token starts, and can do nothing."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (GCE | {"availability_zone": "us-east-1a"}, [], ["plugins[0].availability_zone: expected none: gce-pd is not of AWS, whose zones Nomad's clients report, got 'us-east-1a'; use constraints, and availability_zone or topologies of the volumes"]),
        (PORTWORX | {"monolith": {"job_type": "service", "count": 2}}, [], ["plugins[0].monolith.count: expected at least 3 for portworx: Portworx needs three nodes for a quorum; set as many as there are clients that use volumes, got 2"]),
        (PORTWORX | {"monolith": {"count": 4}}, [], ["plugins[0].monolith.count: expected no count: a system job runs one instance on each eligible client, got 4; remove it, or set monolith.job_type: service"]),
        (PORTWORX | {"update": {"max_parallel": 1}}, [], ["plugins[0].update.healthy_deadline_s: expected at least 1800, the health timeout: or Nomad gives a deployment up that would become healthy, got 300"]),
        ({"id": "p", "driver": "portworx"}, [], ["plugins[0].config.cluster_id: expected the name of the Portworx cluster, the same on every client, got nothing; add config.cluster_id"]),
        (PORTWORX | {"config": {"cluster_id": "px", "kvstore": "x"}}, [], ["plugins[0].config.kvstore: expected one of cluster_id, kvdb, got an unknown key; remove it"]),
        (EBS | {"config": {"a": 1}}, [], ["plugins[0].config.a: expected none: aws-ebs has no configuration of its own, got an unknown key; remove it"]),
    ],
)  # fmt: skip
def test_rejects_settings_that_do_not_fit_the_driver(plugin, volumes, lines):
    """Counts, deadlines, zones and the driver's own settings."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EBS | {"image": "mirror.example.com:5000/ebs"}, [], ["plugins[0].image: expected an image with a tag other than latest, or a digest: or every client may run another version, got 'mirror.example.com:5000/ebs'"]),
        (EBS | {"image": "mirror.example.com/ebs:latest"}, [], ["plugins[0].image: expected an image with a tag other than latest, or a digest: or every client may run another version, got 'mirror.example.com/ebs:latest'"]),
    ],
)  # fmt: skip
def test_rejects_images_that_may_be_another_tomorrow(plugin, volumes, lines):
    """A tag, and not latest; or a digest."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (PORTWORX, [existing("123")], ["volumes[0].existing: expected create under a plugin of portworx, got existing; check plugin_id 'p'"]),
        (EFS, [{"id": "v", "plugin_id": "p", "create": {"capacity_min_gib": 1}}], ["volumes[0].create: expected efs or existing under a plugin of aws-efs, got create; check plugin_id 'p'"]),
    ],
)  # fmt: skip
def test_rejects_ways_to_a_volume_that_the_driver_does_not_have(plugin, volumes, lines):
    """Portworx registers nothing that it did not make here; EFS's access points are Pulumi's."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EFS, [existing("fs-01234567", context={"colour": "red"})], ["volumes[0].context.colour: expected one of crossaccount, encryptInTransit, mounttargetip, mounttargetipmap; aws-efs refuses others, got the key 'colour'"]),
        (EFS, [existing("fs-01234567", context={"path": "/a"})], ["volumes[0].context.path: expected keys that aws-efs takes, got the key 'path'; put the path into the external id: fs-...:/path (drivers since v3.0.0 reject the key)"]),
        (EFS, [existing("fs-01234567", context={"encryptInTransit": "yes"})], ["volumes[0].context.encryptInTransit: expected one of 0, 1, F, FALSE, False, T, TRUE, True, f, false, t, true for aws-efs, got 'yes'"]),
        (EFS, [existing("s3files:fs-01234567", context={"crossaccount": "true"})], ["volumes[0].context.crossaccount: expected keys that aws-efs takes, got the key 'crossaccount'; remove it: S3 Files are not mounted across accounts"]),
        (NFS, [existing("s#e")], ["volumes[0].context.server: expected a value, without which csi-driver-nfs cannot use the volume, got nothing; add server", "volumes[0].context.share: expected a value, without which csi-driver-nfs cannot use the volume, got nothing; add share"]),
        (DEMOCRATIC, [existing("v")], ["volumes[0].context.node_attach_driver: expected a value, without which democratic-csi cannot use the volume, got nothing; add node_attach_driver", "volumes[0].context.provisioner_driver: expected a value, without which democratic-csi cannot use the volume, got nothing; add provisioner_driver"]),
        (EBS, [existing("vol-01234567", zone="us-east-1a", context={"blockSize": "4096"})], ["volumes[0].context.blockSize: expected keys that aws-ebs takes, got the key 'blockSize'; write it in lower case: the driver ignores other spellings"]),
    ],
)  # fmt: skip
def test_rejects_keys_of_the_context_that_a_driver_refuses_or_misses(plugin, volumes, lines):
    """A strict driver answers with an error when a job asks for the volume; a tolerant one ignores it."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EBS, [{"id": "v", "plugin_id": "p", "create": {"capacity_min_gib": 1, "availability_zone": "us-east-1a"}, "parameters": {"csi.storage.k8s.io/fstype": "xfs"}}], ["volumes[0].parameters.csi.storage.k8s.io/fstype: expected keys that aws-ebs takes, got the key 'csi.storage.k8s.io/fstype'; mount_options.fs_type names the file system; here the key is taken out by a helper of Kubernetes only"]),
        (EBS, [{"id": "v", "plugin_id": "p", "create": {"capacity_min_gib": 1, "availability_zone": "us-east-1a"}, "parameters": {"size": "3"}}], ["volumes[0].parameters.size: expected one of allowAutoIOPSIncreaseOnModify, allowAutoIOPSPerGBIncrease, blockAttachUntilInitialized, blockSize, bytesPerInode, encrypted, ext4BigAlloc, ext4ClusterSize, ext4EncryptionSupport, inodeSize, iops, iopsPerGB, kmsKeyId, numberOfInodes, tagSpecification_*, throughput, type, volumeInitializationRate; aws-ebs refuses others, got the key 'size'"]),
        (GCE, [{"id": "v", "plugin_id": "p", "create": {"capacity_min_gib": 1, "availability_zone": "us-central1-a"}, "parameters": {"fstype": "xfs"}}], ["volumes[0].parameters.fstype: expected keys that gce-pd takes, got the key 'fstype'; mount_options.fs_type names the file system: the driver answers this key with an error"]),
    ],
)  # fmt: skip
def test_rejects_parameters_that_a_driver_refuses(plugin, volumes, lines):
    """Known before anything is made."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EFS, [existing("fs-01234567", mount_options={"mount_flags": ["CrossAccount"]})], ["volumes[0].mount_options.mount_flags[0]: expected flags that aws-efs takes, got 'CrossAccount'; set it in the context: the driver refuses the flag"]),
    ],
)  # fmt: skip
def test_rejects_mount_flags_that_a_driver_refuses(plugin, volumes, lines):
    """In capitals too: the driver lowers them."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (GCE, [existing("mysql", zone="us-central1-a")], ["volumes[0].existing.external_id: expected a disk such as projects/my-project/zones/us-central1-a/disks/data, or regions/... for a regional one, got 'mysql'"]),
        (DIGITALOCEAN, [existing("mysql", zone="nyc3")], ["volumes[0].existing.external_id: expected the UUID of a volume, not its name: 506f78a4-e098-11e5-ad9f-000f53306ae1, got 'mysql'"]),
        (EFS, [existing("fs-01234567:/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], ["volumes[0].existing.external_id: expected at most 128 bytes, got 133 bytes"]),
        (EBS, [existing("local-ebs://dev/xvdbz")], ["volumes[0].existing.external_id: expected an id of another form, unless the controller of plugin p has the flag --enable-node-local-volumes, got 'local-ebs://dev/xvdbz'; add --enable-node-local-volumes=true to extra_arguments.controller of the plugin"]),
    ],
)  # fmt: skip
def test_rejects_external_ids_that_are_not_the_driver_s(plugin, volumes, lines):
    """A name instead of an id, a form that is switched off, more than CSI allows."""
    assert problems(plugin, *volumes) == lines


@pytest.mark.parametrize(
    ("plugin", "volumes", "lines"),
    [
        (EBS, [existing("vol-01234567", topologies=[{}])], ["volumes[0].topologies[0]: expected at least one segment: Nomad drops an empty place, and the volume would be bound to none, got no segments"]),
        (EBS, [existing("vol-01234567", topologies=[{"topology.ebs.csi.aws.com/zone": ""}])], ["volumes[0].topologies[0].topology.ebs.csi.aws.com/zone: expected a value, and at most 63 characters in it and in each part of its key, got ''"]),
        (DIGITALOCEAN, [existing("506f78a4-e098-11e5-ad9f-000f53306ae1")], ["volumes[0].existing.availability_zone: expected a zone: without one Nomad places jobs where the volume cannot be attached, got nothing; add the zone of the volume"]),
        (GCE, [{"id": "v", "plugin_id": "p", "create": {"capacity_min_gib": 1}}], ["volumes[0].create.availability_zone: expected a zone: gce-pd makes a volume in one, got nothing; add the zone"]),
    ],
)  # fmt: skip
def test_rejects_places_that_bind_a_volume_to_nothing(plugin, volumes, lines):
    """Nomad would place jobs where the volume is not."""
    assert problems(plugin, *volumes) == lines


OWN = {
    "name": "own",
    "provider": "own.example.com",
    "image": "registry.example.com/own:1",
    "roles": {"node": {"job_type": "system"}},
    "capabilities": [{"access_mode": "single-node-writer"}],
    "secrets": {"values": {"mode": ["a"]}, "required_with": {"kind": {"canary-kind": ["key"]}}},
}


def test_problems_of_secrets_show_no_value():
    """Neither one that is wrong, nor one that calls for another key."""
    volume = existing("v", secrets={"mode": "canary-mode", "kind": "canary-kind"})

    assert problems({"id": "p", "driver": OWN}, volume) == [
        "volumes[0].secrets.mode: expected one of a for own, got [secret]",
        "volumes[0].secrets.key: expected a value, which kind calls for, got nothing; add key",
    ]


def mounted(flags, *, iam=None, context=None):
    """Return a volume of EFS with mount *flags*."""
    efs = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
    options = {"mount_options": {"mount_flags": flags}, "context": context or {}}
    return {"id": "v", "plugin_id": "p", "efs": efs | ({"iam": iam} if iam else {})} | options


@pytest.mark.parametrize(
    ("volume", "lines"),
    [
        (mounted(["noatime"], iam={"role_name": "r"}), ["volumes[0].efs.iam: expected it with the mount flag iam only: without it no client shows who it is, got a role; add iam to mount_options.mount_flags"]),
        (mounted(["iam"], context={"EncryptInTransit": "f"}), ["volumes[0].context.EncryptInTransit: expected true with the mount flag iam, got 'f'; remove one of the two"]),
        (existing("fs-0123456789abcdef0") | {"mount_options": {"mount_flags": ["iam"]}, "context": {"encryptInTransit": "false"}}, ["volumes[0].context.encryptInTransit: expected true with the mount flag iam, got 'false'; remove one of the two"]),
    ],
)  # fmt: skip
def test_rejects_a_role_that_nobody_shows_and_iam_without_tls(volume, lines):
    """EFS's mount helper would refuse the mount, or the permission would be given for nothing."""
    assert problems(EFS, volume) == lines


@pytest.mark.parametrize("volume", [mounted(["iam"], iam={"role_name": "r"}), mounted(["iam", "noatime"])])
def test_takes_the_mount_flag_iam_with_a_role_and_without(volume):
    """EFS lets everyone mount where no file system policy says otherwise."""
    assert storage.plan_document({"plugins": [EFS], "volumes": [volume]}).volumes


SYSTEM = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
POINT = {"path": "/a", "uid": 1000, "gid": 1000}
SYSTEM_ID = "fs-0123456789abcdef0"


def inside(*, flags=(), snapshots=(), **efs):
    """Return a volume in a file system of the spec."""
    parts = {"efs": {"file_system": "data", "access_point": POINT} | efs, "mount_options": {"mount_flags": list(flags)}}
    return {"id": "v", "plugin_id": "p", "snapshots": list(snapshots)} | parts


@pytest.mark.parametrize(
    ("system", "volumes", "lines"),
    [
        (SYSTEM, [inside(), inside(access_point=POINT | {"path": "/b"}) | {"id": "w"}], []),
        (SYSTEM, [inside(file_system="date")], ["volumes[0].efs.file_system: expected a file system of this spec: data, got 'date'; did you mean data"]),
        (SYSTEM, [inside(file_system_id=SYSTEM_ID)], ["volumes[0].efs: expected exactly one of mount_targets, file_system, file_system_id, got file_system and file_system_id"]),
        (SYSTEM, [inside(file_system=None)], ["volumes[0].efs: expected exactly one of mount_targets, file_system, file_system_id, got none of them"]),
        (SYSTEM, [inside(encrypted=False)], ["volumes[0].efs: expected no encrypted, which are settings of the file system, got a mapping"]),
        (SYSTEM, [inside(access_point=None)], ["volumes[0].efs: expected access_point, which selects the volume's folder in the file system, got none"]),
        (SYSTEM, [inside(iam={"role_name": "r"}, flags=["iam"])], ["volumes[0].efs.iam: expected none: data gives the permissions once, for all of its volumes, got a role; use file_systems.data.iam"]),
        (SYSTEM, [inside(file_system=None, file_system_id=SYSTEM_ID, iam={"role_name": "r", "required": True}, flags=["iam"])], ["volumes[0].efs.iam.required: expected false: the policy of a file system that exists is not this spec's to replace, got true"]),
        (SYSTEM, [inside(snapshots=["nightly"])], ["volumes[0].snapshots: expected none: AWS Backup copies whole file systems, got nightly; use file_systems.data.snapshots"]),
        (SYSTEM | {"snapshots": ["daily"]}, [], ["file_systems.data.snapshots[0]: expected a schedule of this spec: nightly, got 'daily'; add it under snapshots"]),
        (SYSTEM, [inside(), inside() | {"id": "w"}], ["volumes[1].efs.access_point.path: expected a folder of its own: volumes[0] has it already, got 'file_systems.data:/a'; set shares_storage: true on it, if both are meant to be the same data"]),
        (SYSTEM, [inside(), inside() | {"id": "w", "shares_storage": True}], []),
        (SYSTEM | {"mount_targets": [{"availability_zone": "eu-west-1a"}]}, [inside()], ["volumes[0].efs.file_system: expected a file system with mount targets in us-east-1, the plugin's region, got data in eu-west-1a"]),
        (SYSTEM | {"iam": {"role_name": "r", "required": True}}, [inside()], ["volumes[0].mount_options.mount_flags: expected iam among them: data refuses everyone who mounts it without, got none"]),
        (SYSTEM | {"iam": {"role_name": "r"}}, [inside(access_point=POINT | {"uid": 0}, flags=["iam"])], ["volumes[0].efs.access_point.uid: expected a user that is not root, unless data allows that, got 0:1000; set file_systems.data.iam.root_access: true"]),
        (SYSTEM | {"mount_targets": []}, [inside()], ["file_systems.data.mount_targets: expected at least one mount target, got none; add one for each zone with clients"]),
        (SYSTEM | {"moved_from": "data"}, [inside()], ["file_systems.data.moved_from: expected a former name that no file system has now, and no other one names, got 'data'"]),
    ],
)  # fmt: skip
def test_volumes_in_one_file_system(system, volumes, lines):
    """What is the file system's is said there, once; each volume is a folder of its own in it."""
    schedules = {"nightly": {"keep_days": 35}}
    document = {"snapshots": schedules, "file_systems": {"data": system}, "plugins": [EFS], "volumes": volumes}
    try:
        storage.plan_document(document)
        found = []
    except errors.SpecError as error:
        found = [str(problem) for problem in error.problems]

    assert found == lines

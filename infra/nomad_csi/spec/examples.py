"""Worked examples of the spec, for its page. Each is a whole spec that can be planned."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Example:
    """A spec, and what it shows."""

    title: str
    text: str
    yaml: str


EXAMPLES = (
    Example(
        title="Storage classes",
        text="A class is a named part of a volume. A volume that names it takes over each key that it does not have "
        "itself, mappings key by key. Here `mysql` has 6000 IOPS from its class and a size of its own.",
        yaml="""\
classes:
  fast:
    plugin_id: aws-ebs0
    ebs: {volume_type: gp3, iops: 6000, throughput_mib_per_s: 250}
    mount_options: {fs_type: ext4, mount_flags: [noatime]}
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: nomad-client}}
volumes:
  - id: mysql
    class: fast
    ebs: {availability_zone: us-east-1a, size_gib: 40}
  - id: redis
    class: fast
    ebs: {availability_zone: us-east-1b, size_gib: 10, iops: 3000}
""",
    ),
    Example(
        title="Volume sets, for `per_alloc`",
        text="`count` makes `data[0]`, `data[1]` and `data[2]`: a job's group with `per_alloc = true` gives each of "
        "its allocations the one of its index. `each` does so with something of its own for each, here a zone.",
        yaml="""\
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: nomad-client}}
volumes:
  - id: data
    plugin_id: aws-ebs0
    count: 3
    ebs: {availability_zone: us-east-1a, size_gib: 20}
  - id: shard
    plugin_id: aws-ebs0
    ebs: {size_gib: 20}
    each:
      - {ebs: {availability_zone: us-east-1a}}
      - {ebs: {availability_zone: us-east-1b}}
""",
    ),
    Example(
        title="One EFS file system for several volumes",
        text="The file system is declared once, under `file_systems`, with its mount targets, its security group and "
        "the permission to mount it; each volume is an access point of it. With `file_system_id` it exists "
        "already, and only the access point is made. A volume that is removed takes its access point with it, not the "
        "data in its folder. The file system is deleted only when it is removed from `file_systems`, which is refused "
        "while a volume of the spec is in it.",
        yaml="""\
file_systems:
  web:
    mount_targets: [{availability_zone: us-east-1a}, {availability_zone: us-east-1b}]
    clients: {security_group_ids: [sg-0123456789abcdef0]}
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: uploads
    plugin_id: aws-efs0
    efs: {file_system: web, access_point: {path: /uploads, uid: 1000, gid: 1000}}
  - id: sessions
    plugin_id: aws-efs0
    efs: {file_system: web, access_point: {path: /sessions, uid: 1000, gid: 1000, permissions: "0700"}}
  - id: reports
    plugin_id: aws-efs0
    efs:
      file_system_id: fs-0123456789abcdef0
      access_point: {path: /reports, uid: 2000, gid: 2000}
""",
    ),
    Example(
        title="Credentials of the instance role",
        text="Where no credentials are named, the driver's AWS calls are those of the client's instance role. `iam` "
        "attaches the policy that they need to a role that exists. In a container on a network of its own, the "
        "metadata service is one hop further away: its hop limit must be at least 2, or `host_network: true`.",
        yaml="""\
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    iam: {role_name: nomad-client}
    host_network: true
""",
    ),
    Example(
        title="Credentials of a workload identity",
        text="Nomad signs an identity for the task, and AWS exchanges it for the credentials of a role whose trust "
        "policy names the cluster as OIDC provider. No key is stored anywhere.",
        yaml="""\
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    credentials:
      workload_identity: {role_arn: "arn:aws:iam::123456789012:role/nomad-csi"}
""",
    ),
    Example(
        title="Credentials in a Nomad variable, or in Vault",
        text="A template that the client fills in puts the items where the driver reads them; the job file holds their "
        "names only. A variable or an item that is missing holds the task back, and an allocation's events say "
        "`Missing: nomad.var.block(...)`. Without an ACL policy every job may read the variable `nomad/jobs`, and the "
        "jobs of a plugin what is below `nomad/jobs/JOB_ID` of each; other paths need a policy for their workload "
        "identity. In Vault the secret is one of a version 2 key-value store. Credentials of the registry have the "
        "items `username` and `password`.",
        yaml="""\
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    credentials: {nomad_variable: nomad/jobs}
    image_registry: registry.example.com/mirror
    registry_credentials: {nomad_variable: nomad/jobs}
  - id: aws-ebs1
    driver: aws-ebs
    aws_region: eu-west-1
    credentials:
      vault: {path: secret/data/ebs, role: csi}
""",
    ),
    Example(
        title="One plugin for each zone",
        text="One plugin id with topology is enough for most: Nomad places a job where its volume can be attached. A "
        "plugin of one zone runs on that zone's clients alone, and its controller too.",
        yaml="""\
plugins:
  - {id: ebs-1a, driver: aws-ebs, aws_region: us-east-1, availability_zone: us-east-1a}
  - {id: ebs-1b, driver: aws-ebs, aws_region: us-east-1, availability_zone: us-east-1b}
volumes:
  - id: mysql
    plugin_id: ebs-1b
    existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1b}
""",
    ),
    Example(
        title="Where and how a plugin runs",
        text="Every setting has a default that suits most clusters. A plugin that ends is started again however often "
        "that happens; `restart` only says how fast. A controller's metrics are on the port behind that of the node "
        "instances, as one client may run both.",
        yaml="""\
plugins:
  - id: aws-ebs0
    driver: aws-ebs
    aws_region: us-east-1
    nomad_region: global
    namespace: storage
    datacenters: [dc1, dc2]
    node_pool: default
    priority: 90
    constraints:
      - {attribute: "${attr.cpu.arch}", value: amd64}
      - {attribute: "${meta.storage}", operator: is_set}
    controller:
      count: 3
      resources: {cpu_mhz: 200, memory_mib: 128, memory_max_mib: 256}
    restart: {attempts: 5, interval_s: 120, delay_s: 5}
    update: {max_parallel: 2, min_healthy_time_s: 20, healthy_deadline_s: 180}
    health_timeout_s: 90
    log_verbosity: 4
    extra_arguments: {controller: [--batching=true], node: [--reserved-volume-attachments=2]}
    extra_tags: {team: storage}
    metrics_port: 3301
    environment: {AWS_STS_REGIONAL_ENDPOINTS: regional}
""",
    ),
    Example(
        title="Without Docker",
        text="Podman takes the same images. `raw_exec` runs a binary of the client, and needs the client's "
        "`data_dir`. A controller mounts nothing, so it may run isolated under `exec`.",
        yaml="""\
plugins:
  - id: podman-ebs
    driver: aws-ebs
    aws_region: us-east-1
    task_driver: {name: podman}
  - id: own-ebs
    driver: aws-ebs
    aws_region: us-east-1
    task_driver: {name: raw_exec, command: /usr/local/bin/aws-ebs-csi-driver, client_data_dir: /opt/nomad}
    controller:
      task_driver: {name: exec, command: /usr/local/bin/aws-ebs-csi-driver}
""",
    ),
    Example(
        title="A driver of one's own",
        text="`driver` may be a description in place of a name: the same fields as a row of the catalogue. `{name}` is "
        "filled in, `${NAME}` is Nomad's. Its `config` becomes a YAML file in the task's secrets directory, and "
        "`{from_secret: ITEM}` in it an item of the credentials.",
        yaml="""\
plugins:
  - id: tank
    driver:
      name: example
      provider: csi.example.com
      image: registry.example.com/csi-example:1.4.2
      version: 1.4.2
      capabilities: [{access_mode: single-node-writer}, {access_mode: multi-node-multi-writer}]
      config_file: {name: driver.yaml, required: [server]}
      creates: true
      roles:
        controller:
          job_type: service
          arguments: ["--endpoint=${CSI_ENDPOINT}", "--config={config_file}", --mode=controller, "--v={log_verbosity}"]
        node:
          job_type: system
          arguments: ["--endpoint=${CSI_ENDPOINT}", "--config={config_file}", --mode=node, "--node=${node.unique.id}"]
          privileged: true
          needs: [docker with allow_privileged = true]
    config:
      server: nas.example.com
      login: {user: csi, password: {from_secret: password}}
    credentials: {nomad_variable: nomad/jobs}
volumes:
  - id: scratch
    plugin_id: tank
    create: {capacity_min_gib: 10}
""",
    ),
)

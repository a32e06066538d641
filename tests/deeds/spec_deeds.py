"""
What a spec becomes: its plan, its files, and what is wrong with it, for each of many changes to one spec.

And the way back: what the linter and the import say of the files, with each line missing or changed.
"""

import copy
import dataclasses
import difflib
import json
import re

import yaml

from nomad_csi import errors
from nomad_csi.hcl import files as parsed
from nomad_csi.lint import judge
from nomad_csi.migration import adopt
from nomad_csi.plan import storage
from nomad_csi.render import files
from tests.deeds import deeds
from tests.deeds.deeds import Case

SPEC = yaml.safe_load("""
owner: shop/prod
snapshots: {nightly: {keep: 7}, hourly: {every_hours: 4, at: "01:30", keep_days: 3}}
file_systems:
  shared: {mount_targets: [{availability_zone: us-east-1a}], clients: {cidr_blocks: [10.0.0.0/16]}, iam: {role_name: mounts}}
plugins:
- {id: ebs, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: nodes, create_volumes: true}, namespace: storage}
- {id: efs, driver: aws-efs, aws_region: us-east-1}
- {id: nfs, driver: csi-driver-nfs, controller: {count: 1}}
- id: own
  driver:
    name: acme
    provider: acme.csi.example
    image: registry.example/acme:v1
    version: v1
    roles:
      monolith: {job_type: system, arguments: ["--endpoint=${CSI_ENDPOINT}", "--pool={pool}"], privileged: true}
    capabilities: [{access_mode: single-node-writer, attachment_mode: block-device}]
    settings: {pool: {pattern: "[a-z]+", text: a pool}}
  config: {pool: fast}
volumes:
- id: mysql
  namespace: prod
  plugin_id: ebs
  ebs: {availability_zone: us-east-1a, size_gib: 40}
  snapshots: [nightly]
- {id: web, plugin_id: efs, efs: {file_system: shared, access_point: {path: /web, uid: 1000, gid: 1001}}, mount_options: {mount_flags: [iam]}}
- id: home
  plugin_id: efs
  efs: {mount_targets: [{availability_zone: us-east-1b}], clients: {security_group_ids: [sg-0123456789abcdef0]}, access_point: {path: /home, uid: 1, gid: 2}}
- id: made
  plugin_id: ebs
  create: {capacity_min_gib: 5, availability_zone: us-east-1a}
  parameters: {type: gp3}
- {id: old, plugin_id: ebs, existing: {external_id: vol-0123456789abcdef0, availability_zone: us-east-1c}}
- {id: share, plugin_id: nfs, existing: {external_id: "nas#pool#a"}, context: {server: nas, share: /pool}}
- id: box
  plugin_id: own
  existing: {external_id: b-1}
  capabilities: [{access_mode: single-node-writer, attachment_mode: block-device}]
  secrets: {key: canary-61}
""")

CHANGES = """
owner: null | other/stack | "no slash"
out: jobs
protect: false
classes: {fast: {mount_options: {fs_type: xfs}}}
snapshots.nightly.keep: null | 0 | 1001
snapshots.nightly.keep_days: 5
snapshots.hourly.every_hours: 5 | 24
snapshots.hourly.at: "25:00"
file_systems.shared.protect: false
file_systems.shared.encrypted: false
file_systems.shared.throughput_mode: elastic
file_systems.shared.performance_mode: maxIO
file_systems.shared.snapshots: [nightly] | [weekly]
file_systems.shared.mount_targets: [] | [{availability_zone: us-east-1a}, {availability_zone: us-east-1a}]
file_systems.shared.clients: {} | {cidr_blocks: [0.0.0.0/0]}
file_systems.shared.iam.required: true
file_systems.shared.iam.root_access: true
file_systems.shared.iam: null
file_systems.shared.moved_from: former
file_systems.shared.kms_key_arn: "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012" | nokey
plugins.0.id: other | "a b"
plugins.0.driver: aws-efs | nodriver
plugins.0.aws_region: null | us-west-2 | cn-north-1
plugins.0.nomad_region: eu
plugins.0.namespace: default
plugins.0.datacenters: [dc1, dc2] | []
plugins.0.node_pool: pool
plugins.0.job_ids: {controller: c, node: n} | {controller: x, node: x} | {monolith: m}
plugins.0.availability_zone: us-east-1a
plugins.0.constraints: [{attribute: "${attr.cpu.arch}", operator: "=", value: amd64}] | [{attribute: a, operator: between, value: x}]
plugins.0.priority: 1 | 101
plugins.0.config: {a: b}
plugins.0.credentials: {nomad_variable: nomad/jobs/x} | {vault: {path: kv/data/x, role: r}} | {workload_identity: {role_arn: "arn:aws:iam::123456789012:role/r"}} | {}
plugins.0.iam: null | {role_name: nodes} | {role_name: nodes, create_volumes: true, volume_ids: [vol-0123456789abcdef1]} | {role_name: nodes, create_volumes: true, kms_key_arns: ["arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"]}
plugins.0.controller: {count: 1} | {count: 0} | {count: 9}
plugins.0.controller.task_driver: {name: podman} | {name: x}
plugins.0.controller.resources: {cpu_mhz: 100, memory_mib: 128, memory_max_mib: 256}
plugins.0.node.resources: {cpu_mhz: 50, memory_mib: 64}
plugins.0.monolith: {count: 1}
plugins.0.task_driver: {name: podman} | {name: exec} | {name: raw_exec, command: /opt/driver}
plugins.0.host_network: true | false
plugins.0.image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.50.0" | "x/y:latest" | "x/y"
plugins.0.arguments_checked: false
plugins.0.image_registry: "registry.example:5000/mirror"
plugins.0.image_digest: "sha256:0123456789012345678901234567890123456789012345678901234567890123"
plugins.0.registry_credentials: {nomad_variable: nomad/jobs/r} | {vault: {path: kv/r}}
plugins.0.extra_arguments: {node: ["--reserved-volume-attachments=2"]} | {node: ["--volume-attach-limit=5", "--reserved-volume-attachments=2"]} | {controller: ["--nosuchflag=1"]} | {node: ["--endpoint=x"]}
plugins.0.extra_tags: {team: db} | {"nomad-csi:owner": x}
plugins.0.metrics_port: 3300 | 0
plugins.0.environment: {A: b} | {AWS_REGION: x}
plugins.0.resources: {cpu_mhz: 300, memory_mib: 300} | {cpu_mhz: 0} | {memory_mib: 300, memory_max_mib: 200}
plugins.0.restart: {attempts: 5, interval_s: 60, delay_s: 20} | {attempts: 9, interval_s: 10, delay_s: 5}
plugins.0.update: {max_parallel: 2} | {auto_revert: true, healthy_deadline_s: 300, min_healthy_time_s: 20} | {healthy_deadline_s: 5, min_healthy_time_s: 20}
plugins.0.log_verbosity: 5 | 11
plugins.0.log_level: debug
plugins.0.health_timeout_s: 600 | 4
plugins.0.verify: {evidence: csi} | {evidence: csi, on_nodes: {}} | {on_nodes: {}} | {evidence: csi, on_nodes: {image: "x/y:1"}} | {evidence: csi, on_nodes: {image: "x/y:1", state_dir: /s}} | {timeout_s: 0} | {stable_s: -1}
plugins.0.verify.min_healthy_percent: 50 | 0
plugins.0.verify.min_healthy_per_zone: 1
plugins.0.adopt: true
plugins.0: {id: ebs, driver: aws-ebs, aws_region: us-east-1, arguments_checked: false, extra_arguments: {controller: ["--kubeconfig=x", "--nosuch=1", "-x", "bare"]}}
plugins.0: {id: ebs, driver: aws-ebs, aws_region: us-east-1, extra_arguments: {controller: ["--kubeconfig=x", "--nosuch=1", "-v=3", "bare", "--endpoint=x"]}}
plugins.0: {id: ebs, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: r, create_volumes: true}, credentials: {nomad_variable: nomad/jobs/x}}
plugins.0: {id: ebs, driver: aws-ebs, aws_region: us-east-1, credentials: {nomad_variable: nomad/jobs/x}}
plugins.0: {id: ebs, driver: aws-ebs, aws_region: us-east-1, credentials: {workload_identity: {role_arn: "arn:aws:iam::123456789012:role/r"}}}
plugins.0: {id: ebs, driver: gce-pd}
plugins.0: {id: ebs, driver: digitalocean, credentials: {vault: {path: kv/do}}}
plugins.0: {id: ebs, driver: digitalocean, credentials: {workload_identity: {role_arn: "arn:aws:iam::123456789012:role/r"}}}
plugins.1: {id: ebs, driver: aws-efs, aws_region: us-east-1}
plugins.1: {id: efs, driver: aws-efs, aws_region: us-east-1, credentials: {nomad_variable: nomad/jobs/x}}
plugins.1.controller: {count: 1}
plugins.1.host_network: false
plugins.1.namespace: storage
plugins.1.iam: {role_name: nodes}
plugins.1.metrics_port: 3300
plugins.2.controller: {} | {count: 2}
plugins.2.iam: {role_name: nodes}
plugins.2.task_driver: {name: podman}
plugins.3.config: {} | {pool: "NO"} | {pool: fast, more: x}
plugins.3.driver.roles.monolith.network_mode: host
plugins.3.driver.roles.monolith.job_type: service
plugins.3.driver.roles.monolith.secret_environment: {PASSWORD: password}
plugins.3.driver.roles.monolith.secret_files: {key.pem: pem}
plugins.3.driver.roles.monolith.binds: ["/dev:/dev"]
plugins.3.driver.roles.monolith.kill_timeout_s: 30
plugins.3.driver.roles.monolith.count_limit: 1
plugins.3.driver.roles.monolith.needs: [a kernel module]
plugins.3.driver.external_id: {pattern: "b-\\\\d+", allowed: a box}
plugins.3.driver.context: {required: [server], values: {mode: [a, b]}}
plugins.3.driver.minimum_nomad: "9.9.9"
plugins.3.driver.topology_key: example/zone
plugins.3.driver.fs_types: [ext4]
plugins.3.driver.capabilities: [{access_mode: single-node-writer, attachment_mode: file-system}]
volumes.0.id: web | "a b" | ""
volumes.0.namespace: default | "*"
volumes.0.name: other | ""
volumes.0.plugin_id: efs | none
volumes.0.ebs.availability_zone: us-west-2a | zone
volumes.0.ebs.size_gib: 0 | 65536 | 65537
volumes.0.ebs.volume_type: io2 | io1 | st1 | gp2 | x
volumes.0.ebs.iops: 3000 | 2999 | 99999 | 16001
volumes.0.ebs.throughput_mib_per_s: 125 | 124 | 751 | 5000
volumes.0.ebs.encrypted: false
volumes.0.ebs.kms_key_arn: "arn:aws:kms:us-east-1:123456789012:key/12345678-1234-1234-1234-123456789012"
volumes.0.ebs.tags: {a: b} | {"nomad-csi:volume": x}
volumes.0.capabilities: [{access_mode: multi-node-multi-writer, attachment_mode: file-system}] | [{access_mode: single-node-writer, attachment_mode: file-system}, {access_mode: single-node-writer, attachment_mode: file-system}] | [{access_mode: multi-node-multi-writer, attachment_mode: block-device}]
volumes.0.mount_options: {fs_type: xfs, mount_flags: [noatime]} | {fs_type: zfs} | {mount_flags: ["password=x"]}
volumes.0.topologies: [{a: b}]
volumes.0.context: {partition: "1"} | {x: y}
volumes.0.parameters: {type: gp3}
volumes.0.secrets: {key: x} | {"": x}
volumes.0.snapshots: [] | [nightly, hourly] | [nightly, nightly] | [none]
volumes.0.shares_storage: true
volumes.0.protect: false
volumes.0.moved_from: former | prod/mysql | storage/former
volumes.0.adopt: true
volumes.1.efs.access_point.path: web | / | /web/
volumes.1.efs.access_point.permissions: "0700" | "0999"
volumes.1.efs.access_point.uid: -1
volumes.1.efs.access_point: null
volumes.1.efs.file_system: none
volumes.1.efs.file_system_id: fs-0123456789abcdef0
volumes.1.efs.iam: {role_name: mounts} | {role_name: mounts, required: true}
volumes.1.efs.tags: {a: b}
volumes.1.snapshots: [nightly]
volumes.1.mount_options: {mount_flags: [iam, tls]} | {mount_flags: [crossaccount]} | {mount_flags: [notls]}
volumes.1.context: {encryptInTransit: "false"} | {x: "1"}
volumes.2.efs: {mount_targets: [{availability_zone: us-east-1b, subnet_id: subnet-0123456789abcdef0}], clients: {cidr_blocks: [10.0.0.0/8]}}
volumes.2.efs.iam: {role_name: mounts, required: true}
volumes.2.snapshots: [hourly]
volumes.2.efs.access_point.path: /web
volumes.3.create.capacity_min_gib: null | 9 | 100000
volumes.3.create.capacity_max_gib: 4 | 9
volumes.3.create.capacity_min_bytes: 1000
volumes.3.create.capacity_max_bytes: 9000000000
volumes.3.create.availability_zone: null | us-west-2a
volumes.3.create.clone_id: vol-x
volumes.3.create.snapshot_id: snap-0123456789abcdef0
volumes.3.create.on_destroy: delete
volumes.3.create.deletion: {aws_region: us-east-1} | {endpoint: /run/csi.sock} | {endpoint: /run/csi.sock, accept_unguarded: true, skip_final_snapshot: true} | {}
volumes.3.parameters: {type: none} | {nosuch: x} | {iops: "5"}
volumes.3.moved_from: former
volumes.3.snapshots: [nightly]
volumes.3.plugin_id: efs | own
volumes.4.existing.external_id: vol-1 | fs-0123456789abcdef0 | " "
volumes.4.existing.availability_zone: null | us-west-2b
volumes.4.moved_from: former
volumes.5.existing.external_id: x | "nas#pool#b"
volumes.5.context: {} | {server: nas} | {server: nas, share: /pool, mountPermissions: "0777"} | {SERVER: nas, share: /pool}
volumes.6.capabilities: [] | [{access_mode: single-node-writer, attachment_mode: file-system}]
volumes.6.secrets: {}
volumes.6.existing.external_id: vol-0123456789abcdef0
volumes.6.existing.availability_zone: us-east-1a
"""


def _lines():
    for line in CHANGES.strip().splitlines():
        path, _, values = line.partition(": ")
        for text in values.split(" | "):
            yield path, text


def _changed(path, value):
    found = copy.deepcopy(SPEC)
    *before, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = found
    for part in before:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return found


def _planned(document):
    """Return the plan of *document* flat, and its files; or what is wrong with it."""
    try:
        plan = storage.plan_document(document)
    except errors.SpecError as error:
        return str(error), {}
    ids = {item.key: f"id-of-{item.key}" for item in plan.volumes}
    return paths(plan), dict(files.render_plan(plan, ids))


def plain(value):
    """Return *value* as plain data."""
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def paths(value):
    """Return the values in *value*, made plain, by their paths."""
    return dict(deeds.flat(plain(value), ".{}"))


def _differences(was, now):
    """Return what differs between two plans with their files, as text."""
    (old, old_files), (new, new_files) = was, now
    if isinstance(new, str):
        return f"! {new}"
    plan = deeds.changes(old, new)
    texts = {
        name: _diff(old_files.get(name, ""), new_files.get(name, ""))
        for name in sorted(old_files.keys() | new_files.keys())
        if old_files.get(name) != new_files.get(name)
    }
    return json.dumps([plan, texts], sort_keys=True, default=str)


def _diff(old, new):
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return [line.replace("  ", " ") for line in lines if not re.match("---|\\+\\+\\+|@@|.# Rendered by", line)]


def _spec(agent, _context):
    base = _planned(SPEC)
    assert base[1], base[0]
    for path, text in _lines():
        found = _differences(base, _planned(_changed(path, yaml.safe_load(text))))
        agent.messages.append(f"{path}: {text} -> {short(found)}")
    return base


def short(text):
    """Return *text*, or of a long one its end and how it begins: all of it counts."""
    digest = _digest(text)
    return text if len(text) <= MOST else f"{text[:MOST]}... {digest}"


def _digest(text):
    return f"({len(text)} characters, {sum(ord(each) * (at + 7) for at, each in enumerate(text)) % 1_000_003})"


MOST = 420
VALUES = re.compile(r'(?<== )(".*"|\d+|true|false)')


APP = "jobs/app.nomad.hcl"
OTHERS = {"file-system": "block-device", "single-node-writer": "multi-node-multi-writer", "system": "service"}
OTHERS |= {
    "service": "system",
    "node": "controller",
    "controller": "node",
    "multi-node-multi-writer": "single-node-reader-only",
}
CONSUMER = """job "app" {
  datacenters = ["dc1"]
  namespace   = "prod"
  group "app" {
    count = 1
    volume "data" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      read_only       = false
      per_alloc       = false
      mount_options {
        fs_type     = "ext4"
        mount_flags = ["noatime"]
      }
    }
    volume "pages" {
      type            = "csi"
      source          = "web"
      access_mode     = "multi-node-multi-writer"
      attachment_mode = "file-system"
    }
    task "app" {
      driver = "docker"
      volume_mount {
        volume      = "data"
        destination = "/data"
        read_only   = false
      }
      config {
        image = "x/y:1"
      }
    }
  }
}
"""


def _edits(text):
    """Yield *text* with each of its settings missing, and with each changed: the number of the line, what, the text."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if "=" in line and not line.lstrip().startswith(("#", "//")):
            yield at + 1, "missing", "\n".join([*lines[:at], *lines[at + 1 :]])
        if found := VALUES.search(line):
            others = {"true": ["false"], "false": ["true"]}.get(found[0], ['"x"'] if found[0][0] == '"' else ["7"])
            known = OTHERS.get(found[0].strip('"'))
            for other in others + ([f'"{known}"'] if known else []):
                yield at + 1, other, "\n".join([*lines[:at], line.replace(found[0], other, 1), *lines[at + 1 :]])


def _judged(texts):
    """Return what the linter says of files, and what the import makes of them."""
    try:
        read = [parsed.parse(text, name) for name, text in texts.items()]
    except errors.NomadCsiError as error:
        return [f"! {error}"], f"! {error}"
    said = [f"{item.code} {item.subject}: {item.found}" for item in judge.judge(read)]
    try:
        found = adopt.adopt(read)
    except errors.NomadCsiError as error:
        return said, f"! {error}"
    remarks = [f"{each.kind} {each.file}:{each.line} {each.text}" for each in found.remarks]
    return said, [found.document, remarks]


def _beside(name, texts, text):
    """Return the files that are read with the file *name*: for a plugin's its other jobs, for an app's all volumes."""
    if name == APP:
        return {each: texts[each] for each in texts if each.endswith(".volume.hcl")} | {name: text}
    if name.endswith(".volume.hcl"):
        return {name: text}
    plugin = name.split(".")[0].rpartition("-")[0]
    return {each: texts[each] for each in texts if plugin in each and each.endswith(".nomad.hcl")}


def _read_back(agent, _context):
    """Read each file with each of its lines missing or changed."""
    _, texts = _planned(SPEC)
    whole = _judged(texts)
    for name, text in (texts | {APP: CONSUMER}).items():
        alone = _beside(name, texts, text)
        before = _judged(alone)
        for number, what, edited in _edits(text):
            lint, made = _judged(alone | {name: edited})
            new, gone = sorted(set(lint) - set(before[0])), sorted(set(before[0]) - set(lint))
            changes = deeds.changes(paths(before[1]), {"": made} if isinstance(made, str) else paths(made))
            agent.messages.append(f"{name}:{number} {what} -> {short(json.dumps([new, gone, changes], default=str))}")
    return whole


CASES = (Case("specs", _spec), Case("files read back", _read_back))

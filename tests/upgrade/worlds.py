"""
The world that a recording was made in, built again in a sandbox: the same storage, jobs, registrations and owner records.

AWS (moto) gives its own ids, and so do the plugins; the recorded state gets them instead of the old ones. Emulated are
AWS, Nomad and the plugins; the engine is either. What stands in the world before the first step of the release under
test was put there by the recordings alone, never by that release's own resources.
"""

import itertools
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from nomad_csi.nomad import jobs, plugins, variables
from nomad_csi_sandbox.engine import plugins as providers
from tests.e2e import sandboxes
from tests.upgrade import recorded

RECORDINGS = Path(__file__).parent / "e27e896"
STEP_S = 120.0
PAGES = tuple(f"nomad-csi/volumes/{digit:x}" for digit in range(16))
START = """
import pathlib, sys
from nomad_csi_sandbox.session import engine, session

begun = session.Session(pathlib.Path(sys.argv[1]), say=lambda line: None)
with begun.place.locked():
    record = begun._record(begun.plan(), {"engine": sys.argv[2], "nomad": "emulator"})
    begun._start(record)
    begun._write_config(record)
if sys.argv[2] == "real":
    engine._make_stack(begun.place, begun.environment())
"""
"""Starts all that `nomad-csi sandbox up` starts, and has nothing made."""

TAKEN_OVER = ("ID", "Namespace", "Name", "PluginID", "RequestedCapabilities", "MountOptions", "Parameters")
"""Fields of a recorded volume that are sent as they are, to register or to create it."""


@dataclass
class World:
    """A sandbox with what the recording *folder* has, and the state of its stack."""

    folder: Path
    sandbox: sandboxes.Sandbox
    state: dict
    """The deployment, with this world's ids."""

    ids: recorded.Substitution = field(default_factory=recorded.Substitution)

    def now(self, token):
        """Return what stands here for the id *token* of the recording."""
        return self.ids.apply(token)

    def storage(self):
        """Return the ids of all storage in AWS, by kind."""
        efs = self.sandbox.aws("efs")
        return {
            "volumes": sorted(item["VolumeId"] for item in self.volumes()),
            "file systems": sorted(item["FileSystemId"] for item in efs.describe_file_systems()["FileSystems"]),
            "access points": sorted(item["AccessPointId"] for item in efs.describe_access_points()["AccessPoints"]),
        }

    def volumes(self):
        """Return the EBS volumes, but the system disks of the clients."""
        found = self.sandbox.aws("ec2").describe_volumes()["Volumes"]
        return [item for item in found if not item["Attachments"] or item.get("Tags")]

    def registrations(self):
        """Return ``external id, plugin id, create index`` of each registration, by ``namespace/id``."""
        with self.sandbox.nomad() as client:
            listed = client.request("GET", "/v1/volumes", query={"type": "csi", "namespace": "*"}).data
            return {
                f"{item['Namespace']}/{item['ID']}": (item["ExternalID"], item["PluginID"], item["CreateIndex"])
                for item in listed
            }

    def tasks(self):
        """Return the ids of the allocations that run, by job: another id is another task."""
        with self.sandbox.nomad() as client:
            return {
                job["ID"]: sorted(
                    found.alloc_id
                    for found in jobs.allocations(client, "default", job["ID"])
                    if found.client_status == "running"
                )
                for job in client.request("GET", "/v1/jobs").data
            }

    def tags(self):
        """Return the tags of all storage in AWS, by its id."""
        efs = self.sandbox.aws("efs")
        found = {item["VolumeId"]: item.get("Tags", []) for item in self.volumes()}
        found |= {item["FileSystemId"]: item["Tags"] for item in efs.describe_file_systems()["FileSystems"]}
        found |= {item["AccessPointId"]: item["Tags"] for item in efs.describe_access_points()["AccessPoints"]}
        return {key: {tag["Key"]: tag["Value"] for tag in tags} for key, tags in found.items()}

    def variables(self):
        """Return the items of each page of owner records, by ``namespace path``."""
        with self.sandbox.nomad() as client:
            pages = {
                f"{namespace} {path}": variables.get(client, namespace, path)
                for namespace, path in itertools.product(("default", "prod"), PAGES)
            }
        return {name: dict(page.items) for name, page in pages.items() if page}


def build(name, sandbox, *, engine, lost=()):
    """
    Build the world of the recording *name* in *sandbox*, whose engine is ``real`` or not, and return it with its state.

    *lost* are volumes, by ``namespace/id``, that are neither registered nor owned in it. The state is not imported yet.
    """
    folder = RECORDINGS / name
    _write_project(folder, sandbox)
    subprocess.run([sys.executable, "-c", START, sandbox.project, engine], env=sandbox.environment, check=True)
    state = recorded.read(folder, "state.pulumi.json" if engine == "real" else "state.emulator.json")
    world = World(folder=folder, sandbox=sandbox, state=state)
    world.ids.texts = {recorded.DATA_DIR: str(sandbox.data_dir), recorded.PROJECT: str(sandbox.project)}
    nomad = recorded.read(folder, "nomad.json")
    _find_network(world)
    _make_by_hand(world, nomad)
    _make_in_aws(world)
    _write_project(folder, sandbox, world.ids)
    with sandbox.nomad() as client:
        for namespace in nomad["namespaces"]:
            client.request("POST", f"/v1/namespace/{namespace}", body={"Name": namespace})
        indexes = _run_jobs(world, client, nomad)
        _register(world, client, [item for item in nomad["volumes"] if _key(item) not in lost])
        _write_variables(client, nomad, lost)
    world.state = _with_indexes(world.ids.apply(world.state), indexes)
    _set_mark(world, sandbox.variables()["NOMAD_CSI_SANDBOX"])
    _write_files(world)
    return world


def resources(state):
    """Return the resources of a state."""
    return state["deployment"]["resources"]


def _key(volume):
    return f"{volume['Namespace']}/{volume['ID']}"


def _write_project(folder, sandbox, ids=None):
    """Give the project the recorded config, and the recorded program where there is one."""
    config = yaml.safe_load((folder / "Pulumi.sandbox.yaml").read_text(encoding="utf-8"))
    known = ids or recorded.Substitution(texts={recorded.DATA_DIR: str(sandbox.data_dir)})
    sandbox.config.write_text(yaml.safe_dump(known.apply(config), sort_keys=False), encoding="utf-8")
    if (folder / "__main__.py").exists():
        shutil.copy(folder / "__main__.py", sandbox.project / "infra/__main__.py")


# --- AWS
def _find_network(world):
    """Have the default subnets, and their network, stand for those of the recorded mount targets."""
    found = world.sandbox.aws("ec2").describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])
    by_zone = {item["AvailabilityZone"]: item for item in found["Subnets"]}
    for item in resources(world.state):
        if item["type"] == "aws:efs/mountTarget:MountTarget":
            here = by_zone[item["outputs"]["availabilityZoneName"]]
            world.ids.tokens[item["outputs"]["subnetId"]] = here["SubnetId"]
    for item in resources(world.state):
        if item["type"] == "aws:ec2/securityGroup:SecurityGroup":
            world.ids.tokens[item["outputs"]["vpcId"]] = found["Subnets"][0]["VpcId"]


def _make_by_hand(world, nomad):
    """Make the EBS volumes that neither the engine nor a plugin had made."""
    made = {item["id"] for item in resources(world.state) if item["type"].startswith("aws:")}
    made |= {item["ExternalID"] for item in nomad["volumes"] if item["RequestedCapacityMin"]}
    for old, found in recorded.read(world.folder, "aws.json").items():
        if old.startswith("vol-") and old not in made:
            tags = [{"Key": key, "Value": value} for key, value in found["Tags"].items()]
            reply = world.sandbox.aws("ec2").create_volume(
                AvailabilityZone=found["AvailabilityZone"],
                Size=found["Size"],
                Encrypted=found["Encrypted"],
                TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
            )
            world.ids.tokens[old] = reply["VolumeId"]


def _make_in_aws(world):
    """Have the provider make each AWS resource of the state, with the inputs that it was made with."""
    environment = world.sandbox.variables()
    port = int(environment["PULUMI_DEBUG_PROVIDERS"].partition(":")[2])
    provider = providers.Plugin(port, None)
    provider.configure("urn", "id", {"region": environment["AWS_REGION"]})
    for item in resources(world.state):
        if item["type"].startswith("aws:"):
            target = providers.Target(urn=item["urn"], type=item["type"], name=item["urn"].rpartition("::")[2])
            inputs = {name: value for name, value in item["inputs"].items() if not name.startswith("__")}
            made = provider.create(target, world.ids.apply(inputs), preview=False, timeout_s=STEP_S)
            assert not made.reasons, made
            world.ids.learn({"id": item["id"], **item["outputs"]}, {"id": made.identity, **made.outputs})
            item["id"], item["outputs"] = made.identity, made.outputs
    provider.close()


# --- Nomad
def _run_jobs(world, client, nomad):
    """Run the plugin jobs with the ``meta`` that they had; return the index of each once all instances are healthy."""
    meta = {item["ID"]: item["Meta"] for item in nomad["jobs"]}
    kept = [item for item in resources(world.state) if item["type"] == "nomad-csi:index:PluginJob"]
    for item in kept:
        source = world.ids.apply(item["inputs"]["hcl"])
        document = jobs.parse(client, source) | {"Meta": meta[item["inputs"]["jobId"]]}
        jobs.register(client, document, source=source, enforce_index=None)
    for plugin_id, roles in _instances(client, nomad).items():
        sandboxes.until(lambda wanted=roles, plugin=plugin_id: _healthy(client, plugin) == wanted)
    return {
        item["inputs"]["jobId"]: jobs.get(client, "default", item["inputs"]["jobId"]).job_modify_index for item in kept
    }


def _instances(client, nomad):
    """Return how many controllers and nodes of each plugin there are to be."""
    clients = len(client.request("GET", "/v1/nodes").data)
    found = {}
    for item in nomad["jobs"]:
        [group] = item["TaskGroups"]
        plugin = group["Tasks"][0]["CSIPluginConfig"]
        counts = found.setdefault(plugin["ID"], {"controller": 0, "node": 0})
        counts[plugin["Type"]] = clients if item["Type"] == "system" else group["Count"]
    return found


def _healthy(client, plugin_id):
    found = plugins.get(client, plugin_id)
    counted = {"controller": found.controllers, "node": found.nodes} if found else {}
    return {role: sum(each.healthy for each in instances) for role, instances in counted.items()}


def _register(world, client, volumes):
    """Have Nomad register what was registered, and the plugins create what they had created, by the old names."""
    for item in volumes:
        sent = {name: item[name] for name in TAKEN_OVER}
        sent["RequestedTopologies"] = item["RequestedTopologies"]
        path, query = f"/v1/volume/csi/{item['ID']}", {"namespace": item["Namespace"]}
        if item["RequestedCapacityMin"]:
            sent |= {name: item[name] for name in ("RequestedCapacityMin", "RequestedCapacityMax")}
            [made] = client.request("PUT", f"{path}/create", query=query, body={"Volumes": [sent]}).data["Volumes"]
            world.ids.tokens |= {item["ExternalID"]: made["ExternalID"]}
            continue
        sent |= {"ExternalID": world.now(item["ExternalID"]), "Context": item["Context"]}
        client.request("PUT", path, query=query, body={"Volumes": [sent]})


def _write_variables(client, nomad, lost):
    """Write the owner records and the cluster's id as they were, without those of *lost* volumes."""
    for namespace, paths in nomad["variables"].items():
        gone = {key.partition("/")[2] for key in lost if key.partition("/")[0] == namespace}
        for path, items in paths.items():
            kept = {name: " ".join(word for word in text.split() if word not in gone) for name, text in items.items()}
            if items := {name: text for name, text in kept.items() if text}:
                body = {"Namespace": namespace, "Path": path, "Items": items}
                client.request("PUT", f"/v1/var/{path}", query={"namespace": namespace}, body=body)


# --- the state
def _with_indexes(state, indexes):
    """Return *state* with the indexes of the jobs as they run here."""
    for item in resources(state):
        if item["type"] == "nomad-csi:index:PluginJob":
            item["outputs"]["jobModifyIndex"] = indexes[item["inputs"]["jobId"]]
        if item["type"] == "nomad-csi:index:PluginHealth":
            for properties, job_id in itertools.product((item["inputs"], item["outputs"]), item["inputs"]["jobs"]):
                properties["jobs"][job_id] = str(indexes[job_id])
    return state


def _set_mark(world, mark):
    """Have the state say that it was made in this sandbox."""
    for item in resources(world.state):
        if "sandbox" in item.get("outputs", {}):
            item["outputs"]["sandbox"] = mark


def _write_files(world):
    for item in resources(world.state):
        if item["type"] == "nomad-csi:index:RenderedFile":
            path = world.sandbox.project / item["inputs"]["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(item["outputs"]["content"], encoding="utf-8")

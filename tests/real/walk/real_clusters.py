"""
Clusters of real Nomad agents, in the place of the emulated ones of the walks.

The drivers are emulated; AWS is the one of the walks.
"""

import contextlib

import boto3

from nomad_csi import errors, nomad
from nomad_csi.nomad import cluster_identity, variables, volumes
from tests.contract import agents, conftest
from tests.walk import cloud, clusters

SOCKET = "--endpoint=${CSI_ENDPOINT}"
PLUGINS = (
    ("plugin-efs-nodes", clusters.EFS, "node", ["--driver", "aws-efs", SOCKET], "system"),
    ("plugin-ebs-nodes", clusters.EBS, "node", ["--driver", "aws-ebs", "node", SOCKET], "system"),
    ("plugin-ebs-controller", clusters.EBS, "controller", ["--driver", "aws-ebs", "controller", SOCKET], "service"),
)
USER = "user-of-{}"


def _instance(environment):
    """Return the id of an instance that the client stands for: EBS volumes are attached to it."""
    ec2 = boto3.client("ec2", agents.REGION, endpoint_url=environment["AWS_ENDPOINT_URL"], **cloud.CREDENTIALS)
    place = {"AvailabilityZone": agents.ZONE}
    return ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, Placement=place)["Instances"][0]["InstanceId"]


class RealCluster:
    """One real agent with one client, on which the plugins of both drivers run; as `clusters.Cluster`."""

    def __init__(self, environment) -> None:
        with contextlib.ExitStack() as made:
            tasks = agents.task_environment(environment["AWS_ENDPOINT_URL"], _instance(environment))
            self._agent = made.enter_context(agents.started(agents.Real, environment | tasks))
            self.url = self._agent.url
            self._client = made.enter_context(nomad.Nomad(nomad.Connection(address=self.url)))
            for job_id, plugin_id, role, words, kind in PLUGINS:
                self._agent.run(conftest.write_plugin(self._agent, job_id, plugin_id, role, words, kind=kind))
            self._wait_until_healthy()
            self._users: set[str] = set()
            self._ends = made.pop_all()

    def _wait_until_healthy(self):
        """Wait until Nomad has the controllers and the nodes of both plugins as healthy."""
        for plugin_id, healthy in ((clusters.EFS, (0, 1)), (clusters.EBS, (1, 1))):
            self._agent.until(
                lambda path=f"/v1/plugin/csi/{plugin_id}": self._agent.call("GET", path)[1],
                lambda found, wanted=healthy: (
                    isinstance(found, dict) and (found["ControllersHealthy"], found["NodesHealthy"]) == wanted
                ),
            )

    def empty(self):
        """Forget all volumes and variables."""
        for name in sorted(self._users):
            self.claim(("default", name), is_claimed=False)
        for key in self.registered():
            self.deregister(key)
        self.purge("")

    def registered(self):
        """Return the external id of every volume by namespace and id."""
        return {(item.namespace, item.volume_id): item.external_id for item in volumes.list_volumes(self._client, "*")}

    def identity(self):
        """Return the identity of the cluster; empty where it has none."""
        found = variables.get(self._client, "default", cluster_identity.PATH)
        return found.items[cluster_identity.ITEM] if found else ""

    def purge(self, folder):
        """Remove the variables whose path begins with *folder*."""
        for item in self._agent.get(f"/v1/vars?namespace=*&prefix={folder}"):
            status, text, _ = self._agent.call("DELETE", f"/v1/var/{item['Path']}?namespace={item['Namespace']}")
            assert status < 300, text

    def write(self, path, items):
        """Write a variable as an operator does."""
        variables.put(self._client, "default", path, items, index=variables.NEW)

    def snapshot(self):
        """Return a snapshot of the Raft state, as ``nomad operator snapshot save`` writes it."""
        return self._agent.pool.request("GET", f"{self.url}/v1/operator/snapshot", timeout=60.0).data

    def restore(self, saved):
        """Restore a snapshot as ``nomad operator snapshot restore`` does, and return it."""
        reply = self._agent.pool.request("PUT", f"{self.url}/v1/operator/snapshot", body=saved, timeout=60.0)
        assert reply.status == 200, reply.data
        self._wait_until_healthy()
        return saved

    def deregister(self, key):
        """Deregister a volume as another tool does; one whose claim ends is waited for."""

        def is_gone():
            try:
                volumes.deregister(self._client, *key)
            except errors.NomadApiError as error:
                if "in use" not in str(error):
                    raise
                return False
            return True

        self._agent.until(is_gone, bool)

    def claim(self, key, *, is_claimed):
        """Have a job claim a volume, or stop it and wait until Nomad has released the claim."""
        name = key[1]
        if is_claimed:
            mode = volumes.get(self._client, *key).capabilities[0].access_mode
            self._agent.run(conftest.write_consumer(USER.format(name), name, mode))
            self._agent.until_status(USER.format(name), "running")
            self._users.add(name)
            return
        self._agent.call("DELETE", f"/v1/job/{USER.format(name)}?purge=true")
        self._agent.until(lambda: volumes.get(self._client, *key), lambda found: found is None or not found.claims)
        self._users.discard(name)

    def close(self):
        self._ends.close()

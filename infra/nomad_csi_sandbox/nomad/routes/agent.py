"""Agent, status, regions, nodes, node pools, namespaces, system. Part of the Nomad emulator."""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, refusals
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.clients import node_filter, nodes

Json = dict[str, Any]


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("agent", __name__)
    known = cluster.state

    @routes.get("/v1/agent/health")
    def health() -> Json:
        ok = {"message": "ok", "ok": True}
        return {"client": ok, "server": ok}

    @routes.get("/v1/agent/self")
    def self() -> Json:
        return _self(cluster)

    @routes.get("/v1/status/leader")
    def leader() -> flask.Response:
        return flask.jsonify(cluster.address)

    @routes.get("/v1/regions")
    def regions() -> flask.Response:
        return flask.jsonify(["global"])

    @routes.get("/v1/nodes")
    def list_nodes() -> flask.Response:
        is_wanted = node_filter.of(flask.request.args.get("filter", ""))
        with known.lock:
            wanted = [nodes.stub(node) for node in known.nodes.values() if is_wanted(node)]
            return answers.read(wanted, known.table_index["nodes"])

    @routes.get("/v1/node/<node_id>")
    def get_node(node_id: str) -> flask.Response:
        with known.lock:
            found = known.nodes.get(node_id)
            return answers.missing("node") if found is None else answers.read(found, found["ModifyIndex"])

    @routes.put("/v1/system/gc")
    def collect_garbage() -> flask.Response:
        cluster.collect_garbage()
        return answers.empty()

    _add_namespaces(routes, cluster)
    return routes


def _add_namespaces(routes: flask.Blueprint, cluster: clusters.Cluster) -> None:
    known = cluster.state

    @routes.get("/v1/node/pools")
    def pools() -> flask.Response:
        return answers.read([_pool(name, text) for name, text in nodes.POOLS.items()], 1)

    @routes.get("/v1/namespaces")
    def namespaces() -> flask.Response:
        with known.lock:
            return answers.read(
                [known.namespaces[name] for name in sorted(known.namespaces) if answers.rights().knows(name)], 1
            )

    @routes.get("/v1/namespace/<name>")
    def get_namespace(name: str) -> flask.Response:
        with known.lock:
            found = known.namespaces.get(name)
            return answers.missing("Namespace") if found is None else answers.read(found, found["ModifyIndex"])

    @routes.route("/v1/namespace", methods=["PUT", "POST"])
    @routes.route("/v1/namespaces", methods=["PUT", "POST"])
    @routes.route("/v1/namespace/<_name>", methods=["PUT", "POST"])
    def put_namespace(_name: str = "") -> flask.Response:
        given = answers.body()
        if not given.get("Name"):
            raise refusals.RefusalError(refusals.BAD_REQUEST, "Namespace must be specified")
        with known.lock:
            index = known.commit("namespaces")
            known.namespaces[given["Name"]] = clusters.namespace(given, index=index)
        return answers.written(None, index)


def _pool(name: str, text: str) -> Json:
    indexes = {"CreateIndex": 1, "ModifyIndex": 1, "NodeIdentityTTL": 86_400_000_000_000}
    empty = dict.fromkeys(("Hash", "Meta", "SchedulerConfiguration"))
    return {"Description": text, "Name": name} | indexes | empty


def _self(cluster: clusters.Cluster) -> Json:
    """Say what the product asks an agent: version, data directory; and that this is no real one."""
    address = cluster.address
    config = {
        "ACL": {"Enabled": bool(cluster.settings.token)},
        "AdvertiseAddrs": {"HTTP": address},
        "BindAddr": "127.0.0.1",
        "Client": {"Enabled": True, "MaxKillTimeout": "30s", "NodePool": "default", "StateDir": ""},
        "DataDir": str(cluster.settings.data_dir),
        "Datacenter": nodes.DATACENTER,
        "DevMode": True,
        "Region": "global",
        "Server": {"Enabled": True},
        "Version": {
            "Revision": "",
            "Version": "2.0.6",
            "VersionMetadata": "nomad-csi-sandbox",
            "VersionPrerelease": "dev",
        },
    }
    tags = {"build": nodes.VERSION, "dc": nodes.DATACENTER, "region": "global", "role": "nomad"}
    member = {"Addr": "127.0.0.1", "Name": "nomad-csi-sandbox.global", "Port": 0, "Status": "alive", "Tags": tags}
    return {"config": config, "member": member, "stats": {"nomad": {"leader": "true", "server": "true"}}}

"""``/v1/sandbox``: what only tests ask. Nomad has nothing like it."""

import flask

from nomad_csi_sandbox.nomad import cluster as clusters


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("sandbox", __name__)

    @routes.get("/v1/sandbox/requests")
    def requests() -> flask.Response:
        return flask.jsonify(list(cluster.requests))

    return routes

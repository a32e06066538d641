"""Refusals of an agent with access control."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs
from nomad_csi.volumes import sharing

UNKNOWN = "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize("token", ["", UNKNOWN])
@pytest.mark.parametrize("path", ["/v1/nodes", "/v1/volume/csi/v"])
def test_without_rights_everything_is_403(acl_agent, token, path):
    """No token, and an unknown token, read alike."""
    status, text, headers = acl_agent.call("GET", path, headers={"X-Nomad-Token": token} if token else None)

    assert (status, text, headers["Content-Type"]) == (403, "Permission denied", "text/plain; charset=utf-8")


@pytest.mark.real_nomad
def test_refusal_of_logs_names_the_missing_right_too(real_acl):
    """A real agent sends it with status 500; the emulator has one status for all refusals."""
    connection = nomad.Connection(address=real_acl.url, token=UNKNOWN)
    with (
        nomad.Nomad(connection) as client,
        pytest.raises(errors.NomadApiError, match="Permission denied; the token needs read-logs in namespace default"),
    ):
        jobs.tail_log(client, "default", "2d1b13f5-503d-3e7e-18c5-f969d58b9143", "t")


@pytest.mark.parametrize("path", ["/v1/agent/health", "/v1/status/leader"])
def test_health_and_leader_are_open(acl_agent, path):
    """They want no token."""
    assert acl_agent.call("GET", path)[0] == 200


def test_who_may_list_the_volumes_of_one_namespace_is_shown_those_of_all(acl_agent, token_of, waiting, volume):
    """So nothing hides from who looks, before storage is deleted, whether anybody has it."""
    root = {"X-Nomad-Token": token_of("root")}
    plugin = 'csi_plugin {\n id = "efs"\n type = "node"\n }'
    _, job, _ = acl_agent.call(
        "POST", "/v1/jobs/parse", {"JobHCL": waiting("hidden-plugin", task=plugin), "Canonicalize": True}, root
    )
    acl_agent.call("PUT", "/v1/jobs", {"Job": job}, root)
    acl_agent.call("PUT", "/v1/namespace", {"Name": "other"}, root)
    hidden = volume("hidden", Namespace="other", ExternalID="fs-0fedcba9876543210")
    assert acl_agent.call("PUT", "/v1/volumes?namespace=other", {"Volumes": [hidden]}, root)[0] == 200

    with nomad.Nomad(nomad.Connection(address=acl_agent.url, token=token_of("blind"))) as client:
        held = sharing.registered_as(client, "fs-0fedcba9876543210")
    acl_agent.call("DELETE", "/v1/volume/csi/hidden?namespace=other", None, root)
    acl_agent.call("DELETE", "/v1/job/hidden-plugin?purge=true", None, root)

    assert held == (("other", "hidden"),)

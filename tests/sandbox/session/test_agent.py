"""How the real agent of the sandbox is set up."""

from nomad_csi_sandbox.session import agent


def test_agent_removes_no_containers_of_another_one(tmp_path):
    """Nomad takes every container with its label for its own, and after five minutes for one too many."""
    settings = agent.configuration(tmp_path, http=1, rpc=2, serf=3)

    assert settings["plugin"]["docker"]["config"] == [{"gc": {"dangling_containers": {"enabled": False}}}]
    assert settings["bind_addr"] == "127.0.0.1"

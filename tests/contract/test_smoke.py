"""`nomad-csi smoke` on both sides, whose plugins are played ones: claims are real, mounts are not."""

import pytest

from nomad_csi.diagnosis import smoke
from nomad_csi.nomad import volumes
from tests import deadlines

MARK = "nomad:emulator"


def left(agent):
    """Return the jobs of smoke tests that are still known."""
    return [job["ID"] for job in agent.get("/v1/jobs?prefix=nomad-csi-smoke")]


def test_volume_is_claimed_twice_and_free_afterwards(agent, client, volume, kept, fresh):
    """Both jobs ran, claimed and freed it; nothing of them is left; and mounts are not called verified."""
    name = fresh("tried")
    kept(volume(name))

    outcome = smoke.try_out(client, ("default", name), sandbox=MARK, timeout_s=deadlines.PATIENT_S)

    assert (outcome.status, outcome.left_behind, left(agent)) == ("not verified", (), [])
    assert [(done.kind, done.reason) for done in outcome.rounds] == [("write", ""), ("read", "")]
    node = outcome.rounds[0].node_name
    assert outcome.verified == (f"{node}: claimed, a task ran, the claim was freed",) * 2
    assert outcome.not_verified == (
        "mounts and data: the plugins of the sandbox mount nothing, so nothing was written",
        "another client: no other one has the plugin, the task driver, room for the task and the volume's topology",
    )
    for done in outcome.rounds:
        times = done.times
        assert all(value is not None and value >= 0 for value in (times.attach_s, times.mount_s, times.detach_s))
    assert volumes.get(client, "default", name).claims == ()


def test_plugin_that_mounts_nothing_is_found_out(agent, client, volume, kept, fresh):
    """Without the sandbox's mark the played plugins are taken at their word, and fail; the first failure ends it."""
    name = fresh("unmounted")
    kept(volume(name))

    outcome = smoke.try_out(client, ("default", name), timeout_s=deadlines.PATIENT_S)

    assert (outcome.status, left(agent)) == ("failed", [])
    assert [done.kind for done in outcome.rounds if done.reason]
    assert outcome.left_behind[0].startswith("the file .nomad-csi-smoke-")
    assert volumes.get(client, "default", name).claims == ()


def test_interrupted_run_leaves_no_job(agent, client, volume, kept, fresh, monkeypatch):
    """Ctrl-C in the middle: the job is stopped, waited for and purged before the interrupt goes on."""
    name = fresh("broken-off")
    kept(volume(name))
    seen = []

    def interrupted(*given):
        seen.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(volumes, "get", lambda *given: interrupted(*given) if left(agent) else ORIGINAL(*given))

    with pytest.raises(KeyboardInterrupt):
        smoke.try_out(client, ("default", name), sandbox=MARK, timeout_s=deadlines.PATIENT_S)

    assert seen
    assert left(agent) == []


ORIGINAL = volumes.get

"""`nomad-csi smoke` on both sides, whose plugins are played ones: claims are real, mounts are not."""

import re
import shlex
from pathlib import Path

import pytest

from nomad_csi import cli, errors
from nomad_csi.diagnosis import smoke
from nomad_csi.nomad import jobs, volumes
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
        "another client: only one has the plugin, the task driver and a place of the volume",
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


def test_volume_in_use_is_not_tried(client):
    """The holder is named, and no job is run."""
    [claim] = volumes.get(client, "default", "used").claims

    with pytest.raises(errors.RefusedError) as caught:
        smoke.try_out(client, ("default", "used"), sandbox=MARK)

    assert f"it is in use by job default/user (write, allocation {claim.alloc_id}" in str(caught.value)
    assert str(caught.value).endswith("; nothing was run")


def test_block_device_is_never_tried(client, volume, kept, fresh):
    """What is written to it would destroy what is on it."""
    name = fresh("block")
    uses = [{"AccessMode": "single-node-writer", "AttachmentMode": "block-device"}]
    kept(volume(name, RequestedCapabilities=uses))

    with pytest.raises(errors.RefusedError, match="a block device is not tried, because that would destroy"):
        smoke.try_out(client, ("default", name), sandbox=MARK)


def test_volume_that_is_not_there_is_told(client):
    """Nothing is run."""
    with pytest.raises(errors.RefusedError, match="volume default/nowhere is not registered"):
        smoke.try_out(client, ("default", "nowhere"), sandbox=MARK)


def test_task_driver_that_no_client_has_is_told(client, volume, kept, fresh):
    """With the clients that were checked, and what would do."""
    name = fresh("podless")
    kept(volume(name))

    with pytest.raises(errors.RefusedError, match="has the task driver podman; one of docker, podman, exec is needed"):
        smoke.try_out(client, ("default", name), wish=smoke.smoke.Wish(task_driver="podman"), sandbox=MARK)


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


def test_command_says_what_is_verified(agent, volume, kept, fresh, monkeypatch, capsys):
    """For people a table and sentences; the exit code is 0 for what is verified, which needs no emulator."""
    name = fresh("told")
    kept(volume(name))
    monkeypatch.setenv("NOMAD_CSI_SANDBOX", MARK)
    monkeypatch.setenv("NOMAD_ADDR", agent.url)

    code = cli.main(["smoke", f"default/{name}", "--step-timeout", "60s"])

    printed = capsys.readouterr()
    assert code == 2
    assert printed.out.splitlines()[0].split() == ["job", "client", "attach", "mount", "detach", "remarks"]
    assert printed.out.splitlines()[-1] == (
        f"volume default/{name}: not verified (multi-node-multi-writer, task driver exec)"
    )
    assert "write: running job default/nomad-csi-smoke-write-" in printed.err


def test_job_that_nomad_would_not_place_is_not_run(agent, client, volume, kept, fresh, monkeypatch):
    """Nomad's own reasons are told."""
    name = fresh("unplaced")
    kept(volume(name))
    plan = jobs.JobPlan(
        diff_type="Added", job_modify_index=0, failed_groups={"smoke": "no room"}, warnings="", changes=()
    )
    monkeypatch.setattr(jobs, "plan", lambda *_given: plan)

    with pytest.raises(errors.RefusedError, match="no client can run the write job: no room"):
        smoke.try_out(client, ("default", name), sandbox=MARK)

    assert left(agent) == []


PAGE = (Path(__file__).parents[2] / "docs/howto/smoke.md").read_text()
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_page_run_as_written(agent, volume, kept, monkeypatch, capsys, line):
    """In the sandbox, on a volume with the page's name; nothing is verified there."""
    kept(volume("mysql"))
    monkeypatch.setenv("NOMAD_CSI_SANDBOX", MARK)
    monkeypatch.setenv("NOMAD_ADDR", agent.url)

    assert cli.main(shlex.split(line)[1:]) == 2
    assert "not verified" in capsys.readouterr().out


def test_every_option_of_the_page_exists(capsys):
    """As the page spells it."""
    assert cli.main(["smoke", "--help"]) == 0

    told = capsys.readouterr().out
    assert [option for option in set(re.findall(r"`(--[a-z-]+)`", PAGE)) if option not in told] == []

"""Volumes that cannot change as they are wanted, and operators who want different things at the same moment."""

import threading

import pytest

from nomad_csi import cli, nomad
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from tests import deadlines, volume_files
from tests.faults.conftest import write_volume

CLAIM = {
    "Mode": "write",
    "AccessMode": "multi-node-multi-writer",
    "AttachmentMode": "file-system",
    "NodeID": "one",
}
MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")


def test_change_that_nomad_never_makes_is_refused_and_done_the_long_way(register, agent, files, held, capsys):
    """Refused with both values and the way; the way is deregister and register, and the data is not touched."""
    register(agent.url, files("v0"))
    path = files("v0", external_id="fs-0123456789abcdef9")

    done = register(agent.url, path)

    assert (done.code, done.said) == (1, "")
    assert done.outcomes["default/v0"] == (
        "refused",
        'external_id: Nomad has "fs-0123456789abcdef0:/v0", wanted "fs-0123456789abcdef9"; Nomad never changes it; '
        "deregister it and register it again, when nothing uses it; the data is not touched",
    )
    assert held() == {"default/v0": "fs-0123456789abcdef0:/v0"}
    assert cli.main(["remove", "default/v0", "--address", agent.url]) == 0
    capsys.readouterr()
    assert register(agent.url, path).statuses == {"registered"}
    assert held() == {"default/v0": "fs-0123456789abcdef9"}


@pytest.mark.parametrize(
    ("option", "stored", "told"),
    [
        (
            'fs_type = "nfs4"',
            {"FSType": "nfs4", "MountFlags": None},
            'mount_options.fs_type: Nomad has nothing, wanted "nfs4"; the volume is in use; stop the jobs that claim it '
            "first",
        ),
        (
            'mount_flags = ["ro"]',
            {"FSType": "", "MountFlags": ["ro"]},
            'mount_options.mount_flags: Nomad has nothing, wanted "[redacted]"; the volume is in use; stop the jobs '
            "that claim it first",
        ),
    ],
    ids=["seen", "hidden"],
)
def test_change_of_a_volume_in_use_is_refused_and_goes_in_when_it_is_free(
    register, agent, tmp_path, held, ids, option, stored, told
):
    """Mount options change for nobody who has them mounted; the next run after that finishes."""
    path = tmp_path / "v0.volume.hcl"
    write_volume(path, "v0")
    register(agent.url, str(path))
    write_volume(path, "v0", more=f"mount_options {{\n  {option}\n}}")
    with agent.state.lock:
        agent.state.volumes["default", "v0"].claims["a"] = CLAIM

    done = register(agent.url, str(path))

    assert (done.code, done.said) == (1, "")
    assert done.outcomes == {"default/v0": ("refused", told)}
    assert agent.state.volumes["default", "v0"].spec["MountOptions"] == {"FSType": "", "MountFlags": None}
    with agent.state.lock:
        agent.state.volumes["default", "v0"].claims.clear()
    assert register(agent.url, "--adopt", str(path)).statuses == {"updated"}
    assert agent.state.volumes["default", "v0"].spec["MountOptions"] == stored
    assert held() == ids(1)


@pytest.fixture
def at_once(proxy):
    """Let operators register, each through a client of his own; none sends before all have looked."""

    def run(*wanted):
        together = threading.Barrier(len(wanted), timeout=deadlines.PATIENT_S)

        def meet(handler):
            together.wait()
            handler.answer(*handler.forward())

        proxy.fault("PUT", meet, times=len(wanted))
        outcomes = [() for _ in wanted]

        def operator(number):
            with nomad.Nomad(nomad.Connection(address=proxy.address)) as client:
                outcomes[number] = applied.apply(client, volume_files.wanted(wanted[number]))

        threads = [threading.Thread(target=operator, args=(number,)) for number in range(len(wanted))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    return run


def volume(volume_id, external_id):
    """Return a volume of the plugin of these tests."""
    return registration.VolumeRegistration(
        volume_id=volume_id, name=volume_id, external_id=external_id, plugin_id="aws-efs0", capabilities=(MODE,)
    )


def test_two_operators_with_the_same_wish_both_get_it(at_once, held):
    """Each volume is there once, and both are told that it is registered."""
    wanted = [volume(f"v{number}", f"fs-{number}") for number in range(5)]

    outcomes = at_once(wanted, wanted)

    assert [[item.status for item in each] for each in outcomes] == [["registered"] * 5] * 2
    assert held() == {f"default/v{number}": f"fs-{number}" for number in range(5)}
    assert [item.status for item in at_once(wanted)[0]] == ["unchanged"] * 5


def test_two_operators_with_different_wishes_for_one_id_do_not_take_it_from_each_other(at_once, held):
    """The first one has it; the other is told, and the rest of what he wants goes in."""
    mine = [volume("both", "fs-mine"), volume("mine", "fs-1")]
    yours = [volume("both", "fs-yours"), volume("yours", "fs-2")]

    outcomes = [{item.volume_id: item for item in each} for each in at_once(mine, yours)]

    assert [outcomes[0]["mine"].status, outcomes[1]["yours"].status] == ["registered", "registered"]
    won, lost = sorted((each["both"] for each in outcomes), key=lambda item: item.reason)
    assert (won.status, lost.status) == ("registered", "refused")
    winner = "mine" if won is outcomes[0]["both"] else "yours"
    loser = {"mine": "yours", "yours": "mine"}[winner]
    told = (
        f'external_id: Nomad has "fs-{winner}", wanted "fs-{loser}"; Nomad never changes it; deregister it and register '
        "it again, when nothing uses it; the data is not touched"
    )
    assert "volume external ID cannot be updated" in lost.reason
    assert held() == {"default/both": f"fs-{winner}", "default/mine": "fs-1", "default/yours": "fs-2"}
    again = {item.volume_id: item for item in at_once({"mine": mine, "yours": yours}[loser])[0]}
    assert (again["both"].status, again[loser].status) == ("refused", "unchanged")
    assert again["both"].reason == told

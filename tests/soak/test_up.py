"""`nomad-csi sandbox up` killed again and again: what is made is made once, and one `up` that may end makes the rest."""

import collections
import contextlib
import os
import re
import signal
import subprocess
import time

import pytest
import yaml

from nomad_csi.nomad import volumes
from tests.contract import agents
from tests.e2e import sandboxes

ORPHAN = re.compile(r"(vol-[0-9a-f]+) for volume \S+; take it in with")
UP_S = 1800


@pytest.fixture
def sandbox(tmp_path, number, monkeypatch):
    """A sandbox that asks for EBS volumes, not up yet; on a real agent where there is one."""
    made = sandboxes.make(tmp_path)

    def many(storage):
        storage["plugins"] = storage["plugins"][:1]
        first = storage["volumes"][0]
        storage["volumes"] = [first | {"id": f"data-{index}"} for index in range(number("SOAK_UP_VOLUMES", 6))]

    made.edit(many)
    monkeypatch.setattr(sandboxes, "DEADLINE_S", UP_S)
    made.agent = "emulator" if agents.obstacle() else "real"
    made.up_words = ("up", "--engine", "emulator", "--nomad", made.agent)
    yield made
    sandboxes.end(made)


def kill_after(sandbox, seconds):
    """Start `up` and kill it, and all that hangs on it, after *seconds*; return whether it was still running."""
    with sandbox.start(*sandbox.up_words) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=seconds)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode == -signal.SIGKILL


def finish(sandbox, counts):
    """
    Run `up` to its end.

    Storage that was made at the very moment of a kill is in no state; `up` names it and makes nothing until somebody
    has taken it in or deleted it. It is empty here, so it is deleted, as the message says.
    """
    began = time.monotonic()
    while True:
        done = sandbox.run(*sandbox.up_words)
        orphans = ORPHAN.findall(done.stdout)
        if done.returncode == 0:
            return time.monotonic() - began
        assert orphans, done.stdout + done.stderr
        assert time.monotonic() - began < UP_S
        for volume_id in orphans:
            sandbox.aws("ec2").delete_volume(VolumeId=volume_id)
            counts["named orphans"] += 1


def is_whole(sandbox, count):
    """Assert that each volume is there once in AWS, in Nomad and in the state, and that all three mean the same."""
    made = {
        name.partition(" ")[2]: item["id"]
        for name, item in sandbox.resources().items()
        if name.startswith("aws:ebs/volume:Volume ")
    }
    with sandbox.nomad() as client:
        held = {item.volume_id: item.external_id for item in volumes.list_volumes(client, "*")}
    assert len(made) == count
    assert held == made
    assert sorted(sandbox.owned()[0]) == sorted(made.values())


def turn(sandbox, everything, counts, disturb):
    """
    Ask for one volume where all were asked for, and for all where one was; *disturb*, finish, and look.

    Return how long the last run took in seconds.
    """
    asked = yaml.safe_load(sandbox.config.read_text())["config"]["nomad-csi:storage"]["volumes"]
    sandbox.config.write_text(everything)
    count = len(yaml.safe_load(everything)["config"]["nomad-csi:storage"]["volumes"])
    if len(asked) > 1:
        sandbox.edit(lambda storage: storage.update(volumes=storage["volumes"][:1]))
        count = 1
    disturb()
    last_s = finish(sandbox, counts)
    is_whole(sandbox, count)
    return last_s


@pytest.mark.timeout(6 * 3600)
def test_killed_up_is_finished_by_the_next_one(sandbox, number, chance, tell):
    """
    After each kill, `up` goes on where it was; every volume is made once, registered once, and none is lost.

    A kill comes at any time that no run has ended before; as soon as one has, the times are those of that one.
    """
    count, kills = number("SOAK_UP_VOLUMES", 6), number("SOAK_UP_KILLS", 0)
    if not kills:
        pytest.skip("a part of `make soak`; tests/e2e/test_interrupted.py kills some runs every time")
    counts = collections.Counter()
    everything = sandbox.config.read_text()
    finish(sandbox, counts)
    nothing_s = finish(sandbox, counts)
    turn(sandbox, everything, counts, lambda: None)
    whole_s = turn(sandbox, everything, counts, lambda: None)
    longest_s = min(nothing_s, whole_s)

    def kill_some():
        nonlocal longest_s
        for _ in range(min(number("SOAK_UP_KILLS_A_ROUND", 3), kills - counts["killed"])):
            counts["runs"] += 1
            after_s = chance.uniform(0, longest_s)
            if kill_after(sandbox, after_s):
                counts["killed"] += 1
            else:
                longest_s = min(longest_s, after_s)

    while counts["killed"] < kills:
        turn(sandbox, everything, counts, kill_some)
        counts["rounds"] += 1
        tell(f"{counts['runs']} runs, {counts['killed']} killed, {counts['rounds']} rounds")
    tell(
        f"up on a {sandbox.agent} agent, {count} volumes, {whole_s:.0f} s a run, {nothing_s:.0f} s without changes: "
        f"{counts['runs']} runs, {counts['killed']} killed before their end, {counts['rounds']} rounds, made and taken "
        f"away in turn, {counts['named orphans']} volumes of the very moment named and deleted; every round converged, "
        "none twice, none lost"
    )

"""``nomad-csi smoke``: what was verified, what was not, and an exit code for each."""

import dataclasses
import json

import pytest

from nomad_csi import cli
from nomad_csi.diagnosis import smoke, smoke_round

FIRST = smoke_round.SmokeRound(
    kind="write", node_name="client-1", times=smoke_round.Times(attach_s=0.25, mount_s=1, detach_s=2.55)
)
DONE = smoke_round.SmokeOutcome(
    namespace="prod",
    volume_id="web",
    status="verified",
    task_driver="exec",
    access_mode="single-node-writer",
    rounds=(FIRST,),
    verified=("written", "again"),
    not_verified=(),
)


@pytest.mark.parametrize(
    ("status", "left", "code"),
    [("verified", (), 0), ("verified", ("job a",), 1), ("failed", (), 1), ("not verified", (), 2)],
)
def test_the_outcome_is_printed_and_decides_the_exit_code(monkeypatch, capsys, empty_agent, status, left, code):
    """What is left behind is a failure, too; the options are handed on."""
    asked = []
    done = dataclasses.replace(
        DONE,
        status=status,
        rounds=(FIRST, smoke_round.SmokeRound(kind="read", reason="no client")),
        not_verified=("read",),
        left_behind=left,
    )
    monkeypatch.setattr(smoke, "try_out", lambda _client, volume, **given: asked.append((volume, given)) or done)
    monkeypatch.setenv("NOMAD_CSI_SANDBOX", "mark")
    words = ["smoke", "prod/web", "--task-driver", "exec", "--image", "i:1", "--step-timeout", "9s", "--region", "eu"]

    assert cli.main([*words, "--address", empty_agent()]) == code

    assert capsys.readouterr().out.splitlines() == [
        "job    client    attach  mount  detach  remarks",
        "write  client-1  0.2 s   1.0 s  2.5 s   -",
        "read   -         -       -      -       no client",
        *("verified: written", "verified: again"),
        "not verified: read",
        *(f"left behind: {each}" for each in left),
        f"volume prod/web: {status} (single-node-writer, task driver exec)",
    ]
    [(volume, given)] = asked
    assert (volume, given["timeout_s"], given["sandbox"]) == (("prod", "web"), 9.0, "mark")
    assert vars(given["wish"]) == {"task_driver": "exec", "image": "i:1", "region": "eu"}


def test_the_outcome_as_data(monkeypatch, capsys, empty_agent):
    """Seconds with one decimal."""
    monkeypatch.setattr(smoke, "try_out", lambda *_, **__: DONE)

    assert cli.main(["smoke", "web", "--json", "--address", empty_agent()]) == 0

    assert json.loads(capsys.readouterr().out)["rounds"] == [
        {"job": "write", "node": "client-1", "reason": "", "attach_s": 0.2, "mount_s": 1, "detach_s": 2.5}
    ]

"""What a running sandbox keeps to itself: its token, its ports and its cluster."""

from pathlib import Path

from nomad_csi_sandbox.session import folder, processes
from tests import cross_site

LISTENING = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""As ``/proc/net/tcp`` has them. Source: Linux, ``include/net/tcp_states.h``; proc_net_tcp.rst."""


def test_it_runs_no_job_of_a_web_page(untouched, tmp_path):
    """Given what a page elsewhere can send to Nomad and to AWS: refused, and nothing is there afterwards."""
    body = cross_site.job("evil", tmp_path / "came")
    nomad, moto = untouched.process("nomad").port, untouched.process("moto").port
    plain = {"Host": f"127.0.0.1:{nomad}", "Content-Type": "application/json"}
    before = untouched.aws("ec2").describe_volumes()["Volumes"]

    assert cross_site.send(nomad, "POST", "/v1/jobs", body)[0] == 403
    assert cross_site.send(nomad, "POST", "/v1/jobs", body, plain) == (403, "Permission denied")
    assert cross_site.send(nomad, "GET", "/v1/nodes")[0] == 403
    assert cross_site.send(moto, "POST", "/moto-api/reset")[0] == 403

    with untouched.nomad() as client:
        assert "evil" not in [job["ID"] for job in client.request("GET", "/v1/jobs", query={"namespace": "*"}).data]
    assert untouched.aws("ec2").describe_volumes()["Volumes"] == before
    assert not (tmp_path / "came").exists()


def test_its_token_is_in_one_file_and_in_no_output(untouched, tmp_path):
    """Readable for its owner alone; neither the servers nor the tasks that they run have it."""
    place = folder.Folder(untouched.project)
    outputs = [untouched.run(*words) for words in (["status"], ["preview"])]
    outputs.append(
        untouched.exec(
            "sh",
            "-c",
            f'test -n "$NOMAD_TOKEN" && nomad-csi claims && nomad-csi verify --html {tmp_path}/page.html --json',
        )
    )

    assert place.token
    assert [done.returncode for done in outputs] == [0] * len(outputs)
    assert not any(place.token in done.stdout + done.stderr for done in outputs)
    folders = (place.path, untouched.data_dir, untouched.project / "rendered")
    paths = [path for each in folders for path in each.rglob("*") if path.is_file()]
    assert [path for path in paths if place.token.encode() in path.read_bytes()] == [place.token_file]
    assert place.token_file.stat().st_mode & 0o777 == 0o600
    pids = ours(place)
    assert len(pids) >= 3 + 5  # the servers, and what they run: two controllers, three or four node plugins
    for pid in pids:
        for name in ("environ", "cmdline"):
            assert place.token.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()


def test_it_listens_on_loopback_alone(untouched):
    """All its servers, and the plugins that they run."""
    found = {}
    for pid in ours(folder.Folder(untouched.project)):
        inodes = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENING and f"socket:[{fields[9]}]" in inodes:
                    found[f"{table} {fields[1].rpartition(':')[2]}"] = fields[1].rpartition(":")[0]

    assert len(found) == 3
    assert set(found.values()) <= LOOPBACK


def ours(place):
    """Return the processes of a sandbox: its servers, and all that they started."""
    return processes._marked(processes.MARK, str(place.project))

"""Nomad agents as processes of their own, of which a test makes a cluster."""

import json
import os
import signal
import subprocess

STOP_S = 120


def start(stack, folder, name, ports, environment=None, **settings):
    """
    Start an agent with its *ports* for HTTP, RPC and Serf, and with *settings* besides; *stack* ends it.

    Its files are below *folder*; *environment* is all that it sees beside PATH and HOME.
    """
    http, rpc, serf = ports
    folder.mkdir(exist_ok=True)
    known = {
        "name": name,
        "data_dir": str(folder / "data"),
        "bind_addr": "127.0.0.1",
        "disable_update_check": True,
        "ports": {"http": http, "rpc": rpc, "serf": serf},
        "advertise": {"http": f"127.0.0.1:{http}", "rpc": f"127.0.0.1:{rpc}", "serf": f"127.0.0.1:{serf}"},
    }
    config = folder / "agent.json"
    config.write_text(json.dumps(known | settings), encoding="utf-8")
    with (folder / "agent.log").open("ab") as log:
        process = subprocess.Popen(
            ["nomad", "agent", f"-config={config}"],
            env={"PATH": os.environ["PATH"], "HOME": str(folder)} | (environment or {}),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    stack.callback(_end, process)
    return process


def server(count, others, **more):
    """Return the settings of one of *count* servers of a region, which joins those at the Serf ports *others*."""
    join = {"retry_join": [f"127.0.0.1:{port}" for port in others], "retry_interval": "1s"}
    return {"enabled": True, "bootstrap_expect": count, "raft_multiplier": 1, "server_join": join} | more


def problems(client, job):
    """Return what Nomad finds wrong with *job*, as `jobs.parse` returned it, each on one line."""
    query = {"namespace": job["Namespace"]} if job.get("Namespace") else None
    found = client.request("POST", "/v1/validate/job", query=query, body={"Job": job}).data
    return [" ".join(each.split()) for each in found["ValidationErrors"] or filter(None, [found["Error"]])]


def _end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

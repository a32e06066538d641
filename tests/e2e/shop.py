"""The job in the outputs of the examples with a network: run with a task that waits."""

import json

from nomad_csi.nomad import jobs, volumes
from tests.e2e import sandboxes


def as_hcl(text):
    """Return the job of *text*, HCL in the syntax of JSON, as other HCL: the emulator reads no JSON."""
    group = json.loads(text)["job"]["shop"]["group"]["shop"]
    task = group["task"]["shop"]

    def block(head, given):
        return "\n".join([f"{head} {{", *(f"{name} = {json.dumps(value)}" for name, value in given.items()), "}"])

    requests = [block(f'volume "{name}"', volume) for name, volume in group["volume"].items()]
    mounts = [block("volume_mount", mount) for mount in task["volume_mount"]]
    inner = [f"driver = {json.dumps(task['driver'])}", block("config", task["config"]), *mounts]
    return "\n".join(['job "shop" {', 'group "shop" {', *requests, 'task "shop" {', *inner, "}", "}", "}"])


def mounted(client, job):
    """Run *job*, in the JSON of Nomad's API, and stop it; return the ids of the volumes that it had a claim on."""
    [group] = job["TaskGroups"]
    [task] = group["Tasks"]
    waiting = {**task, "Driver": "exec", "Config": {"command": "sleep", "args": ["3600"]}}
    jobs.register(client, {**job, "TaskGroups": [{**group, "Tasks": [waiting]}]}, source="", enforce_index=None)
    ids = [one["Source"] for one in group["Volumes"].values()]

    def running():
        return [one.alloc_id for one in jobs.allocations(client, "default", "shop") if one.client_status == "running"]

    def claims():
        return {(name, claim.alloc_id) for name in ids for claim in volumes.get(client, "default", name).claims}

    [allocation] = sandboxes.until(running)
    held = claims()
    jobs.stop(client, "default", "shop", purge=True)
    sandboxes.until(lambda: not claims())
    return sorted(name for name, alloc_id in held if alloc_id == allocation)

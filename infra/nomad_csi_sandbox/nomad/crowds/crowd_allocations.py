"""Jobs and running allocations that are written down, with no process behind them. Part of the Nomad emulator."""

from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.hcl import parse
from nomad_csi_sandbox.nomad.jobs import defaults, job_store, scheduler

Json = dict[str, Any]


def registered(known: state.State, source: str) -> Json:
    """Register the job of *source*, in HCL, without scheduling it; return its stored form."""
    spec = defaults.canonical(parse.parse(source, ""))
    job_store.register(known, {"Job": spec, "Submission": {"Source": source, "Format": "hcl2"}})
    return known.jobs[spec["Namespace"] or "default", spec["ID"]].spec


def running(known: state.State, job: Json, node_id: str, *told: Json) -> state.Allocation:
    """Let *job*, with one group of one task, run on a client; *told* are the events of its task."""
    [group] = job["TaskGroups"]
    [task] = group["Tasks"]
    with known.lock:
        index = known.commit("allocs")
        alloc = state.Allocation(
            alloc_id=state.new_id(),
            eval_id=state.new_id(),
            job=job,
            group=group,
            spec=scheduler.spec_of(job, group),
            index=0,
            node_id=node_id,
            node_name=known.nodes[node_id]["Name"],
            create_index=index,
            modify_index=index,
            client_status="running",
            tasks={task["Name"]: state.TaskState(events=list(told), state="running", started_ns=clock.now_ns())},
        )
        known.allocs[alloc.alloc_id] = alloc
    return alloc

"""``python -m tests.render.quick_worker``: the process that renders an operator's templates, with smaller limits."""

from nomad_csi.render import own_worker

LIMIT_S = 1

if __name__ == "__main__":
    own_worker._TOO_LONG = own_worker._TOO_LONG.replace(f"{own_worker.CPU_LIMIT_S} s", f"{LIMIT_S} s")
    own_worker.CPU_LIMIT_S = LIMIT_S
    own_worker.MEMORY_LIMIT_BYTES = 1 << 29
    own_worker.main()

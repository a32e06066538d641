"""CSI's Identity service: name and version of the plugin, and whether it is ready."""

from nomad_csi import errors
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.csi import channel, endpoint
from nomad_csi.csi.v1 import csi_pb2


def get_plugin_info(connection: channel.CsiConnection, *, timeout_s: float) -> csi_pb2.GetPluginInfoResponse:
    """Return name and version; the name, such as ``ebs.csi.aws.com``, is Nomad's provider."""
    reply: csi_pb2.GetPluginInfoResponse = channel.call(connection, csi_pb2.GetPluginInfoRequest(), timeout_s=timeout_s)
    return reply


def probe(connection: channel.CsiConnection, *, timeout_s: float) -> bool:
    """
    Return whether the plugin is ready. Raises the errors of `channel.call`; an error means unhealthy.

    What a response verifies differs by driver: an EBS controller has called EC2, an EFS plugin merely runs. An absent
    ``ready`` is true. Source: CSI specification v1.12.0, ``ProbeResponse``.
    """
    reply: csi_pb2.ProbeResponse = channel.call(connection, csi_pb2.ProbeRequest(), timeout_s=timeout_s)
    return reply.ready.value if reply.HasField("ready") else True


# Wait until a plugin is ready, as the sidecars of Kubernetes do before their first call.
#
# Source: kubernetes-csi/csi-lib-utils, ``rpc/common.go`` (``ProbeForever``), 2026-08: it retries after "not ready" and
# after a deadline, and treats every other error as final; it waits for a missing socket when it connects.


PAUSE_S = 0.5
"""Between two checks, in seconds."""

PROBE_TIMEOUT_S = 5.0
"""For one Probe, in seconds; Nomad's own."""

_MAY_PASS = frozenset({"DEADLINE_EXCEEDED", "UNAVAILABLE"})


def until_ready(where: endpoint.Endpoint, *, wait_s: float, clock: Clock = SYSTEM) -> None:
    """
    Return once the plugin at *where* responds to Probe and is ready.

    Raises `errors.CsiError`: with code ``DEADLINE_EXCEEDED`` and the last obstacle after *wait_s* seconds, or at once
    with an obstacle that waiting cannot resolve.
    """
    deadline = clock.now() + wait_s
    obstacle, is_answer = "", False
    while True:
        timeout_s = max(min(PROBE_TIMEOUT_S, deadline - clock.now()), 0.05)
        found, is_answered = _obstacle(where, timeout_s)
        if not found:
            return
        # A last check with hardly any time left says less than the one before.
        is_cut = timeout_s < PROBE_TIMEOUT_S and found.startswith("DEADLINE_EXCEEDED")
        if not (obstacle and is_cut):
            obstacle, is_answer = found, is_answered
        if clock.now() + PAUSE_S >= deadline:
            message = f"not ready within {wait_s:.3g} s: {obstacle}"
            raise errors.CsiError(where.text, message, code="DEADLINE_EXCEEDED", is_answer=is_answer)
        clock.sleep(PAUSE_S)


def _obstacle(where: endpoint.Endpoint, timeout_s: float) -> tuple[str, bool]:
    """Return why the plugin is not ready yet (empty: it is), and whether that may be a plugin's response."""
    found = endpoint.obstacle(where)
    if found and found.kind != "missing":
        endpoint.check(where)
    if found:
        return found.message, False
    try:
        # A new channel for each check: one that failed backs off before it connects again.
        with channel.connect(where, attempt_s=timeout_s) as connection:
            is_ready = probe(connection, timeout_s=timeout_s)
    except errors.CsiError as error:
        if error.code not in _MAY_PASS:
            raise
        return error.message, error.is_answer
    return "" if is_ready else "the plugin says that it is still starting", True

"""Check how a job requests a volume."""

from collections.abc import Iterator

from nomad_csi.diagnosis.file_rules.subjects import Consumer, finding_at_line
from nomad_csi.findings import Finding
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.spec import names


def check_group(group: jobs.GroupBlock) -> Iterator[Finding]:
    """Yield findings for the volume blocks of *group*, of any type, and for mounts without one."""
    requests = jobs.labelled(group.body, "volume")
    known = {label for request in requests for label in request.labels}
    has = f"the group has {', '.join(sorted(known))}" if known else "the group has no volume block"
    for task in group.tasks:
        for block in values.blocks(task.body, "volume_mount"):
            name = jobs.text(block, "volume")
            if name and name not in known:
                evidence = f"{name!a} in a volume_mount of task {task.name}; {has}"
                yield finding_at_line("mount-volume-unknown", block.at("volume"), evidence)
    # What Nomad accepts of a host volume, and does not serve as its pages say.
    for request in requests:
        for name, code in (("per_alloc", "host-volume-per-alloc"), ("sticky", "host-volume-sticky")):
            if request.get("type") == "host" and request.get(name) is True:
                yield finding_at_line(code, request.at(name), f"{name} with a host volume")


def _modes(consumer: Consumer) -> Iterator[Finding]:
    request, body = consumer.request, consumer.request.body
    for name, value, known in (
        ("access_mode", request.access_mode, names.ACCESS_MODES),
        ("attachment_mode", request.attachment_mode, names.ATTACHMENT_MODES),
    ):
        if value not in known:
            evidence = f"{name} {value!a}" if value else f"no {name}"
            yield finding_at_line("claim-mode-unknown", body.at(name), evidence, f"use one of {', '.join(known)}")
            return
    if consumer.volume is not None and consumer.volume.modes:
        served = consumer.volume.modes
        if (request.access_mode, request.attachment_mode) not in served:
            registered = ", ".join(f"{first} {second}" for first, second in served)
            evidence = f"{request.access_mode} {request.attachment_mode} of a volume that is {registered}"
            yield finding_at_line("claim-mode-differs", body.at("access_mode"), evidence)


_BY_ONE = ("single-node-reader-only", "single-node-writer")
"""Access modes that Nomad refuses for several allocations of a group, whether they write or not."""


def _claims(consumer: Consumer) -> Iterator[Finding]:
    request = consumer.request
    count = consumer.group.count or 1
    is_one = request.access_mode in _BY_ONE or (
        request.access_mode == "multi-node-single-writer" and not request.read_only
    )
    if is_one and count > 1 and not request.per_alloc:
        evidence = f"{count} allocations of a {request.access_mode} volume"
        yield finding_at_line("claim-by-several", consumer.group.body.at("count"), evidence)
    if request.access_mode != "single-node-writer" or request.read_only:
        return
    for body in (consumer.group.body, consumer.job.body):
        for update in values.blocks(body, "update"):
            if update.get("canary"):
                yield finding_at_line("claim-with-canary", update.at("canary"), f"canary = {update['canary']}")


def _source(consumer: Consumer) -> Iterator[Finding]:
    request = consumer.request
    line = request.body.at("source")
    if not request.source:
        yield finding_at_line("source-missing", line, "no source")
    elif "${" in request.source:
        yield finding_at_line("source-interpolated", line, f"source {request.source!a}")


def _refused(consumer: Consumer) -> Iterator[Finding]:
    """Yield findings for what Nomad refuses when the job is run."""
    request, body = consumer.request, consumer.request.body
    if request.attachment_mode == "block-device" and values.blocks(body, "mount_options"):
        yield finding_at_line("claim-options-on-block", body.at("mount_options"), "mount_options for a block device")
    if not request.per_alloc:
        return
    if consumer.job.type in ("system", "sysbatch"):
        yield finding_at_line("per-alloc-refused", body.at("per_alloc"), f"per_alloc in a {consumer.job.type} job")
    if body.get("sticky") is True:
        yield finding_at_line("per-alloc-refused", body.at("per_alloc"), "per_alloc with sticky")


CHECKS = (_modes, _claims, _source, _refused)

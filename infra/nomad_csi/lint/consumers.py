"""What is wrong with the way a job asks for a volume."""

from collections.abc import Iterator

from nomad_csi.hcl import values
from nomad_csi.lint.model import Consumer, Hit
from nomad_csi.spec import access

_NO_MOUNTS = frozenset({"raw_exec", "qemu"})


def check(consumer: Consumer) -> Iterator[Hit]:
    """Yield what is wrong with the volume block of *consumer*, and with what its group does with the volume."""
    yield from _modes(consumer)
    yield from _claims(consumer)
    yield from _mounts(consumer)


def _modes(consumer: Consumer) -> Iterator[Hit]:
    request, body = consumer.request, consumer.request.body
    for name, value, known in (
        ("access_mode", request.access_mode, access.ACCESS_MODES),
        ("attachment_mode", request.attachment_mode, access.ATTACHMENT_MODES),
    ):
        if value not in known:
            found = f"{name} {value!a}" if value else f"no {name}"
            yield Hit(code="claim-mode-unknown", line=body.at(name), found=found, fix=f"use one of {', '.join(known)}")
            return
    if consumer.volume is not None and consumer.volume.modes:
        served = [(first, second) for first, second, _ in consumer.volume.modes]
        if (request.access_mode, request.attachment_mode) not in served:
            registered = ", ".join(f"{first} {second}" for first, second in served)
            found = f"{request.access_mode} {request.attachment_mode} of a volume that is {registered}"
            yield Hit(code="claim-mode-differs", line=body.at("access_mode"), found=found)
    if request.access_mode.endswith("reader-only"):
        yield Hit(
            code="claim-for-reading-by-mode", line=body.at("access_mode"), found=f"access_mode {request.access_mode!a}"
        )


def _claims(consumer: Consumer) -> Iterator[Hit]:
    request = consumer.request
    if request.access_mode != "single-node-writer" or request.read_only:
        return
    count = consumer.group.count or 1
    if count > 1 and not request.per_alloc:
        found = f"{count} allocations of a single-node-writer volume"
        yield Hit(code="claim-by-several", line=consumer.group.body.at("count"), found=found)
    for body in (consumer.group.body, consumer.job.body):
        for update in values.blocks(body, "update"):
            if update.get("canary"):
                yield Hit(code="claim-with-canary", line=update.at("canary"), found=f"canary = {update['canary']}")


def _mounts(consumer: Consumer) -> Iterator[Hit]:
    for task in consumer.group.tasks:
        mounts = [
            block for block in values.blocks(task.body, "volume_mount") if block.get("volume") == consumer.request.name
        ]
        if mounts and task.driver in _NO_MOUNTS:
            yield Hit(code="mount-not-supported", line=mounts[0].line, found=f"a volume_mount in a {task.driver} task")

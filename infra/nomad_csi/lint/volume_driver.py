"""What is wrong with a volume file for its driver, by the driver's row of the catalogue."""

from collections.abc import Iterator

from nomad_csi.drivers import model as drivers
from nomad_csi.findings import Finding
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.lint.model import LintedVolume, at_line
from nomad_csi.spec import driver_volumes, names


def check(volume: LintedVolume) -> Iterator[Finding]:
    """Yield what the driver of *volume* would refuse, or not find."""
    driver = volume.driver
    if driver is None:
        return
    yield from _modes(volume, driver)
    yield from _topology(volume, driver)
    yield from _external_id(volume, driver)
    yield from _context(volume, driver)
    yield from _parameters(volume, driver)
    yield from _file_system(volume, driver)


def _modes(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    legacy = [(jobs.text(volume.content, name)) for name in ("access_mode", "attachment_mode")]
    given = [*volume.modes, *([(legacy[0], legacy[1], volume.content.at("access_mode"))] if all(legacy) else [])]
    form = _form(volume, driver)
    modes = driver.modes | {(item.access_mode, item.attachment_mode) for item in (form.capabilities if form else ())}
    for access_mode, attachment_mode, line in given:
        if (access_mode, attachment_mode) not in modes:
            served = ", ".join(f"{first} {second}" for first, second in sorted(modes))
            found = f"{access_mode} {attachment_mode} with {driver.called}"
            yield at_line("access-mode-unserved", line, found, driver.modes_advice or f"use {served}")


def _form(volume: LintedVolume, driver: drivers.Driver) -> driver_volumes.ExternalIdFormSpec | None:
    """Return the form of the volume's external id, where other rules hold under it."""
    return driver.external_id.form(jobs.text(volume.content, "external_id"))


def _segments(volume: LintedVolume) -> list[values.Map]:
    return [
        segments
        for request in values.blocks(volume.content, "topology_request")
        for required in values.blocks(request, "required")
        for topology in values.blocks(required, "topology")
        for segments in values.blocks(topology, "segments")
    ]


def _topology(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    segments = [item for item in _segments(volume) if item]
    form = _form(volume, driver)
    zoned = driver.topology_key and (form is None or form.zoned)
    if zoned and not segments and "topology_request" not in volume.content:
        fix = f'add a topology_request whose required topology has segments = {{ "{driver.topology_key}" = "..." }}'
        yield at_line("topology-missing", volume.content.line, f"no zone for {driver.called}", fix)
    known = {driver.topology_key, *driver.topology_keys}
    for block in segments:
        for key in block:
            if driver.topology_key and key not in known:
                found = f"the segment key {key!a} with {driver.called}"
                yield at_line("topology-key-unknown", block.at(key), found, f"use {driver.topology_key}")
            elif names.is_region(key, jobs.text(block, key)):
                fix = f"write {names.a_zone_of(jobs.text(block, key))}"
                yield at_line("topology-zone-region", block.at(key), f"the region {block[key]!a} as {key}", fix)


def _external_id(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    external_id = jobs.text(volume.content, "external_id")
    line = volume.content.at("external_id")
    if external_id and not driver.registers:
        yield at_line("volume-only-created", line, f"an external id with {driver.called}")
    elif external_id and not driver.external_id.fits(external_id):
        found = f"{external_id[:60]!a} with {driver.called}"
        yield at_line("external-id-form", line, found, f"use {driver.external_id.allowed}")


def _context(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    form = _form(volume, driver)
    keys = (form.context if form else None) or driver.context
    given = {key: str(value) for block in values.blocks(volume.content, "context") for key, value in block.items()}
    for block in values.blocks(volume.content, "context"):
        for key in block:
            refused, known = keys.entry(keys.refused, key), keys.entry(keys.values, key)
            if refused is not None or not keys.takes(key):
                fix = refused or f"remove it; {driver.called} takes {', '.join(sorted(keys.allowed or ()))}"
                found = f"the context key {key!a} with {driver.called}"
                yield at_line("context-key-unknown", block.at(key), found, fix)
            elif known is not None and given[key] not in known:
                fix = f"use one of {', '.join(sorted(known))}"
                yield at_line("context-value-unknown", block.at(key), f"{given[key]!a} as {key}", fix)
    if "external_id" in volume.content:
        for key in keys.missing(given):
            name = key.replace("|", " or ")
            found = f"no context key {name} for {driver.called}"
            yield at_line("context-key-missing", volume.content.at("context"), found, f"add {name}")


def _parameters(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    for block in values.blocks(volume.content, "parameters"):
        for key in block:
            refused = driver.parameters.entry(driver.parameters.refused, key)
            if refused is not None or not driver.parameters.takes(key):
                fix = refused or ""
                found = f"the parameter {key!a} with {driver.called}"
                yield at_line("parameter-unknown", block.at(key), found, fix)


def _file_system(volume: LintedVolume, driver: drivers.Driver) -> Iterator[Finding]:
    options = values.block(volume.content, "mount_options")
    fs_type = jobs.text(options, "fs_type")
    if fs_type and driver.fs_types is not None and fs_type not in driver.fs_types:
        known = ", ".join(sorted(filter(None, driver.fs_types)))
        found = f"fs_type {fs_type!a} with {driver.called}"
        yield at_line("fs-type-unknown", options.at("fs_type"), found, f"use one of {known}")

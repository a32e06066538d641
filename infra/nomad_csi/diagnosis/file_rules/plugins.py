"""Check the job of a plugin: type, count, restarts, timeouts, its task and the arguments of its driver."""

import itertools
from collections.abc import Iterator

from nomad_csi.diagnosis.file_rules.subjects import LintedPlugin, finding_at_line
from nomad_csi.drivers import catalogue, recognise
from nomad_csi.findings import Finding
from nomad_csi.hcl import values
from nomad_csi.migration import differences, model
from nomad_csi.spec import names
from nomad_csi.spec import plugin as plugin_spec
from nomad_csi.text import secrets

_TYPES = ("controller", "node", "monolith")
_DEFAULT_HEALTH_TIMEOUT_S = 30


def _kind(plugin: LintedPlugin) -> Iterator[Finding]:
    block = plugin.plugin
    roles = tuple(plugin.driver.roles) if plugin.driver else _TYPES
    # A process with both roles may run as controller or node only; that is the operator's choice.
    is_one_process = plugin.driver is not None and plugin.driver.both_in_one_process
    if block.type == "monolith" and plugin.driver is not None and is_one_process:
        evidence = f"type 'monolith' with {plugin.driver.called}"
        yield finding_at_line("monolith-not-split", block.body.at("type"), evidence)
    elif block.type not in roles and not (block.type in _TYPES and (is_one_process or "monolith" in roles)):
        evidence = f"type {block.type!a}" + (f" with {plugin.driver.called}" if plugin.driver else "")
        yield finding_at_line("plugin-type-unknown", block.body.at("type"), evidence, f"use {' or '.join(roles)}")
    if not names.PLUGIN_ID.fullmatch(block.id):
        yield finding_at_line("plugin-id-form", block.body.at("id"), f"the id {block.id!a}")
    if block.type == "node" and plugin.job.type == "service":
        yield finding_at_line("node-not-everywhere", plugin.job.body.at("type"), "a node plugin as a service job")


def _instances(plugin: LintedPlugin) -> Iterator[Finding]:
    count, line = plugin.group.count or 1, plugin.group.body.at("count")
    distinct = [block for block in plugin.constraints if model.is_distinct_hosts(block)]
    limit = plugin.role.count_limit if plugin.role else None
    if plugin.job.type == "system":
        return
    if limit is not None and count > limit:
        why = f": {plugin.role.count_advice}" if plugin.role and plugin.role.count_advice else ""
        evidence = f"{count} instances, and at most {limit} are safe{why}"
        yield finding_at_line("controllers-too-many", line, evidence, f"use count = {limit}")
    if count > 1 and not distinct:
        yield finding_at_line("distinct-hosts-missing", line, f"{count} instances on any clients")


def _restart(plugin: LintedPlugin) -> Iterator[Finding]:
    blocks = plugin.restarts
    mode = blocks[0].get("mode") if blocks else None
    if mode != "delay":
        line = blocks[0].at("mode") if blocks else plugin.group.body.line
        evidence = f"mode {mode!a}" if mode else "no restart mode, which is fail"
        yield finding_at_line("restart-gives-up", line, evidence)


def _health_timeout(plugin: LintedPlugin) -> Iterator[Finding]:
    if plugin.driver is None:
        return
    given, wanted = plugin.plugin.health_timeout_s, plugin.driver.health_timeout_s
    if (given or _DEFAULT_HEALTH_TIMEOUT_S) < wanted:
        evidence = f"{given:g} s" if given else f"none, which is {_DEFAULT_HEALTH_TIMEOUT_S} s"
        fix = f'set health_timeout = "{wanted}s" in the csi_plugin block'
        yield finding_at_line("health-timeout-short", plugin.plugin.body.at("health_timeout"), evidence, fix)


# Check the task of a plugin, except its arguments: image, privilege, network, folders, config.


def _is_container(plugin: LintedPlugin) -> bool:
    return plugin.task.driver in plugin_spec.CONTAINERS


def _image(plugin: LintedPlugin) -> Iterator[Finding]:
    image, line = plugin.task.image, plugin.task.config.at("image")
    if not image or not _is_container(plugin):
        return
    unusable = recognise.recognise_unusable(image)
    if unusable is not None:
        yield finding_at_line("driver-unusable", line, f"{unusable.title}: {unusable.reason}", unusable.instead)
        return
    tag = recognise.tag(image)
    if recognise.is_unpinned(image):
        yield finding_at_line("image-unpinned", line, f"the image {image}")
    if plugin.driver is None:
        return
    newest = recognise.tag(plugin.driver.image)
    if tag not in {"", "latest", newest}:
        evidence = f"version {tag}; the catalogue has {newest}"
        yield finding_at_line("image-other-version", line, evidence)


def _privilege(plugin: LintedPlugin) -> Iterator[Finding]:
    if not _is_container(plugin):
        return
    config = plugin.task.config
    given = config.get("privileged") is True
    mounts = plugin.role.privileged if plugin.role else plugin.plugin.type in {"node", "monolith"}
    if mounts and not given:
        yield finding_at_line("privilege-missing", config.line, f"no privileged = true for a {plugin.plugin.type}")
    if given and plugin.role is not None and not mounts and not plugin.runs_own_command:
        yield finding_at_line("privilege-needless", config.at("privileged"), "privileged = true")


def _network(plugin: LintedPlugin) -> Iterator[Finding]:
    if not _is_container(plugin) or plugin.role is None or plugin.role.network_mode != "host":
        return
    config = plugin.task.config
    of_group = values.block(plugin.group.body, "network").get("mode")
    given = config.get("network_mode", of_group)
    if given != "host":
        evidence = f"network_mode {given!a}" if given else "a network of the container's own"
        yield finding_at_line("host-network-missing", config.at("network_mode"), evidence)


def _folders(plugin: LintedPlugin) -> Iterator[Finding]:
    if not _is_container(plugin) or plugin.role is None:
        return
    config = plugin.task.config
    mounted = {item.split(":")[1] for item in values.texts(config, "volumes") if ":" in item}
    mounted |= {str(item.get("target")) for name in ("mount", "mounts") for item in values.blocks(config, name)}
    for bind in plugin.role.binds:
        if "{" not in bind and bind.split(":")[1].rstrip("/") not in {folder.rstrip("/") for folder in mounted}:
            evidence = f"{bind.split(':')[1]} is not mounted"
            yield finding_at_line("folder-missing", config.at("volumes"), evidence, f'add "{bind}" to volumes')


def _stage_folder(plugin: LintedPlugin) -> Iterator[Finding]:
    block = plugin.plugin
    if plugin.task.driver == "raw_exec" and block.type in {"node", "monolith"} and not block.stage_publish_base_dir:
        yield finding_at_line("stage-folder-missing", block.body.line, "raw_exec without stage_publish_base_dir")


def _environment(plugin: LintedPlugin) -> Iterator[Finding]:
    env = plugin.task.env
    keys = secrets.keys_of(env)
    if keys:
        yield finding_at_line("secret-in-environment", env.at(keys[0]), f"what looks like one: {', '.join(keys)}")


# Check its arguments against the driver's row of the catalogue.


def _secrets(plugin: LintedPlugin) -> Iterator[Finding]:
    for argument in plugin.task.shown_arguments:
        if secrets.argument_has_secret(argument):
            text = f"what looks like one in --{catalogue.flag_name(argument)}" if argument.startswith("-") else "one"
            yield finding_at_line("secret-in-argument", plugin.task.config.at("args"), text)


def _endpoint(plugin: LintedPlugin) -> Iterator[Finding]:
    wanted = f"{plugin.plugin.mount_dir.rstrip('/')}/csi.sock"
    for argument in plugin.task.shown_arguments:
        name, value = catalogue.flag_name(argument), argument.partition("=")[2]
        if name not in catalogue.ENDPOINT_FLAGS or not value or "${" in value or value.startswith("tcp:"):
            continue
        line = plugin.task.config.at("args")
        path = "/" + value.removeprefix("unix:").lstrip("/")
        if path != wanted and plugin.task.driver != "raw_exec":
            evidence = f"the socket at {path}, which Nomad looks for at {wanted}"
            yield finding_at_line("endpoint-elsewhere", line, evidence)
        else:
            yield finding_at_line("endpoint-written-out", line, f"the socket as {value}")


def _words(plugin: LintedPlugin) -> Iterator[Finding]:
    driver = plugin.driver
    if driver is None or plugin.runs_own_command:
        return
    given, line = plugin.task.arguments, plugin.task.config.at("args")
    firsts = {role.arguments[0]: name for name, role in driver.roles.items()}
    modes = {word: name for word, name in firsts.items() if catalogue.is_word(word)}
    if not modes:
        has_known_flags = any(role.flags is not None for role in driver.roles.values())
        for before, word in itertools.pairwise(["", *given]) if has_known_flags else ():
            is_value = before.startswith("-") and "=" not in before
            if catalogue.is_word(word) and not is_value:
                yield finding_at_line("positional-word", line, f"{word!a} with {driver.called}")
        return
    known = {**modes, **catalogue.MODE_WORDS.get(driver.name, {})}
    first = given[0] if given and catalogue.is_word(given[0]) else ""
    if first and first not in known:
        fix = f"use {' or '.join(sorted(known))}"
        yield finding_at_line("mode-word-unknown", line, f"{first!a} with {driver.called}", fix)
    elif known.get(first, "monolith") != plugin.plugin.type:
        evidence = f"{first!a}, and csi_plugin type {plugin.plugin.type!a}" if first else "no mode word"
        yield finding_at_line("mode-word-differs", line, evidence)


def _flags(plugin: LintedPlugin) -> Iterator[Finding]:
    role, driver = plugin.role, plugin.driver
    if role is None or role.flags is None or driver is None or plugin.runs_own_command:
        return
    for argument in plugin.task.shown_arguments:
        name, line = catalogue.flag_name(argument), plugin.task.config.at("args")
        if name in catalogue.NAME_FLAGS and name in role.unfit_flags:
            given = argument.partition("=")[2]
            if given != driver.provider:
                evidence = f"the name {given!a}; {driver.called} is {driver.provider!a} without the flag"
                yield finding_at_line("driver-renamed", line, evidence)
            continue
        text, code = differences.refusal(argument, role, driver) or ("", "")
        if code:
            yield finding_at_line(code, line, text)


CHECKS = (
    _kind, _instances, _restart, _health_timeout, _image, _privilege, _network, _folders, _stage_folder, _environment,
    _secrets, _endpoint, _words, _flags,
)  # fmt: skip

"""What is wrong with the task of a plugin, but for its arguments: image, privilege, network, folders, config."""

from collections.abc import Iterator
from typing import Any

from nomad_csi.drivers import recognise
from nomad_csi.findings import Finding
from nomad_csi.hcl import task_drivers, values
from nomad_csi.lint.model import LintedPlugin, at_line
from nomad_csi.spec import plugin_jobs
from nomad_csi.text import secrets


def check(plugin: LintedPlugin) -> Iterator[Finding]:
    """Yield what is wrong with the task of *plugin*."""
    if plugin.task.driver in plugin_jobs.CONTAINERS:
        yield from _image(plugin)
        yield from _privilege(plugin)
        yield from _network(plugin)
        yield from _folders(plugin)
    yield from _stage_folder(plugin)
    yield from _environment(plugin)
    yield from _config_keys(plugin)
    yield from _questions(plugin)


def _image(plugin: LintedPlugin) -> Iterator[Finding]:
    image, line = plugin.task.image, plugin.task.config.at("image")
    if not image:
        return
    tag = recognise.tag(image)
    if tag in {"", "latest"} and "@" not in image:
        yield at_line("image-unpinned", line, f"the image {image}")
    if plugin.driver is None:
        return
    wanted = recognise.repository(plugin.driver.image)
    if not (recognise.is_published(image, plugin.driver) or recognise.is_mirrored(image, plugin.driver)):
        found = f"{recognise.repository(image)} in place of {wanted}"
        yield at_line("image-elsewhere", line, found, f"take it from {wanted}, or a mirror of that")
    newest = recognise.tag(plugin.driver.image)
    if tag not in {"", "latest", newest}:
        found = f"version {tag}; the catalogue has {newest}"
        yield at_line("image-other-version", line, found)


def _privilege(plugin: LintedPlugin) -> Iterator[Finding]:
    config = plugin.task.config
    given = config.get("privileged") is True
    mounts = plugin.role.privileged if plugin.role else plugin.plugin.type in {"node", "monolith"}
    if mounts and not given:
        yield at_line("privilege-missing", config.line, f"no privileged = true for a {plugin.plugin.type}")
    if given and plugin.role is not None and not mounts:
        yield at_line("privilege-needless", config.at("privileged"), "privileged = true")


def _network(plugin: LintedPlugin) -> Iterator[Finding]:
    if plugin.role is None or plugin.role.network_mode != "host":
        return
    config = plugin.task.config
    of_group = values.block(plugin.group.body, "network").get("mode")
    given = config.get("network_mode", of_group)
    if given != "host":
        found = f"network_mode {given!a}" if given else "a network of the container's own"
        yield at_line("host-network-missing", config.at("network_mode"), found)


def _folders(plugin: LintedPlugin) -> Iterator[Finding]:
    if plugin.role is None:
        return
    config = plugin.task.config
    listed = config.get("volumes", [])
    mounted = {str(item).split(":")[1] for item in listed if ":" in str(item)} if isinstance(listed, list) else set()
    mounted |= {str(item.get("target")) for name in ("mount", "mounts") for item in values.blocks(config, name)}
    for bind in plugin.role.binds:
        if "{" not in bind and bind.split(":")[1].rstrip("/") not in {folder.rstrip("/") for folder in mounted}:
            found = f"{bind.split(':')[1]} is not mounted"
            yield at_line("folder-missing", config.at("volumes"), found, f'add "{bind}" to volumes')


def _stage_folder(plugin: LintedPlugin) -> Iterator[Finding]:
    block = plugin.plugin
    if plugin.task.driver == "raw_exec" and block.type in {"node", "monolith"} and not block.stage_publish_base_dir:
        yield at_line("stage-folder-missing", block.body.line, "raw_exec without stage_publish_base_dir")


def _environment(plugin: LintedPlugin) -> Iterator[Finding]:
    env = plugin.task.env
    found = secrets.keys_of(env)
    if found:
        yield at_line("secret-in-environment", env.at(found[0]), f"what looks like one: {', '.join(found)}")


def _config_keys(plugin: LintedPlugin) -> Iterator[Finding]:
    for key, fix in task_drivers.unknown_keys(plugin.task.driver, plugin.task.config):
        found = f"{key!a} in the config of {plugin.task.driver}"
        yield at_line("config-key-unknown", plugin.task.config.at(key), found, fix)


def _questions(plugin: LintedPlugin) -> Iterator[Finding]:
    templates = values.blocks(plugin.task.body, "template")
    if any(template.get("env") is True for template in templates):
        return  # a template may bring any name into the environment
    known = frozenset(plugin.task.env)
    for text, line in _texts(plugin.task.config, plugin.task.config.line):
        for question in task_drivers.strange_questions(text, known):
            yield at_line("runtime-variable-unknown", line, question)


def _texts(value: Any, line: int) -> Iterator[tuple[str, int]]:
    """Yield each text inside *value* with its line."""
    if isinstance(value, values.Map):
        for key, item in value.items():
            yield from _texts(item, value.at(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, values.line_of(value, index, line))
    elif isinstance(value, str):
        yield value, line

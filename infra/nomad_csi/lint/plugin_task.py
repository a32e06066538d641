"""What is wrong with the task of a plugin, but for its arguments: image, privilege, network, folders, config."""

from collections.abc import Iterator
from typing import Any

from nomad_csi.drivers import recognise
from nomad_csi.hcl import task_drivers, values
from nomad_csi.lint.model import Hit, Plugin
from nomad_csi.spec import plugin_jobs
from nomad_csi.text import secrets


def check(plugin: Plugin) -> Iterator[Hit]:
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


def _image(plugin: Plugin) -> Iterator[Hit]:
    image, line = plugin.task.image, plugin.task.config.at("image")
    if not image:
        return
    tag = recognise.tag(image)
    if tag in {"", "latest"} and "@" not in image:
        yield Hit(code="image-unpinned", line=line, found=f"the image {image}")
    if plugin.driver is None:
        return
    wanted = recognise.repository(plugin.driver.image)
    if not (recognise.is_published(image, plugin.driver) or recognise.is_mirrored(image, plugin.driver)):
        found = f"{recognise.repository(image)} in place of {wanted}"
        yield Hit(code="image-elsewhere", line=line, found=found, fix=f"take it from {wanted}, or a mirror of that")
    if tag not in {"", "latest", plugin.driver.version, recognise.tag(plugin.driver.image)}:
        found = f"version {tag}; the catalogue has {plugin.driver.version}"
        yield Hit(code="image-other-version", line=line, found=found)


def _privilege(plugin: Plugin) -> Iterator[Hit]:
    config = plugin.task.config
    given = config.get("privileged") is True
    mounts = plugin.role.privileged if plugin.role else plugin.plugin.type in {"node", "monolith"}
    if mounts and not given:
        yield Hit(code="privilege-missing", line=config.line, found=f"no privileged = true for a {plugin.plugin.type}")
    if given and plugin.role is not None and not mounts:
        yield Hit(code="privilege-needless", line=config.at("privileged"), found="privileged = true")


def _network(plugin: Plugin) -> Iterator[Hit]:
    if plugin.role is None or plugin.role.network_mode != "host":
        return
    config = plugin.task.config
    of_group = values.block(plugin.group.body, "network").get("mode")
    given = config.get("network_mode", of_group)
    if given != "host":
        found = f"network_mode {given!a}" if given else "a network of the container's own"
        yield Hit(code="host-network-missing", line=config.at("network_mode"), found=found)


def _folders(plugin: Plugin) -> Iterator[Hit]:
    if plugin.role is None:
        return
    config = plugin.task.config
    listed = config.get("volumes", [])
    mounted = {str(item).split(":")[1] for item in listed if ":" in str(item)} if isinstance(listed, list) else set()
    mounted |= {str(item.get("target")) for name in ("mount", "mounts") for item in values.blocks(config, name)}
    for bind in plugin.role.binds:
        if "{" not in bind and bind.split(":")[1].rstrip("/") not in {folder.rstrip("/") for folder in mounted}:
            found = f"{bind.split(':')[1]} is not mounted"
            yield Hit(code="folder-missing", line=config.at("volumes"), found=found, fix=f'add "{bind}" to volumes')


def _stage_folder(plugin: Plugin) -> Iterator[Hit]:
    block = plugin.plugin
    if plugin.task.driver == "raw_exec" and block.type in {"node", "monolith"} and not block.stage_publish_base_dir:
        yield Hit(code="stage-folder-missing", line=block.body.line, found="raw_exec without stage_publish_base_dir")


def _environment(plugin: Plugin) -> Iterator[Hit]:
    env = plugin.task.env
    found = secrets.keys_of(env)
    if found:
        yield Hit(code="secret-in-environment", line=env.at(found[0]), found=f"what looks like one: {', '.join(found)}")


def _config_keys(plugin: Plugin) -> Iterator[Hit]:
    for key, fix in task_drivers.unknown_keys(plugin.task.driver, plugin.task.config):
        found = f"{key!a} in the config of {plugin.task.driver}"
        yield Hit(code="config-key-unknown", line=plugin.task.config.at(key), found=found, fix=fix)


def _questions(plugin: Plugin) -> Iterator[Hit]:
    templates = values.blocks(plugin.task.body, "template")
    if any(template.get("env") is True for template in templates):
        return  # a template may bring any name into the environment
    known = frozenset(plugin.task.env)
    for text, line in _texts(plugin.task.config, plugin.task.config.line):
        for question in task_drivers.strange_questions(text, known):
            yield Hit(code="runtime-variable-unknown", line=line, found=question)


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

"""Check the arguments of a plugin against its driver's row of the catalogue."""

from collections.abc import Iterator

from nomad_csi.drivers import arguments
from nomad_csi.drivers import model as drivers
from nomad_csi.findings import Finding
from nomad_csi.lint.model import LintedPlugin, finding_at_line
from nomad_csi.text import secrets


def _secrets(plugin: LintedPlugin) -> Iterator[Finding]:
    for index, argument in enumerate(plugin.task.written_arguments):
        if secrets.argument_has_secret(argument):
            found = f"what looks like one in --{arguments.flag_name(argument)}" if argument.startswith("-") else "one"
            yield finding_at_line("secret-in-argument", plugin.task.line_of_argument(index), found)


def _endpoint(plugin: LintedPlugin) -> Iterator[Finding]:
    wanted = f"{plugin.mount_dir.rstrip('/')}/csi.sock"
    for index, argument in enumerate(plugin.task.written_arguments):
        name, value = arguments.flag_name(argument), argument.partition("=")[2]
        if name not in arguments.ENDPOINT_FLAGS or not value or "${" in value or value.startswith("tcp:"):
            continue
        line = plugin.task.line_of_argument(index)
        path = "/" + value.removeprefix("unix:").lstrip("/")
        if path != wanted and plugin.task.driver != "raw_exec":
            found = f"the socket at {path}, which Nomad looks for at {wanted}"
            yield finding_at_line("endpoint-elsewhere", line, found)
        else:
            yield finding_at_line("endpoint-written-out", line, f"the socket as {value}")


def _words(plugin: LintedPlugin) -> Iterator[Finding]:
    driver = plugin.driver
    if driver is None:
        return
    if plugin.runs_own_command:
        config = plugin.task.config
        name = next(name for name in ("entrypoint", "command") if name in config)
        yield finding_at_line("command-unchecked", config.at(name), f"{name} of its own with {driver.called}")
        return
    modes = {role.arguments[0]: name for name, role in driver.roles.items() if _is_plain(role.arguments[:1])}
    given = plugin.task.arguments
    words = [(index, argument) for index, argument in enumerate(given) if _is_plain((argument,))]
    if not modes:
        yield from _no_words(plugin, driver, words)
        return
    known = {**modes, **arguments.MODE_WORDS.get(driver.name, {})}
    first = given[0] if given and _is_plain(given[:1]) else ""
    line = plugin.task.line_of_argument(0)
    if first and first not in known:
        fix = f"use {' or '.join(sorted(known))}"
        yield finding_at_line("mode-word-unknown", line, f"{first!a} with {driver.called}", fix)
    elif known.get(first, "monolith") != plugin.plugin.type:
        found = f"{first!a}, and csi_plugin type {plugin.plugin.type!a}" if first else "no mode word"
        yield finding_at_line("mode-word-differs", line, found)


def _no_words(plugin: LintedPlugin, driver: drivers.Driver, words: list[tuple[int, str]]) -> Iterator[Finding]:
    if all(role.flags is None for role in driver.roles.values()):
        return
    for index, word in words:
        before = plugin.task.arguments[index - 1] if index else ""
        if before.startswith("-") and "=" not in before:
            continue  # the value of the preceding flag
        yield finding_at_line("positional-word", plugin.task.line_of_argument(index), f"{word!a} with {driver.called}")


def _is_plain(given: tuple[str, ...] | list[str]) -> bool:
    return bool(given) and arguments.is_word(given[0])


def _flags(plugin: LintedPlugin) -> Iterator[Finding]:
    role, driver = plugin.role, plugin.driver
    if role is None or role.flags is None or driver is None or plugin.runs_own_command:
        return
    known = role.flags | set(role.unfit_flags)
    others = {flag for other in driver.roles.values() for flag in (other.flags or frozenset())}
    for index, argument in enumerate(plugin.task.written_arguments):
        name = arguments.flag_name(argument)
        line = plugin.task.line_of_argument(index)
        if not name:
            continue
        if name in arguments.WITHOUT_EFFECT.get(driver.name, frozenset()):
            yield finding_at_line("flag-without-effect", line, f"--{name} with {driver.called}")
        elif name in arguments.NAME_FLAGS and name in role.unfit_flags:
            yield from _driver_name(argument.partition("=")[2], line, driver)
        elif name in role.unfit_flags:
            why = role.unfit_flags[name]
            yield finding_at_line("flag-unfit", line, f"--{name} with {driver.called}: {why}")
        elif name not in known:
            yield _strange(name, line, driver, others)
    given = arguments.flags(plugin.task.written_arguments)
    for names in role.exclusive_flags:
        both = sorted(names & given)
        if len(both) > 1:
            found = " and ".join(f"--{name}" for name in both)
            yield finding_at_line("flags-exclusive", plugin.task.config.at("args"), found)


def _driver_name(name: str, line: int, driver: drivers.Driver) -> Iterator[Finding]:
    if name != driver.provider:
        found = f"the name {name!a}; {driver.called} is {driver.provider!a} without the flag"
        yield finding_at_line("driver-renamed", line, found)


def _strange(name: str, line: int, driver: drivers.Driver, others: set[str]) -> Finding:
    found = f"--{name} with {driver.called}"
    if name in others:
        return finding_at_line("flag-of-other-part", line, found)
    return finding_at_line("flag-for-logs" if name in arguments.KLOG_FLAGS else "flag-unknown", line, found)


CHECKS = (_secrets, _endpoint, _words, _flags)

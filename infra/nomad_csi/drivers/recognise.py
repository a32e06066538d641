"""
Recognise the driver of the catalogue that a foreign job or volume uses. Pure.

A plugin is recognised by the last part of its image's name, or of its command, and of several drivers in one image by
their first argument; else by a plugin id that is the driver's own name or begins with the catalogue's name of it, if
all its flags are the driver's. A volume is recognised by what only one driver has: a topology key, required context
keys, the form of its external id, unless that is a number; else by its plugin id.
"""

from collections.abc import Iterable, Mapping, Sequence

from nomad_csi.drivers import catalogue


def recognise_plugin(
    *, image: str = "", command: str = "", plugin_id: str = "", arguments: Sequence[str] = ()
) -> catalogue.Driver | None:
    """Return the driver that a task runs; ``None`` where it is not in the catalogue."""
    for program in (_program(image), command.rpartition("/")[2]):
        drivers = [driver for driver in catalogue.DRIVERS.values() if program == _program(driver.image)]
        if len(drivers) > 1:
            return next((driver for driver in drivers if _is_chosen(driver, arguments)), None)
        if drivers:
            return drivers[0]
    given = catalogue.flags(arguments)
    for driver in catalogue.DRIVERS.values():
        known = [role.flags | set(role.unfit_flags) for role in driver.roles.values() if role.flags is not None]
        if _is_named(plugin_id, driver) and any(given <= names for names in known):
            return driver
    return None


def recognise_unusable(image: str) -> catalogue.Unusable | None:
    """Return the driver that cannot run on Nomad and has this *image*; ``None`` where none is known."""
    rows = catalogue.UNUSABLE.values()
    return next((row for row in rows if _program(image) in {_program(known) for known in row.images}), None)


def recognise_volume(
    *,
    plugin_id: str = "",
    external_id: str = "",
    context: Mapping[str, object] | None = None,
    topology_keys: Iterable[str] = (),
) -> catalogue.Driver | None:
    """Return the driver of a volume; ``None`` where none or several match."""
    drivers = tuple(catalogue.DRIVERS.values())
    keys = set(topology_keys)
    by_topology = [driver for driver in drivers if keys & {driver.topology_key, *driver.topology_keys}]
    by_context = _match_context(drivers, context or {})
    by_external_id = [
        driver
        for driver in drivers
        if driver.external_id.pattern != ".+" and not external_id.isdigit() and driver.external_id.fits(external_id)
    ]
    by_name = [driver for driver in drivers if _is_named(plugin_id, driver)]
    named = [matches for matches in (by_topology, by_context, by_external_id, by_name) if len(matches) == 1]
    return named[0][0] if named else None


def _match_context(drivers: Iterable[catalogue.Driver], context: Mapping[str, object]) -> list[catalogue.Driver]:
    """Return the drivers with all required keys in *context*, and of these the ones with the most required keys."""
    asked = {
        driver.name: _wanted(driver, context)
        for driver in drivers
        if driver.context.required and driver.context.required <= set(context)
    }
    most = max((len(keys & set(context)) for keys in asked.values()), default=0)
    return [driver for driver in drivers if len(asked.get(driver.name, set()) & set(context)) == most > 0]


def _wanted(driver: catalogue.Driver, context: Mapping[str, object]) -> set[str]:
    wanted = set(driver.context.required)
    for key, by_value in driver.context.required_with.items():
        wanted |= by_value.get(str(context.get(key)), frozenset())
    return wanted


def _program(image: str) -> str:
    return repository(image).rpartition("/")[2]


def _is_chosen(driver: catalogue.Driver, words: Iterable[str]) -> bool:
    """Return whether *words* have the argument that chooses *driver* in an image of several: its first one."""
    chosen = {role.arguments[0].lstrip("-") for role in driver.roles.values()}
    return any(argument.lstrip("-") in chosen for _, argument in catalogue.joined(words))


def repository(image: str) -> str:
    """Return *image* without tag and digest: ``repository("a.example:5000/b:v1")`` is ``"a.example:5000/b"``."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def is_published(image: str, driver: catalogue.Driver) -> bool:
    """Return whether *image* is in the registry of *driver*'s project; ``docker.io/`` may be omitted."""
    images = (repository(image), repository(driver.image))
    own, known = (each.removeprefix("docker.io/") for each in images)
    return own == known


def mirror(image: str, driver: catalogue.Driver) -> str:
    """Return the registry where *image* has the path of *driver*'s published image; empty where the path differs."""
    _, _, path = repository(driver.image).partition("/")
    head, _, rest = repository(image).rpartition(f"/{path}")
    return "" if rest else head


def tag(image: str) -> str:
    """Return the tag of *image*; empty where it has none."""
    return image.partition("@")[0].removeprefix(repository(image)).removeprefix(":")


def is_unpinned(image: str) -> bool:
    """Return whether *image* is not pinned: neither a digest nor a tag other than ``latest``."""
    return "@" not in image and tag(image) in {"", "latest"}


def _is_named(plugin_id: str, driver: catalogue.Driver) -> bool:
    return plugin_id == driver.provider or plugin_id.rstrip("0123456789").rstrip("-_.") == driver.name

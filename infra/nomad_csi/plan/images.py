"""Which image a plugin runs: the catalogue's or its own, from a mirror, with a digest; and its version. Pure text."""

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.drivers import model as drivers
from nomad_csi.spec import model as spec


def driver(plugin: spec.PluginSpec) -> spec.DriverSpec | None:
    """
    Return the driver of *plugin* in the version that its image has; ``None``: it is not in the catalogue.

    With a version whose arguments are not known it is that of the catalogue.
    """
    row = catalogue.find(plugin.driver)
    return row if row is None else version_of(plugin, row) or row


def version_of(plugin: spec.PluginSpec, row: spec.DriverSpec) -> spec.DriverSpec | None:
    """Return the driver *row* in the version of the plugin's image; ``None``: its arguments are not known."""
    if plugin.image is None or not isinstance(row, drivers.Driver):
        return row
    return catalogue.of_version(row, recognise.tag(plugin.image))


def is_unpinned(plugin: spec.PluginSpec) -> bool:
    """Return whether the plugin's own image has no version: neither a digest nor a tag other than ``latest``."""
    named = plugin.image or ""
    return bool(named) and not plugin.image_digest and "@" not in named and recognise.tag(named) in {"", "latest"}


def image(plugin: spec.PluginSpec, driver: spec.DriverSpec) -> str:
    """Return the image of *plugin*: ``registry/path/name:tag[@digest]``."""
    named = plugin.image or driver.image
    if plugin.image_registry:
        named = f"{plugin.image_registry}/{_without_registry(named)}"
    digest = plugin.image_digest or (driver.image_digest if plugin.image is None else None)
    return f"{named}@{digest}" if digest else named


def _without_registry(named: str) -> str:
    """Return *named* without its registry: a first part with a dot or a colon in it, or ``localhost``."""
    first, slash, rest = named.partition("/")
    return rest if slash and ("." in first or ":" in first or first == "localhost") else named

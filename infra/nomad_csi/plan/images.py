"""Which image a plugin runs: the catalogue's or its own, from a mirror, with a digest. Pure text."""

from nomad_csi.spec import model as spec


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

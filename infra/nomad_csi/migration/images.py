"""Whose image a plugin runs: the catalogue's, another version, from a mirror, with a digest."""

from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi.drivers import catalogue, recognise
from nomad_csi.drivers import model as drivers
from nomad_csi.migration import model

_UNPINNED = frozenset({"", "latest"})


def in_version(row: drivers.Driver, parts: Sequence[model.Part]) -> drivers.Driver | None:
    """
    Return the driver *row* with the arguments that it takes in the version of the image of *parts*.

    ``None``: these are not known. Without an image, and for one without a version, it is the row itself.
    """
    image = next((part.task.image for part in reversed(parts) if part.task.image), "")
    tag = recognise.tag(image)
    return row if tag in _UNPINNED and "@" not in image else catalogue.of_version(row, tag)


def adopt(driver: drivers.Driver, roles: Mapping[str, model.Part], remarks: model.Remarks) -> dict[str, Any]:
    """Return the fields of a plugin that say which image it runs; none where it is the catalogue's."""
    given = {name: part.task.image for name, part in roles.items() if part.task.image}
    if not given:
        return {}
    name, image = list(given.items())[-1]
    part = roles[name]
    line = part.task.config.at("image")
    if len(set(given.values())) > 1:
        text = f"the jobs of {part.plugin.id} run {' and '.join(sorted(set(given.values())))}; a plugin has one image"
        remarks.add("changed", part.file, line, text)
    repository, tag = recognise.repository(image), recognise.tag(image)
    digest = image.partition("@")[2]
    document = {"image_digest": digest} if digest and digest != driver.image_digest else {}
    if recognise.is_published(image, driver) and tag == recognise.tag(driver.image):
        return document
    if tag in _UNPINNED and not digest:
        return {}  # the job shows another image then, which is said of each
    mirror = _mirror(repository, driver)
    if mirror and tag == recognise.tag(driver.image):
        return document | {"image_registry": mirror}
    text = (
        f"the image {image} is kept, with the arguments that {driver.called} accepts in {driver.version}; "
        f"remove image to run {driver.image}"
    )
    remarks.add("note", part.file, line, text)
    return document | {"image": f"{repository}:{tag}" if tag else repository}


def _mirror(repository: str, driver: drivers.Driver) -> str:
    """Return the registry that has the driver's image under its own path; empty where that is not so."""
    _, _, path = recognise.repository(driver.image).partition("/")
    head = repository.removesuffix(f"/{path}")
    return head if head != repository else ""

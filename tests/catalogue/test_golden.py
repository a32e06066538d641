"""For each driver a spec and the files that it becomes: reviewed by eye as a whole; a volume file is read back."""

from nomad_csi.drivers import catalogue
from nomad_csi.hcl import disk, documents, layout

OWN = "own-"
"""How folders of drivers begin that the catalogue does not have."""


def test_each_driver_of_the_catalogue_has_a_folder(folders):
    """Nobody adds a driver whose files no one has checked."""
    assert {folder.name for folder in folders if not folder.name.startswith(OWN)} == set(catalogue.DRIVERS)
    assert [folder.name for folder in folders if folder.name.startswith(OWN)]


def test_spec_becomes_exactly_the_reviewed_files(folder, plan):
    """A change of a row, a rule or a template shows as a change of a whole file; no file is more, none is less."""
    rendered = dict(documents.render_plan(plan, {}))

    expected = folder / "expected"
    assert rendered == {
        path.relative_to(expected).as_posix(): path.read_text(encoding="utf-8") for path in expected.rglob("*.hcl")
    }


def test_reviewed_files_are_laid_out_and_signed(folder):
    """They are as `nomad fmt` writes them, and known as ours, unedited."""
    for path in (folder / "expected").rglob("*.hcl"):
        text = path.read_text(encoding="utf-8")

        assert layout.layout(text) == text
        assert disk.file_origin(text) == "ours"


def test_spec_uses_every_role_and_way_of_its_driver(folder, plan):
    """The folder shows each role, and each way to a volume that the driver has beside those that Pulumi makes."""
    if folder.name.startswith(OWN):
        return
    driver = catalogue.DRIVERS[folder.name]

    assert {job.role for plugin in plan.plugins for job in plugin.jobs} == set(driver.roles)
    created = {item.made_by_plugin for item in plan.volumes}
    assert created == {True for _ in range(driver.creates)} | {False for _ in range(driver.registers)}


def test_no_secret_of_a_spec_is_in_a_file(folder, plan):
    """The values that stand for secrets in the specs of this directory begin with "not-"."""
    given = {value for item in plan.volumes for value in item.registration.secrets.values()}
    values = {value for value in given if value.startswith("not-")}
    assert bool(values) == bool(given)

    for path in (folder / "expected").rglob("*.hcl"):
        assert [value for value in values if value in path.read_text(encoding="utf-8")] == []

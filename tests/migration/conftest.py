"""What the tests of imports share: some drivers of the catalogue, whatever else it holds, and files by their text."""

import pytest

from nomad_csi.drivers import catalogue
from nomad_csi.hcl import files
from nomad_csi.migration import adopt


@pytest.fixture(autouse=True)
def known_drivers(monkeypatch):
    """Four drivers of the catalogue, so that a driver that somebody adds changes no test here."""
    known = {name: catalogue.DRIVERS[name] for name in ("aws-ebs", "aws-efs", "portworx", "democratic-csi")}
    monkeypatch.setattr(catalogue, "DRIVERS", known)


@pytest.fixture
def adopted():
    """Return a function that imports texts by their file names."""
    return lambda texts, **options: adopt.adopt([files.parse(text, name) for name, text in texts.items()], **options)


@pytest.fixture
def said():
    """Return a function that gives kind and text of all remarks of an import."""
    return lambda adoption: [(remark.kind, remark.text) for remark in adoption.remarks]

"""What the tests of imports share: the catalogue's two drivers of AWS, whatever else it holds, and files by their text."""

import pytest

from nomad_csi.adoption import adopt
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import files


@pytest.fixture(autouse=True)
def only_aws(monkeypatch):
    """The two drivers of AWS, so that a driver that somebody adds changes no test here."""
    known = {name: catalogue.DRIVERS[name] for name in ("aws-ebs", "aws-efs")}
    monkeypatch.setattr(catalogue, "DRIVERS", known)


@pytest.fixture
def adopted():
    """Return a function that imports texts by their file names."""
    return lambda texts, **options: adopt.adopt([files.parse(text, name) for name, text in texts.items()], **options)


@pytest.fixture
def said():
    """Return a function that gives kind and text of all remarks of an import."""
    return lambda adoption: [(remark.kind, remark.text) for remark in adoption.remarks]

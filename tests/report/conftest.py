"""A cluster of the stand-in to report on, its report, and a browser where there is one."""

import importlib.util
import sys
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.deploy import cluster_report
from nomad_csi.render import page as html
from nomad_csi.report import page

TESTS = Path(__file__).parents[1]


def _module(path):
    """Return a file of the tests as a module: they are no package."""
    name = f"report_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def demo():
    """The cluster that the picture is of, in ``tests/report_picture.py``."""
    return _module(TESTS / "report_picture.py")


@pytest.fixture(scope="session")
def hurt_report(demo):
    """The report on 24 clients of which one is down, one is drained, and one has a sick plugin."""
    with demo.running(24, 40) as (host, serving):
        demo.hurt(host)
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            return cluster_report.look(client, cluster_report.Question())


@pytest.fixture(scope="session")
def rendered():
    """Return the page of a report as text."""
    return lambda report: html.html(page.of(report, "1.2.3"), shown_rows=page.ROWS)


@pytest.fixture(scope="session")
def browser(demo):
    """Chromium without a window."""
    if demo.browser() is None:
        pytest.skip("no chromium on PATH")
    with _module(Path(__file__).with_name("browser.py")).Browser(demo.headless()) as found:
        yield found

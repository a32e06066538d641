"""A cluster of the emulator to report on, its report, and a browser where there is one."""

import pytest

from nomad_csi import nomad
from nomad_csi.render import page as html
from nomad_csi.report import cluster_report, page
from tests import programs
from tests import report_picture as demo
from tests.report import browser as headless_browser


@pytest.fixture(scope="session")
def hurt_report():
    """The report on 24 clients of which one is down, one is drained, and one has a sick plugin."""
    with demo.running(24, 40) as (host, serving):
        demo.hurt(host)
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            return cluster_report.build_report(client, cluster_report.ReportOptions())


@pytest.fixture(scope="session")
def rendered():
    """Return the page of a report as text."""
    return lambda report: html.html(page.render_page(report), shown_rows=page.ROWS, tool_version="1.2.3")


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window."""
    if programs.path_of("chromium") is None:
        pytest.skip("no chromium on PATH")
    with headless_browser.Browser(demo.headless()) as found:
        yield found

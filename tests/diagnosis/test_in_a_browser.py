"""The page in Chromium: no script runs, and nothing is wider than the screen."""

import pytest

TITLE = "2 errors, 2 warnings: Storage of 127.0.0.1:"


@pytest.fixture(scope="module")
def path(hurt_report, rendered, tmp_path_factory):
    """The page as a file."""
    made = tmp_path_factory.mktemp("page") / "report.html"
    made.write_text(rendered(hurt_report), encoding="utf-8")
    return made


@pytest.fixture
def shown(browser, path):
    """The browser with the page in it, light, on a large screen."""
    browser.resize(1280)
    browser.prefer("light")
    browser.open(path)
    return browser


def test_script_cannot_run(shown):
    """Whatever would get into the page: the policy stops it."""
    shown.value("document.body.insertAdjacentHTML('beforeend', '<img src=\"x:\" onerror=\"document.title=1\">')")
    shown.value(
        "(() => { const s = document.createElement('script'); s.text = 'document.title=2'; document.body.append(s) })()"
    )

    assert shown.value("document.title").startswith(TITLE)
    assert any("Content Security Policy" in text for text in shown.complaints())


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(shown, width):
    """Opened in full, too: wide tables scroll by themselves, inside of a region of their own."""
    shown.resize(width)
    shown.value("document.querySelectorAll('details').forEach(item => item.open = true)")

    assert shown.value("document.documentElement.scrollWidth") == width
    assert shown.value("document.documentElement.clientWidth") == width


def test_no_table_is_cut_on_a_phone(shown):
    """Whatever is opened: nothing is to be scrolled sideways."""
    shown.resize(390, 844)
    shown.value("document.querySelectorAll('details').forEach(found => { found.open = true })")

    cut = "[...document.querySelectorAll('.t, nav ul, html')].filter(found => found.scrollWidth > found.clientWidth)"
    assert shown.value(f"{cut}.map(found => found.getAttribute('aria-label') || found.tagName)") == []

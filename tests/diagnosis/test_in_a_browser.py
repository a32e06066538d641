"""The page in Chromium: nothing loaded, nothing complained of, read by keyboard and by screen reader, on any screen."""

import pytest

TAB = 9
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


def test_page_loads_nothing_and_nothing_is_complained_of(shown):
    """No request but for the file itself; no line in the console, of the page's own policy neither."""
    assert shown.value("document.title").startswith(TITLE)
    assert [url for url in shown.requests() if not url.startswith("data:")] == []
    assert shown.complaints() == []


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


def test_keyboard_reaches_everything_that_can_be_used(shown):
    """Tab goes through every link, table and fold in the order of the page; each shows that it has the focus."""
    wanted = shown.value("document.querySelectorAll('a, summary, [tabindex=\"0\"]').length")
    hidden = shown.value("document.querySelectorAll('details:not([open]) [tabindex=\"0\"]').length")
    seen = []
    for _ in range(wanted - hidden):
        shown.press("Tab", TAB)
        seen.append(shown.value("document.activeElement.outerHTML.slice(0, 60)"))
        style = shown.value("getComputedStyle(document.activeElement).outlineStyle")
        assert style == "solid", seen[-1]

    kinds = [html.partition(">")[0].split()[0].lstrip("<") for html in seen]
    assert seen[0].startswith('<a class="skip"')
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "a": shown.value("document.querySelectorAll('a').length"),
        "summary": shown.value("document.querySelectorAll('summary').length"),
        "div": wanted - hidden - shown.value("document.querySelectorAll('a, summary').length"),
    }


def test_screen_reader_finds_landmarks_headings_and_tables(shown):
    """What assistive technology is told: each landmark once, each section by its heading, headers of both kinds."""
    nodes = shown.ask("Accessibility.getFullAXTree")["nodes"]
    told = [(item["role"]["value"], item.get("name", {}).get("value", "")) for item in nodes if not item.get("ignored")]
    roles = [role for role, _ in told]

    assert [roles.count(role) for role in ("banner", "navigation", "main", "contentinfo")] == [1, 1, 1, 1]
    headings = ["Problems", "Zones", "Plugins", "Clients", "Volumes", "Claims", "Sources"]
    assert {("region", name) for name in headings} <= set(told)
    assert {("heading", name) for name in headings} <= set(told)
    assert ("columnheader", "Status") in told
    assert ("rowheader", "us-east-1a") in told
    assert any(role == "heading" and name.endswith(" 2 errors, 2 warnings") for role, name in told)


def test_no_table_is_cut_on_a_phone(shown):
    """Whatever is opened: nothing is to be scrolled sideways."""
    shown.resize(390, 844)
    shown.value("document.querySelectorAll('details').forEach(found => { found.open = true })")

    cut = "[...document.querySelectorAll('.t, nav ul, html')].filter(found => found.scrollWidth > found.clientWidth)"
    assert shown.value(f"{cut}.map(found => found.getAttribute('aria-label') || found.tagName)") == []

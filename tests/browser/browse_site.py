#!/usr/bin/env python3
"""The documentation site in a real browser, opened from the disk.

    browse_site.py --browser /usr/bin/chromium --site FOLDER

A line "left out: ..." for each test that the site has nothing for; at the end "N passed, M failed".
"""

import argparse
import pathlib
import sys
import traceback

from playwright.sync_api import sync_playwright

WIDTHS = (390, 1280)
PAGES = ("index.html", "concepts.html", "start/for-clinicians.html", "metrics/ece.html", "gallery.html")


class LeftOut(Exception):
    """The site lacks what a test is about."""


class Site:
    """Opens pages and keeps the addresses that they ask for."""

    def __init__(self, browser, folder):
        self.browser, self.folder, self.asked = browser, folder.resolve(), []

    def open(self, name, width=1280, scheme="light"):
        page = self.browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto((self.folder / name).as_uri())
        return page


def test_search_works_from_a_disk(site):
    page = site.open("index.html")
    page.locator("input[name=query]").click()
    page.wait_for_selector(".md-search-result__meta:has-text('Type to start')", timeout=60000)
    page.keyboard.type("temperature")
    page.wait_for_selector(".md-search-result__item a", timeout=60000)
    links = page.locator(".md-search-result__item a").evaluate_all("all => all.map(a => a.href)")
    assert any("calibrators/temperature" in link for link in links), links


def test_nothing_is_wider_than_the_page(site):
    for name in PAGES:
        for width in WIDTHS:
            page = site.open(name, width)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} wide at {width}"
            page.close()


def test_every_picture_is_shown(site):
    for name in PAGES:
        page = site.open(name)
        broken = page.locator("article img").evaluate_all(
            "all => all.filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
        )
        assert not broken, broken
        page.close()


def test_pictures_can_be_read_on_a_phone(site):
    page = site.open("concepts.html", 360)
    widths = page.locator("article img").evaluate_all("all => all.map(i => i.clientWidth)")
    assert widths and min(widths) >= 240, widths


def test_pages_of_a_list_have_names_of_their_own(site):
    page = site.open("metrics/log.html")
    lists = page.locator(".md-nav--primary .md-nav__list").evaluate_all(
        "all => all.map(list => [...list.querySelectorAll(':scope > li > a')].map(a => a.textContent.trim()))"
    )
    assert max(map(len, lists)) > 50
    for names in lists:
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]


def test_dark_mode_follows_the_reader(site):
    page = site.open("index.html", scheme="dark")
    page.wait_for_function("document.body.getAttribute('data-md-color-scheme') === 'slate'")


def test_the_program_runs_in_the_page_to_try(site):
    if not (site.folder / "try").is_dir():
        raise LeftOut("the page to try (make web)")
    page = site.open("try/index.html")
    frame = page.frame_locator("iframe.try")
    frame.locator("#try-digits").click()
    frame.locator("#measure").click(timeout=60000)
    frame.locator("#verdict-first:has-text('Over-confident')").wait_for(timeout=60000)


def test_no_request_leaves_the_disk(site):
    assert site.asked, "no page was opened"
    assert all(url.startswith(("file:", "data:", "blob:")) for url in site.asked), set(site.asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--browser", required=True)
    parser.add_argument("--site", type=pathlib.Path, required=True)
    given = parser.parse_args()
    passed = failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.browser, args=["--no-sandbox"])
        site = Site(browser, given.site)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                try:
                    test(site)
                    passed += 1
                except LeftOut as reason:
                    print(f"left out: {reason}")
                except Exception:
                    failed += 1
                    print(f"{name}\n{traceback.format_exc()}")
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

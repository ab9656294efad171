#!/usr/bin/env python3
"""Reports in a real browser: nothing asked from elsewhere, every control, every width.

    browse_report.py --browser /usr/bin/chromium [--build DIR] [--update]

Pages are made from the digits of the demo, from classes with hostile names and from predictions
of a number.  Pictures are compared with those in this folder: at most one pixel in fifty may
differ by more than a shade.  --update writes them anew.
"""

import argparse
import base64
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback

from playwright.sync_api import sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DIGITS = ROOT / "examples" / "digits"
WIDTHS, THEMES = (360, 1600), ("light", "dark")
# The font that pictures are made with, whatever the machine has.
FONTS = "*{font-family:'DejaVu Sans'!important}code,pre,code *,pre *{font-family:'DejaVu Sans Mono'!important}"

# What reaches beyond the page, but for what can be scrolled to; and letters beyond their figure.
BEYOND = """() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide) found.push("the page scrolls sideways");
  for (const part of document.querySelectorAll("body *")) {
    if (part.closest(".scroll") && !part.matches(".scroll") || part.closest(".unseen, .skip, svg *")) continue;
    const box = part.getBoundingClientRect();
    if (box.width > 0 && (box.left < -1 || box.right > wide + 1))
      found.push(part.tagName + "." + part.className + " " + box.left + " to " + box.right);
  }
  for (const word of document.querySelectorAll("svg text")) {
    const box = word.getBoundingClientRect(), all = word.ownerSVGElement.getBoundingClientRect();
    if (box.width > 0 && (box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 ||
        box.bottom > all.bottom + 1)) found.push("beyond its figure: " + word.textContent);
  }
  return found;
}"""

# The share of pixels of two pictures that differ by more than a shade; 1 for other sizes.
DIFFERENCE = """async ([one, other]) => {
  const pixels = async url => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height), paint = canvas.getContext("2d");
    paint.drawImage(image, 0, 0);
    return paint.getImageData(0, 0, image.width, image.height);
  };
  const a = await pixels(one), b = await pixels(other);
  if (a.width !== b.width || a.height !== b.height) return 1;
  let far = 0;
  for (let i = 0; i < a.data.length; i += 4)
    far += [0, 1, 2].some(k => Math.abs(a.data[i + k] - b.data[i + k]) > 40);
  return far / (a.data.length / 4);
}"""


# ---- Pages --------------------------------------------------------------------------------


def hostile(path):
    """Probabilities of classes whose names are markup."""
    draw = random.Random(1)
    lines = ['"<script>alert(1)</script>","</script><img src=x onerror=alert(2)>",a & b,labels']
    for _ in range(200):
        row = [draw.random() ** 2 for _ in range(3)]
        row = [round(x / sum(row), 6) for x in row]
        row[2] = round(1 - row[0] - row[1], 6)
        lines.append(",".join(map(str, [*row, draw.choices(range(3), row)[0]])))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def numbers(path):
    draw = random.Random(2)
    lines = ["mean,variance,target"]
    for _ in range(300):
        mean, deviation = draw.gauss(0, 1), 0.5 + draw.random()
        lines.append(f"{mean:.5f},{(0.6 * deviation) ** 2:.5f},{draw.gauss(mean, deviation):.5f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_pages(program, folder):
    def run(*words):
        subprocess.run([str(program), *map(str, words), "--quiet"], check=True, cwd=folder)

    hostile(folder / "names.csv")
    numbers(folder / "numbers.csv")
    for name in ("logits_val", "labels_val", "logits_test", "labels_test"):
        (folder / f"{name}.npy").write_bytes((DIGITS / f"{name}.npy").read_bytes())
    few = ("--replicas", "100")
    run("fit", "--logits", "logits_val.npy", "--labels", "labels_val.npy", "-o", "cal.json")
    run("report", "--logits", "logits_test.npy", "--labels", "labels_test.npy", "--calibrator",
        "cal.json", "--title", "Handwritten digits", *few, "-o", "digits.html")  # fmt: skip
    run("report", "--probs", "names.csv:0,1,2", "--labels", "names.csv:labels", "--title",
        "<b>Names</b>", *few, "-o", "names.html")  # fmt: skip
    run("report", "--data", "numbers.csv", *few, "-o", "numbers.html")
    run("report", "--probs", "names.csv:0,1,2", "--labels", "names.csv:labels", "--groups", "names.csv:labels",
        *few, "-o", "groups.html")  # fmt: skip
    return {name: folder / f"{name}.html" for name in ("digits", "names", "numbers", "groups")}


class Visit:
    """A page that is being looked at, and what it complained of."""

    def __init__(self, browser, path, width=1600, theme="light", scripts=True):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, java_script_enabled=scripts
        )
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.set_default_timeout(5000)

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        complaints, requests = self.complaints, [u for u in self.requests if not u.startswith("data:")]
        self.context.close()
        if kind is None:
            assert not complaints, complaints
            assert len(requests) == 1 and requests[0].startswith("file:"), requests


# ---- What is looked at --------------------------------------------------------------------


def fits(browser, pages):
    for path in pages.values():
        for width in WIDTHS:
            for theme in THEMES:
                with Visit(browser, path, width, theme) as page:
                    for part in page.query_selector_all("details"):
                        part.evaluate("part => part.open = true")
                    beyond = page.evaluate(BEYOND)
                    assert not beyond, (path.name, width, theme, beyond[:5])


def nothing_hidden_when_wide(browser, pages):
    for path in pages.values():
        with Visit(browser, path) as page:
            for part in page.query_selector_all("details"):
                part.evaluate("part => part.open = true")
            hidden = page.eval_on_selector_all(
                ".scroll, pre", "parts => parts.filter(p => p.scrollWidth > p.clientWidth + 1).length"
            )
            assert hidden == 0, (path.name, hidden)


def on_a_phone(browser, pages):
    """Tables below figures show all their columns; others that do not have a shade at the edge."""
    for path in pages.values():
        with Visit(browser, path, 360) as page:
            for part in page.query_selector_all("details"):
                part.evaluate("part => part.open = true")
            cut = page.eval_on_selector_all(
                "figcaption .scroll", "parts => parts.filter(p => p.scrollWidth > p.clientWidth + 1).length"
            )
            assert cut == 0, (path.name, cut)
            bare = page.eval_on_selector_all(
                ".scroll",
                "parts => parts.filter(p => p.scrollWidth > p.clientWidth + 1 &&"
                " !getComputedStyle(p).backgroundAttachment.startsWith('local, scroll')).length",
            )
            assert bare == 0, (path.name, bare)


def themes(browser, pages):
    shades = {}
    for theme in THEMES:
        with Visit(browser, pages["digits"], theme=theme) as page:
            button = page.get_by_role("button", name="Dark")
            assert button.get_attribute("aria-pressed") == str(theme == "dark").lower()
            paint = "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('.f-paper')).fill"
            shades[theme] = page.evaluate(paint)
            button.focus()
            page.keyboard.press("Space")
            assert button.get_attribute("aria-pressed") == str(theme != "dark").lower()
            shades[theme + " switched"] = page.evaluate(paint)
            page.emulate_media(media="print")
            assert page.evaluate(paint) == "rgb(255, 255, 255)rgb(255, 255, 255)"
    assert shades["light"] == shades["dark switched"] != shades["dark"] == shades["light switched"]


def before_and_after(browser, pages):
    with Visit(browser, pages["digits"]) as page:
        drawings = page.locator(".drawing[data-time=before]"), page.locator(".drawing[data-time=after]")
        assert drawings[0].count() == drawings[1].count() >= 8
        buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Before", "After")]
        for shown, key in ((1, None), (0, "Enter"), (1, "Space"), (0, "click")):
            if key == "click":
                buttons[shown].click()
            elif key:
                buttons[shown].focus()
                page.keyboard.press(key)
            for side in (0, 1):
                assert buttons[side].get_attribute("aria-pressed") == str(side == shown).lower()
                assert drawings[side].first.is_visible() == (side == shown)
                assert drawings[side].last.is_visible() == (side == shown)
    with Visit(browser, pages["names"]) as page:
        assert page.get_by_role("button", name="Before", exact=True).count() == 0


def column(table, number):
    """The numbers of a column, one list for each group of rows."""
    return table.evaluate(
        "(table, k) => [...table.tBodies].map(body => [...body.rows].filter(row => !row.matches('.group'))"
        ".map(row => row.children[k].dataset.value === undefined ? row.children[k].textContent"
        " : Number(row.children[k].dataset.value)))",
        number,
    )


def sorting(browser, pages):
    with Visit(browser, pages["digits"]) as page:
        table = page.locator("section:has(> #metrics) table")
        head = table.locator("thead th").nth(1)
        table.get_by_role("button", name="before").click()
        assert head.get_attribute("aria-sort") == "ascending"
        groups = column(table, 1)
        assert len(groups) == 3 and groups == [sorted(group) for group in groups] and len(groups[2]) > 3
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        assert column(table, 1) == [sorted(group, reverse=True) for group in groups]
        table.get_by_role("button", name="metric").focus()
        page.keyboard.press("Space")
        assert head.get_attribute("aria-sort") is None
        assert table.locator("thead th").first.get_attribute("aria-sort") == "ascending"
        names = column(table, 0)
        assert names == [sorted(group) for group in names]
        classes = page.locator("section:has(> #classes) table")
        classes.get_by_role("button", name="error after").click()
        assert column(classes, 6)[0] == sorted(column(classes, 6)[0])


def hints(browser, pages):
    with Visit(browser, pages["digits"]) as page:
        hint = page.locator("#hint")
        assert hint.is_hidden()
        mark = page.locator(".drawing[data-time=after] svg circle").last
        figure = page.locator(".drawing[data-time=after] svg").first
        figure.locator("g circle").last.hover()
        assert hint.is_visible() and re.search(r"\d", hint.inner_text())
        page.mouse.move(1, 1)
        assert hint.is_hidden() and mark.count() == 1
        figure.focus()
        seen = set()
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"):
            page.keyboard.press(key)
            assert hint.is_visible()
            seen.add(hint.inner_text())
        assert len(seen) == 2 and figure.locator(".shown").count() == 1
        page.keyboard.press("Escape")
        assert hint.is_hidden()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Tab")
        assert hint.is_hidden() and figure.locator(".shown").count() == 0


def keyboard(browser, pages):
    with Visit(browser, pages["digits"]) as page:
        page.keyboard.press("Tab")
        skip = page.locator(".skip")
        assert skip.evaluate("link => document.activeElement === link && link.getBoundingClientRect().top >= 0")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "verdict"
        part = page.locator("figcaption details").first
        part.locator("summary").focus()
        page.keyboard.press("Enter")
        assert part.get_attribute("open") is not None
        page.get_by_role("link", name="Commands").click()
        top = page.locator("#commands").evaluate("part => part.getBoundingClientRect().top")
        bar = page.locator(".bar").evaluate("part => part.getBoundingClientRect().bottom")
        assert bar <= top + 1 and page.locator("#commands").is_visible()


def readers(browser, pages):
    """What screen readers go by."""
    for path in pages.values():
        with Visit(browser, path) as page:
            wrong = page.evaluate(
                "() => [[...document.querySelectorAll('table')].filter(t => !t.caption).length,"
                "[...document.querySelectorAll('svg')].filter(s => s.getAttribute('role') !== 'img' ||"
                " !s.querySelector(':scope > title').textContent).length,"
                "[...document.querySelectorAll('button, summary, a, th')].filter(b => !b.textContent.trim()).length,"
                "[...document.querySelectorAll('section')].filter(s => !document.getElementById("
                "s.getAttribute('aria-labelledby'))).length,"
                "document.querySelectorAll('h1').length - 1, document.querySelectorAll('main').length - 1,"
                "document.documentElement.lang === 'en' ? 0 : 1,"
                "[...document.querySelectorAll('[id]')].length -"
                " new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size]"
            )
            assert not any(wrong), (path.name, wrong)


def names_are_text(browser, pages):
    with Visit(browser, pages["names"]) as page:
        assert page.title() == "<b>Names</b>" and page.locator("h1").inner_text() == "<b>Names</b>"
        rows = page.locator("section:has(> #classes) tbody th").all_inner_texts()
        assert sorted(rows)[1:] == ["<script>alert(1)</script>", "a & b"]
        assert page.locator("img").count() == 0
        inside = json.loads(page.locator("#report").evaluate("part => part.textContent"))
        assert inside["before"]["data"]["class_names"][0] == "<script>alert(1)</script>"


def numbers_agree(browser, pages):
    with Visit(browser, pages["digits"]) as page:
        inside = json.loads(page.locator("#report").evaluate("part => part.textContent"))
        table = page.locator("section:has(> #metrics) table")
        for side, place in (("before", 1), ("after", 2)):
            told = sorted(x for group in column(table, place) for x in group)
            assert told == sorted(result["value"] for result in inside[side]["results"])


def without_scripts(browser, pages):
    with Visit(browser, pages["digits"], scripts=False) as page:
        assert page.locator(".drawing").first.is_visible() and page.locator(".drawing").last.is_visible()
        assert page.locator(".drawing .time").first.is_visible()
        assert page.locator(".tools").is_hidden()


def paper(browser, pages):
    for path in pages.values():
        with Visit(browser, path, 690) as page:
            page.emulate_media(media="print")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert not page.evaluate(BEYOND), (path.name, page.evaluate(BEYOND)[:5])
            assert page.locator(".bar").is_hidden() and page.locator("#conventions").is_visible()
            assert page.locator(".drawing:visible").count() == page.locator(".drawing").count()
            cut = page.eval_on_selector_all(
                ".scroll", "parts => parts.filter(p => p.scrollWidth > p.clientWidth + 1).length"
            )
            assert cut == 0, (path.name, cut)
            holes = page.eval_on_selector_all(
                ".cards",
                "parts => parts.filter(p => p.children.length === 1 && "
                "p.firstElementChild.offsetWidth < 0.95 * p.clientWidth).length",
            )
            assert holes == 0, (path.name, "a verdict alone does not fill its line")
            document = page.pdf(format="A4")
            assert document.startswith(b"%PDF") and 1 <= len(re.findall(rb"/Type /Page\b", document)) <= 15


# ---- Pictures -----------------------------------------------------------------------------


def shoot(browser, path, width, theme, what):
    with Visit(browser, path, width, theme) as page:
        page.add_style_tag(content=FONTS)
        if what == "paper":
            page.emulate_media(media="print")
        if what == "figure":
            return page.locator("figure").first.screenshot()
        return page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": 640})


PICTURES = {
    "report-light": ("digits", 1600, "light", "top"),
    "report-narrow": ("digits", 400, "dark", "top"),
    "report-figure": ("digits", 1600, "dark", "figure"),
    "report-paper": ("digits", 690, "light", "paper"),
}


def pictures(browser, pages, update=False):
    for name, (report, width, theme, what) in PICTURES.items():
        picture, stored = shoot(browser, pages[report], width, theme, what), HERE / f"{name}.png"
        if update:
            stored.write_bytes(picture)
            continue
        urls = [
            "data:image/png;base64," + base64.b64encode(each).decode()
            for each in (picture, stored.read_bytes())
        ]
        context = browser.new_context()
        share = context.new_page().evaluate(DIFFERENCE, urls)
        context.close()
        if share > 0.02:
            seen = pathlib.Path(tempfile.gettempdir(), f"propercal-{name}.png")
            seen.write_bytes(picture)
            raise AssertionError(f"{name}.png: {100 * share:.1f} % of the pixels differ; seen: {seen}")


CHECKS = [fits, nothing_hidden_when_wide, on_a_phone, themes, before_and_after, sorting, hints, keyboard, readers,
          names_are_text, numbers_agree, without_scripts, paper, pictures]  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--browser", required=True)
    parser.add_argument("--build", default="build")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        program = (ROOT / arguments.build / "cli" / "propercal").resolve()
        pages = make_pages(program, pathlib.Path(folder))
        browser = play.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        if arguments.update:
            pictures(browser, pages, update=True)
        for check in CHECKS:
            try:
                check(browser, pages)
            except Exception:  # every failure of a check is told, and the others go on
                failed += 1
                print(f"{check.__name__}:\n{traceback.format_exc()}")
        browser.close()
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

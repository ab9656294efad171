"""The pages of docs say what the package does: their code is run, section by section."""

import importlib.util
import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
#: pages whose code needs a GPU: tests/gpu runs it
ELSEWHERE = ("gpu.md",)
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page.name not in ELSEWHERE and (page.parent != DOCS or "```python\n" in page.read_text(encoding="utf-8"))
]

spec = importlib.util.spec_from_file_location("run_pages", HERE / "run_pages.py")
run_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_pages)

SECTIONS = [
    pytest.param(page, found, id=f"{page.stem}-{title}".rstrip("-").replace(" ", "-"))
    for page in PAGES
    for title, found in run_pages.sections(page.read_text(encoding="utf-8"))
    if not run_pages.clusters(found)  # tests/spark runs the others
]


@pytest.mark.parametrize("page, found", SECTIONS)
def test_page(page, found):
    if run_pages.absent(found):
        pytest.skip("could not import " + ", ".join(map(repr, run_pages.absent(found))))
    outputs, files = run_pages.run(found)
    for block, said in zip(found, outputs):
        assert run_pages.agree(said, block.shown), f"{block.code}\nprints\n\n{said}"
    for name, content in files.items():
        if (page.parent / name).exists():
            shown = (page.parent / name).read_text(encoding="utf-8")
            assert run_pages.agree(content.decode(), shown), f"{name} is not up to date"


def test_every_page_runs_something():
    pages = {param.values[0].name for param in SECTIONS if param.values[1]}
    assert pages >= {"README.md", "scikit-learn.md", "pytorch.md", "coming-from.md"}
    assert pages >= {"monitoring.md", "report.md", "rounds.md", "tour.md", "language-models.md"}
    assert pages >= {f"for-{reader}.md" for reader in ("scikit-learn", "pytorch", "language-models", "forecasters")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_what_is_compared():
    assert run_pages.agree("ECE 0.1234, 12 rows\n", "ECE  0.1235, 12 rows\n")
    assert not run_pages.agree("ECE 0.1234\n", "ECE 0.1236\n")
    assert not run_pages.agree("12 rows\n", "13 rows\n")
    assert not run_pages.agree("ECE 0.1234\n", "MCE 0.1234\n")
    assert not run_pages.agree("ECE 0.1234 0.2\n", "ECE 0.1234\n")
    assert run_pages.agree("-1.5e-07 in 1,000 rows", "-1.6e-07 in 1,000 rows")
    assert not run_pages.agree("1.5e-07", "1.5e-03")

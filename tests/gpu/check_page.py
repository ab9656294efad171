"""Runs the Python code of a page with tensors of PyTorch on a GPU: docs/gpu.md.

    PYTHONPATH=build/python python3 tests/gpu/check_page.py PAGE

Exit code 77 and a sentence where PyTorch or a GPU is missing.  tools/check-gpu calls it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import run_pages  # noqa: E402


def names(torch):
    """What the page takes for granted: a model, a batch, and their labels."""
    generator = torch.Generator().manual_seed(1)
    logits = (3 * torch.randn(5000, 10, generator=generator)).cuda()
    labels = torch.randint(10, (5000,), generator=generator).cuda()
    return {"model": lambda images: images, "images": logits, "logits": logits, "labels": labels,
            "batch": logits[:100], "truth": labels[:100]}  # fmt: skip


def main():
    try:
        import torch
    except ImportError:
        print("left out: PyTorch is not installed")
        return 77
    if not torch.cuda.is_available():
        print("left out: there is no GPU here")
        return 77
    known = names(torch)
    blocks = run_pages.blocks(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    for block in blocks:
        run_pages.execute(block.code, known)
    there = known["fitted"].predict_proba(known["logits"])
    if not blocks or there.device.type != "cuda" or {value.device for value in known["running"].result()} != {"cuda"}:
        print("the page's code did not run on the GPU")
        return 1
    print(f"{len(blocks)} blocks of {sys.argv[1]} ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())

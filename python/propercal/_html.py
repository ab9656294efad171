"""Tables and figures for notebooks.

Text and lines have the colour of the notebook, so that they follow its theme.  Figures follow the
reader's system by themselves; where the notebook differs from it (Jupyter, VS Code, Colab), their
colours are inverted, which keeps the hues.
"""

from typing import Any, Iterable

from ._errors import markup

_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]')
_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]')


def _inverted(notebooks: "tuple[str, ...]") -> str:
    chosen = ", ".join(f"{each} .pcal-figure svg" for each in notebooks)
    return f"{chosen} {{ filter: invert(0.92) hue-rotate(180deg) }}"


_STYLE = f"""<style>
.pcal-box {{ max-width: 60em; color: inherit }}
.pcal-box p {{ margin: 0.4em 0 }}
.pcal-box .pcal-scroll {{ overflow-x: auto }}
.pcal-box table.pcal {{ border-collapse: collapse; color: inherit; background: none; margin: 0.6em 0 }}
.pcal-box table.pcal th, .pcal-box table.pcal td {{ text-align: left; vertical-align: top; padding: 0.2em 0.8em 0.2em 0; background: none;
  color: inherit; border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35) }}
.pcal-box table.pcal .pcal-number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }}
.pcal-box table.pcal.pcal-wide {{ font-size: 0.82em }}
.pcal-box table.pcal.pcal-wide th, .pcal-box table.pcal.pcal-wide td {{ padding-right: 0.45em }}
.pcal-box table.pcal .pcal-best td {{ font-weight: bold }}
.pcal-box .pcal-note {{ opacity: 0.75 }}
@media (prefers-color-scheme: light) {{ {_inverted(_DARK)} }}
@media (prefers-color-scheme: dark) {{ {_inverted(_LIGHT)} }}
</style>"""


def box(*parts: str) -> str:
    """Parts one below the other, with the style that they share."""
    return f'{_STYLE}<div class="pcal-box">{"".join(parts)}</div>'


def paragraphs(text: str, note: bool = False) -> str:
    """A paragraph for each line."""
    kind = ' class="pcal-note"' if note else ""
    return "".join(f"<p{kind}>{markup(line)}</p>" for line in text.splitlines() if line.strip())


def figure(svg: str) -> str:
    """A figure; one with a theme of its own keeps it."""
    follows = "prefers-color-scheme" in svg
    return f'<div{" class=pcal-figure" if follows else ""}>{svg}</div>'


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any, tag: str, right: bool, digits: int) -> str:
    text = f"{value:.{digits}g}" if isinstance(value, float) else "" if value is None else str(value)
    return f"<{tag}{' class=pcal-number' if right else ''}>{markup(text)}</{tag}>"


_WIDE = 8  #: columns from which on a table has narrower ones, and one digit less


def table(head: "Iterable[str]", rows: "Iterable[Iterable[Any]]", best: "int | None" = None) -> str:
    """A table; columns of numbers to the right, the best row in bold, empty columns left out."""
    names, lines = list(head), [list(row) for row in rows]
    kept = [i for i in range(len(names)) if any(row[i] not in (None, "") for row in lines)]
    right = {i for i in kept if any(_is_number(row[i]) for row in lines)}
    wide = len(kept) >= _WIDE
    digits = 4 if wide else 5
    top = "".join(_cell(names[i], "th", i in right, digits) for i in kept)
    body = "".join(
        f"<tr{' class=pcal-best' if n == best else ''}>"
        f"{''.join(_cell(row[i], 'td', i in right, digits) for i in kept)}</tr>"
        for n, row in enumerate(lines)
    )
    whole = f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="pcal-scroll"><table class="pcal{" pcal-wide" if wide else ""}">{whole}</table></div>'

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
.pcal-box table {{ border-collapse: collapse; color: inherit; background: none; margin: 0.6em 0 }}
.pcal-box th, .pcal-box td {{ text-align: left; padding: 0.2em 0.8em 0.2em 0; background: none;
  color: inherit; border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35) }}
.pcal-box .pcal-number {{ text-align: right; font-variant-numeric: tabular-nums }}
.pcal-box .pcal-best td {{ font-weight: bold }}
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
    return f'<div class="pcal-figure">{svg}</div>'


def _cell(value: Any, tag: str) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)
    return f"<{tag}{' class=pcal-number' if number else ''}>{markup(text)}</{tag}>"


def table(head: "Iterable[str]", rows: "Iterable[Iterable[Any]]", best: "int | None" = None) -> str:
    """A table; numbers to the right, the best row in bold."""
    names = "".join(_cell(each, "th") for each in head)
    lines = [
        f"<tr{' class=pcal-best' if i == best else ''}>{''.join(_cell(each, 'td') for each in row)}</tr>"
        for i, row in enumerate(rows)
    ]
    body = f"<thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="pcal-scroll"><table>{body}</table></div>'

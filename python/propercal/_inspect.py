"""Inspection of files and data sets."""

import json
import os
from typing import Any

from . import _core
from ._errors import file_name
from ._inputs import Data, gather, header_mode, lists_inputs
from ._results import JSON, TEXT
from ._settings import settings
from ._tables import is_foreign


class Inspection:
    """The content of a file or a data set; ``problems`` is the number of problems that would
    prevent measuring it, and printing shows them all."""

    def __init__(self, text: str, content: str, problems: int) -> None:
        self._text, self._content = text, content
        self.problems = problems

    def to_json(self) -> str:
        """The bytes that ``propercal inspect --json`` prints, as text."""
        return self._content

    def to_dict(self) -> "dict[str, Any]":
        """The same as dictionaries and lists."""
        return json.loads(self._content)

    def __repr__(self) -> str:
        return self._text.rstrip()


@lists_inputs(without=("ids", "first_row"))
def inspect(
    file: "Data | str | os.PathLike[str] | None" = None,
    *,
    threads: "int | None" = None,
    memory_limit: "int | str | None" = None,
    progress: Any = None,
    header: "bool | None" = None,
    **inputs: Any,
) -> Inspection:
    """Shows the content and the problems of a file, or of a data set: a ``Data``, or its
    arguments by name."""
    texts = []
    if header is not None:
        inputs["header"] = header
    with settings(threads, memory_limit, progress) as how:
        for form in (TEXT, JSON):
            if file is not None and not isinstance(file, Data) and not is_foreign(file):
                texts.append(_core.inspect_file(file_name(file), header_mode(header), form, how))
            else:
                (data,) = (Data(**inputs),) if file is None else gather("inspect", file, None, dict(inputs))
                texts.append(_core.inspect(data._open(how), form))
    return Inspection(texts[0][0], texts[1][0], texts[0][1])

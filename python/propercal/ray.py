"""Calibration of the predictions in Ray data sets; needs ray[data].

>>> from propercal import ray as pcr
>>> pcr.measure(ds, probs=["p_cat", "p_dog"], labels="label")

Results are bit for bit those of one process on all rows.  ``docs/rounds.md`` describes the rounds.
"""

from functools import partial
from typing import Any, Iterable

import pyarrow as arrow

from ._partitions import Answer, RoundPart, answer_part, column_list, conclude, measure_rounds
from ._partitions import merge_rounds, named_columns
from ._results import Result

__all__ = ["measure"]


def _answer(block: Any, request: bytes, given: "dict[str, Any]", width: "int | None") -> arrow.Table:
    """The answer of one block, as a row, which is empty without rows; the driver numbers blocks."""
    found = answer_part([(block.num_rows, {"data": block, **given})], 0, RoundPart, request, width)
    row = (found or Answer(0, 0, None, None))._asdict()
    text = arrow.large_string()
    types = {"position": arrow.int64(), "answer": arrow.large_binary(), "failure": text, "lists": text}
    return arrow.table({name: arrow.array([row[name]], kind) for name, kind in types.items()})


def measure(
    ds: Any,
    *,
    metrics: "str | Iterable[str] | None" = None,
    progress: Any = None,
    memory_limit: "int | str | None" = None,
    seed: int = 0,
    **more: Any,
) -> Result:
    """Measures how well the predictions in a data set of Ray are calibrated.

    Each block is read by a task, once for each round.  Call ``materialize`` first on a data set that is
    computed anew with random numbers.

    Parameters
    ----------
    ds : a data set of ``ray.data``
    probs, logits, log_probs, confidence : the column of scores (arrays, or numbers: the score of
        class 1); or a list of columns, one for each class
    labels, correct, groups, weights, ids : names of columns, as of ``propercal.spark.measure``
    metrics, interval, null, replicas, interval_method, seed, normalize, skip_missing : as of
        ``propercal.measure``.  For intervals and nulls equal rows must be in one block, or all rows
        have ``ids``; where they are not, ``DataError`` says so
    progress : True, ``"tqdm"``, or a function called as ``f(what, done, total)`` for each round
    memory_limit : bytes that merging by the driver may allocate

    Returns
    -------
    Result
    """
    given, policy = named_columns(more)

    def read(request: bytes, width: "int | None") -> bytes:
        words = {"request": request, "given": given, "width": width}
        needed = ds.select_columns(column_list(given))
        rows = needed.map_batches(_answer, batch_format="pyarrow", batch_size=None, fn_kwargs=words)
        options = rows.context.execution_options  # data sets made from one another share it
        kept, options.preserve_order = options.preserve_order, True  # blocks are numbered in their order
        try:
            found = (Answer(0, **row).of_partition(i) for i, row in enumerate(rows.iter_rows()))
            return conclude(found, partial(merge_rounds, memory_limit=memory_limit), "block")
        finally:
            options.preserve_order = kept

    policy |= {"memory_limit": memory_limit, "seed": seed}
    return measure_rounds(given, read, metrics, "Ray", progress, policy)

"""Calibration of the predictions in Dask tables; needs dask[dataframe].

>>> from propercal import dask as pcd
>>> pcd.measure(ddf, probs=["p_cat", "p_dog"], labels="label")

Results are bit for bit those of one process on all rows.  ``docs/rounds.md`` describes the rounds.
"""

from functools import partial
from typing import Any, Iterable

import pyarrow as arrow
from dask import compute, delayed

from ._partitions import Answer, RoundPart, answer_part, column_list, conclude, measure_rounds
from ._partitions import merge_answers, merge_rounds, named_columns
from ._results import Result

__all__ = ["measure"]

#: answers that one task merges
_FEW = 16


def _answer(
    frame: Any, number: int, request: bytes, given: "dict[str, Any]", width: "int | None"
) -> "Answer | None":
    table = arrow.Table.from_pandas(frame[column_list(given)], preserve_index=False)
    return answer_part([(table.num_rows, {"data": table, **given})], number, RoundPart, request, width)


def _merged(answers: "list[Answer | None]") -> "Answer | None":
    return merge_answers(answers, merge_rounds)


def measure(
    ddf: Any,
    *,
    metrics: "str | Iterable[str] | None" = None,
    progress: Any = None,
    memory_limit: "int | str | None" = None,
    seed: int = 0,
    **more: Any,
) -> Result:
    """Measures how well the predictions in a Dask DataFrame are calibrated.

    Each partition is read by a task of the current scheduler, once for each round.  Store a table that
    is computed anew with random numbers, or ``persist`` it.

    Parameters
    ----------
    ddf : a DataFrame of Dask
    probs, logits, log_probs, confidence : the column of scores (arrays, or numbers: the score of
        class 1); or a list of columns, one for each class
    labels, correct, groups, weights, ids : names of columns, as of ``propercal.spark.measure``
    metrics, interval, null, replicas, interval_method, seed, normalize, skip_missing : as of
        ``propercal.measure``.  For intervals and nulls equal rows must be in one partition, or all
        rows have ``ids``; where they are not, ``DataError`` says so
    progress : True, ``"tqdm"``, or a function called as ``f(what, done, total)`` for each round
    memory_limit : bytes that merging by the driver may allocate

    Returns
    -------
    Result
    """
    given, policy = named_columns(more)
    parts = ddf[column_list(given)].to_delayed()

    def read(request: bytes, width: "int | None") -> bytes:
        found = [delayed(_answer)(part, i, request, given, width) for i, part in enumerate(parts)]
        while len(found) > _FEW:
            found = [delayed(_merged)(found[i : i + _FEW]) for i in range(0, len(found), _FEW)]
        return conclude(compute(*found), partial(merge_rounds, memory_limit=memory_limit))

    policy |= {"memory_limit": memory_limit, "seed": seed}
    return measure_rounds(given, read, metrics, "Dask", progress, policy)

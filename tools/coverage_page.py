"""The text of docs/interval-coverage.md, filled in by tools/make-coverage."""

PAGE = """<!-- Written by tools/make-coverage; do not edit. -->
# Do intervals cover the truth, and do tests keep their level?

Simulated predictions whose true calibration is known (Gruber & Buettner 2022, appendix G.1), logits
times a factor: 1 is calibrated, less is under-confident, more over-confident. An interval with the
nominal level 95 % should contain the true value in 95 % of the sets. This page counts how often it
does, near zero error and far from it, for few and for many rows, and where few predictions are wrong.
An experiment is one metric, model, number of rows and factor.

## Which intervals to trust

The targets: intervals of 95 % hold the truth in at least 93 % of the sets, and are at most 1.5 times as wide as those of an oracle (3
times near zero error).

{advice}

## What was counted

{summary}

| metric | sets | coverage | lowest | credibly below 93 % | too wide | few wrong rows | marked |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{short}

Sets: of an experiment. Coverage: over all experiments, in percent. Lowest: of any experiment, with its number of sets.
Credibly below 93 %: experiments in which so few intervals, or so few of those without a remark (unless at least 90 % have one), would
hold the truth with a probability below 1 % if the coverage were 93 %; one of a hundred does by chance. Too wide: experiments
with at least 25 wrong rows in a set whose median width exceeds 1.5 times that of an oracle, or 3 times where the truth is below twice
its standard error. Few wrong rows: the same with fewer than 25. Marked: the largest share of sets with a remark among experiments with
1,000 rows and more, up to 10 classes and at least 50 wrong rows (target: 10 %).

Errors in adaptive bins of every class (`ace`, `tace`, `gce:variant=25`) are compared with the population's value in the bins of the
population. Their intervals are for the bins of the data, and the edges move the value: of two classes with most scores near 0 or 1, a
bin that holds gaps of both signs shows only their difference. At a factor of 2.5 and 5,000 rows the intervals of `ace` and
`gce:variant=25` hold the value in the bins of the data in 98 and 97 % of 60 sets, in those of the population in 80 and 83 %
(`tests/python/test_adaptive_bins.py`). So their low coverage below says how far the value depends on edges.

The oracle knows the distribution of the estimation error: its interval is given by the quantiles of that error over all sets,
extended to the estimate itself, because no interval here excludes its own estimate, which chance may have made too large. Quantiles of
50 sets and fewer are uncertain by 10 % and more, and so are the ratios.

## The worst cases first

The experiments that are least compatible with a coverage of 93 %, of all sets or, where it is lower, of those without a remark (last
but three columns), with the 95 % interval of the coverage of all sets:

{worst}

Experiments with at least 25 wrong rows whose intervals are too wide, the widest first, in units of the oracle's width:

{wide}

And with fewer wrong rows:

{few_wide}

**Narrower?** Both bounds are for intervals that are computed from the value of the
metric alone, by somebody who knows the population, that some factor was applied, and the distribution of the value under each factor
(normal, with the recorded mean and deviation). *Least*: the mean width of any such interval that covers in 93 % under every factor (Pratt
1961: the integral over all errors of the probability that the best test of an error at the level 7 % does not reject it).
*Informed*: the median width of the usual one, with the errors of all factors under which the value is within 1.96 deviations,
extended to the value itself. "{no}": *least* exceeds the target. "{hardly}": *informed* does; our interval, which knows neither the population
nor the family, would have to be narrower than one that does. "{yes}": *informed* meets the target. "-": scores and parts that are no
errors. An interval may use more than the value: ours use the mean of signed gaps, and are at times narrower than *informed*
(tools/coverage_bounds.py).

## Why some intervals are wide

- **Few wrong rows.** With m wrong rows in a set the accuracy itself is known to no more than a count of m: the exact interval of
  Clopper and Pearson is 5.5 rows wide for one wrong row and 9.0 for four of 200. An error whose gaps have one sign is the
  mean score minus the accuracy, and its oracle knows the variance of that difference, which a set with a handful of wrong rows does not
  show.{few}
  Every rule for a share whose ends rise with the number of wrong rows, and that covers in 93 % for every true share, is at
  least 4.3 rows wide for one wrong row, between the solutions of e^-m (1 + m) = 0.07 and e^-m = 0.93 (4.7 for 95 %).{one} Wilson's
  interval with continuity correction, which `accuracy` has, is 6.3 rows wide there. It covers at least 94.9 % for every share from 25 rows on, 94.5 % of fewer;
  with a correction of 0.35 rows in place of 0.5 it would be 6.0 rows wide and cover 92.7 % where 0.08 wrong rows are expected, without any 5.4 rows and 84 %.
  Intervals with fewer than ten wrong rows in a set carry a remark. Where six are expected, the 8.4 % of sets with ten and more carry none:
  chance has selected them for too many wrong rows. The exact interval of Clopper and Pearson misses six from twelve wrong rows on, which
  2.0 % of all sets have, and so covers in 76 % of the sets without a remark, although in at least 95 % of all. So the coverage of the
  few sets without a remark, where most have one, says little about the interval.
- **Between chance and clear errors.** Chance makes these errors larger. The oracle knows by how much and subtracts it; an interval
  that only sees the set must reach down to 0 as long as a calibrated model would show the same value.{example}
  The columns *least* and *informed* above say how much of that no interval can avoid. The intervals recorded here are narrower than that where the mean of signed gaps, which chance does not enlarge, excludes 0
  (src/measure/replicas/gap_direction.c).
- **`mce` with fewer than ten wrong rows.** The true value is the largest gap of any bin, however few rows of the
  population fall into it. Where all rows of a set fall into one bin, the interval reaches up to 1, and carries the remark.
- **Sharpness and parts within bins** depend on the few rows with scores in the middle, which a set of 200 rows may lack:
  their intervals allow for one such row.

## What each interval is for

- Binned errors: the population's value on the same bins (equal-mass bins: with as many bins of equal
  mass). It is not the error without bins, which no interval of a binned error can promise.
- Debiased errors: the value without correction, since a population has no chance to subtract.
- `ks`, `smece`, `mmce`, `skce`, `kce`, `tce-kde`: the population's value of the same definition. The
  truth is that of a population of at least 200,000 rows (40,000 with 100 classes), in which every class counts
  with its true probability; for `mmce`, `skce` and `kce`, which are sums over pairs of rows, it is the mean of the
  unbiased estimates over all sets.
- Proper scores and accuracy: the expected score of a new row.
- `ece-expected` has no interval: it describes a sample of this size, so there is no true value.

Other intervals are recorded with the pages that explain them: [one event and selective prediction](clinical.md#do-the-intervals-hold),
[forecasts and several classes](forecasts.md#do-the-intervals-hold), [groups](groups.md#the-largest-error-in-any-group).

## How it was recorded

{how}

{recorded}

Rules and their constants were chosen on simulations of the same models with other seeds (4242, 7001 to 7802, 9101 to 9112, 9501, 9701 to 9703,
31010 to 31022), some of them on the first 100 sets of seed 1000, with which the sets marked with * begin. No rule was chosen on the seeds from
{seed} to 20999, which all other sets have. **Open:** models other than these, on which nothing is recorded.

## Metric by metric

Coverage in percent and, in brackets, the median width in units of the oracle's.

{grids}

{tests}"""

TESTS_SECTION = """## Tests

    {command}

{tests}

Size is the share of calibrated sets that are rejected at 0.05, power the share of miscalibrated ones.
"""

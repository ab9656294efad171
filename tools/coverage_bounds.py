"""How narrow an interval of a metric can be, for the page of tools/make-coverage.

Both bounds look at intervals that are computed from the value of the metric alone, by somebody who knows the
population, that the logits were multiplied by some factor, and the distribution of the value under each factor:
normal, with the recorded mean and deviation.  Between the recorded factors the true error, mean and deviation are
interpolated, beyond the last ones the first two go on in a straight line.

least     Pratt 1961: the mean width under a factor g is the integral over all errors e of the probability that the
          interval contains e.  An interval that covers in 93 % under the factor f is a test of f at the level 7 %, which
          rejects f under g with a probability of at most Phi(d - z), z = Phi^-1(0.93), for means d deviations apart.  So
          the mean width is at least the integral of Phi(z - d) of the nearest f with the error e.
informed  the usual interval: the errors of all factors under which the value lies within 1.96 deviations of its
          mean, extended to the value itself; its median width over seven values, up to 1.5 deviations from the mean.
"""

import math

FACTORS = [0.5, 0.8, 1.0, 1.2, 1.5, 2.5]
PARTS = 300  # points between two factors
BEYOND = 3  # of the last two factors' distance, beyond the last one
CELLS = 2000  # of the integral
QUANTILE = 1.4758  # of 93 %
DEVIATIONS = [-1.5, -1, -0.5, 0, 0.5, 1, 1.5]
NO, HARDLY, YES = "no", "hardly", "yes"  # could an interval be narrower?


def between(low, high, share):
    """(true error, mean, deviation) at a share of the way between two factors; the deviation does not go on beyond."""
    inside = min(share, 1.0)
    return (low["true"] + share * (high["true"] - low["true"]), low["mean"] + share * (high["mean"] - low["mean"]),
            low["sd"] + inside * (high["sd"] - low["sd"]))


def family(of):
    """Points of the two families, from factor 1 down and from 1 up.  of: experiments by factor."""
    sides = []
    for names in ([1.0, 0.8, 0.5], [1.0, 1.2, 1.5, 2.5]):
        points = []
        for low, high in zip(names, names[1:]):
            steps = PARTS * (1 + BEYOND) if high == names[-1] else PARTS
            points += [between(of[low], of[high], step / PARTS) for step in range(steps + 1)]
        sides.append(points)
    return sides


def acceptance(point, at):
    """Phi(z - d)."""
    deviation = math.sqrt((point[2] ** 2 + at["sd"] ** 2) / 2)
    distance = abs(point[1] - at["mean"]) / deviation if deviation > 0 else math.inf
    return 0.5 * math.erfc((distance - QUANTILE) / math.sqrt(2))


def least(sides, at):
    errors = [point[0] for side in sides for point in side]
    low, step = min(errors), (max(errors) - min(errors)) / CELLS
    if step == 0:
        return 0.0
    best = [0.0] * (CELLS + 1)
    for side in sides:
        for one, other in zip(side, side[1:]):
            share = min(acceptance(one, at), acceptance(other, at))
            ends = sorted(int((point[0] - low) / step) for point in (one, other))
            for cell in range(ends[0], min(ends[1], CELLS) + 1):
                best[cell] = max(best[cell], share)
    return step * math.fsum(best)


def informed(sides, at):
    widths = []
    for deviations in DEVIATIONS:
        value = at["mean"] + deviations * at["sd"]
        errors = [point[0] for side in sides for point in side if abs(value - point[1]) <= 1.96 * point[2]]
        widths.append(max([*errors, value]) - min([*errors, value]))
    return sorted(widths)[len(widths) // 2]


def add_bounds(found, too_wide):
    """Adds "least" and "informed", in units of the oracle, and "verdict" to each experiment that is too wide.

    None where the metric is no error that a calibrated model has least of, so that its value says little about the factor, or
    where a factor lacks.
    """
    groups = {}
    for row in found:
        groups.setdefault((row["metric"], row["model"], row["rows"]), {})[row["factor"]] = row
    for row in filter(too_wide, found):
        of = groups[row["metric"], row["model"], row["rows"]]
        row.update(least=None, informed=None, verdict="-")
        if set(FACTORS) <= of.keys() and of[1.0]["true"] <= 0.5 * min(of[0.5]["true"], of[2.5]["true"]):
            sides = family(of)
            row["least"], row["informed"] = (function(sides, row) / row["oracle"] for function in (least, informed))
            target = 3 if row["near"] else 1.5
            row["verdict"] = NO if row["least"] > target else HARDLY if row["informed"] > target else YES

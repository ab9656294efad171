"""Calibration of the predictions in Apache Spark tables; needs pyspark and pyarrow.

>>> from propercal import spark as pcs
>>> pcs.measure(df, probs="probability", labels="label", groups="site")
>>> pcs.CalibrationEvaluator(metricName="ece").evaluate(df)
>>> pcs.Temperature(outputCol="calibrated").fit(validation).transform(df)
>>> pcs.compare(validation, test=df, probs="probability", labels="label")
>>> pcs.report(df, probs="probability", labels="label").save("report.html")

Results are bit for bit those of one process on all rows.  ``docs/spark.md`` is a tutorial.
"""

from ._spark_compare import TableComparison, compare
from ._spark_measure import measure, plot, report
from ._spark_ml import Calibration, CalibrationEvaluator, CalibrationModel, estimators

_ESTIMATORS = estimators(__name__)
globals().update(_ESTIMATORS)

for _public in (compare, measure, plot, report, Calibration, CalibrationEvaluator, CalibrationModel, TableComparison):
    _public.__module__ = __name__

__all__ = [
    "Calibration",
    "CalibrationEvaluator",
    "CalibrationModel",
    "TableComparison",
    "compare",
    "measure",
    "plot",
    "report",
    *_ESTIMATORS,
]

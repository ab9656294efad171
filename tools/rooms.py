"""The rooms of the library, and the path of a row through them: read by tools/check-ladder and
tools/make-rooms."""

# From the ground up; rooms on one rung never include each other.
LADDER = [
    {"system": "what differs between systems: threads, files, signals, processors"},
    {"base": "errors, memory, text, numbers, JSON, exact sums, random numbers, running tasks"},
    {"kernels": "inner loops, one variant for each instruction set"},
    {"device": "rows on a GPU: copies, softmax"},
    {"data": "rows: check, convert, view"},
    {"optim": "minimisers, small matrices"},
    {"stats": "distributions, intervals, bins, sums over pairs"},
    {"curve": "sorted scores: buckets, prefix sums, isotonic regression"},
    {"machines": "accumulators of rows: sum, grid, curve, pair, rows"},
    {"io": "file formats, sources of rows, output files", "metrics": "one file for each family of metrics"},
    {"measure": "plan, pass over rows, merging, states; replicas/: intervals, null, differences"},
    {"watch": "a test of calibration that may be looked at after every row"},
    {"calibrators": "fit, apply, files; a folder for each family of methods"},
    {"compare": "held-out rows, ranking of methods and models"},
    {"simulate": "data with known truth, population values, sample-size plans"},
    {"output": "results as text, JSON, CSV, Markdown; the verdict; inspection"},
    {"export": "calibrators as ONNX and C"},
    {"studies": "the experiments of the papers"},
    {"figure": "the drawing engine; figures/: one file for each figure"},
    {"report": "the HTML page"},
    {"api": "public entry points: check arguments, call inward"},
]
OPTIONAL = ("export", "studies", "figure", "report")  # build options leave them out
RUNG = {room: height for height, rooms in enumerate(LADDER) for room in rooms}

# `propercal measure --logits z.npy --labels y.npy`: file, and what happens there.
PATH_OF_A_ROW = [
    ("cli/verb_measure.c", "flags become inputs and metric specs"),
    ("src/measure/measure_plan.c", "specs become the states to fill"),
    ("src/io/source.c", "files become batches of rows"),
    ("src/data/row_convert.c", "a row is checked and converted once"),
    ("src/kernels/softmax.c", "logits become probabilities"),
    ("src/machines/machine_grid.c", "scores and outcomes are added up"),
    ("src/metrics/ece.c", "a metric turns sums into its value"),
    ("src/output/write_results_tables.c", "values and verdict are written"),
]

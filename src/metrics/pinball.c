/* pinball: the loss of predicted quantiles.
 *
 * Formula:  mean over rows and levels t of (y - q_t)(t - 1[y < q_t])
 * Edge cases:
 * (1) quantiles: all their levels, or those of the option, which must be among them;
 * (2) normal predictions: q_t = mu + s Phi^-1(t);
 * (3) samples: interpolated linearly between sorted samples at position (n - 1) t.
 * Source: Koenker & Bassett 1978.
 * Accuracy: sums are exact; a row is summed level by level.
 * Cost: O(N levels). */
#include "metrics/forecast_metric.h"

enum { PINBALL_LEVELS };
enum { PINBALL_COUNT = PC_FORECAST_PARAMS, PINBALL_FIRST };

static const pcal_option pinball_options[] = {PC_FORECAST_LEVELS_OPTION};

static double pinball_row(const pc_forecast_shape *shape, const pc_level *levels, size_t count,
                          const double *row) {
  const double y = row[shape->columns];
  double sum = 0.0;
  for (size_t l = 0; l < count; l++) {
    const double q = pc_forecast_quantile(shape, row, &levels[l]);
    sum += (y - q) * (levels[l].level - (y < q ? 1.0 : 0.0));
  }
  return sum / (double)count;
}

/* If the parameters have no levels, all levels of the quantiles are used. */
static void pinball_values(const double *params, const pc_rows *rows, size_t begin,
                           size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  const size_t given = (size_t)params[PINBALL_COUNT];
  const size_t used = given > 0 ? given : shape.columns;
  pc_level levels[PCAL_LEVELS_MAX];
  for (size_t l = 0; l < used; l++)
    pc_level_make(&shape, given > 0 ? params[PINBALL_FIRST + l] : shape.levels[l], &levels[l]);
  for (size_t i = 0; i < count; i++)
    out[i] = pinball_row(&shape, levels, used, rows->probs + (begin + i) * rows->classes);
}

static pcal_status pinball_configure(pc_options *options, const pc_layout *layout,
                                     pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_forecast_levels(options, PINBALL_LEVELS, layout, err));
  pc_forecast_sum(config, layout, pinball_values, 1);
  const pc_option_value *value = &options->value[PINBALL_LEVELS];
  double *params = config->need.sum.params;
  for (size_t l = 0; value->set && l < value->list_count; l++) {
    params[PINBALL_COUNT] = (double)(l + 1);
    params[PINBALL_FIRST + l] = value->list[l];
  }
  return PCAL_OK;
}

const pc_metric pc_metric_pinball = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "pinball",
            .title = "pinball loss of predicted quantiles",
            .formula = "mean over rows i and levels t of (y_i - q_it)(t - 1[y_i < q_it])",
            .about = "A proper score for quantiles, lower is better: its expectation is "
                     "lowest at the true quantile of each level.",
            .citation = "Koenker & Bassett, Regression quantiles, Econometrica 1978",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET,
            .options = pinball_options,
            .option_count = sizeof pinball_options / sizeof *pinball_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = pinball_configure,
    .evaluate = pc_metric_evaluate_mean,
};

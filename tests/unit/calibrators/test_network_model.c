/* Calibrators by networks, for each kind: derivatives against differences, starts, order,
 * files, threads, failures. */
#include "calibrator_help.h"
#include "calibrators/networks/network_model.h"

#define NET_ROWS 600
#define NET_CLASSES 3

static const char *const net_methods[] = {"diag", "order-invariant", "order-preserving",
                                          "network"};

typedef struct net_data {
  double logits[NET_ROWS * NET_CLASSES];
  int32_t labels[NET_ROWS];
  pcal_batch batch;
} net_data;

/* Overconfidence grows with the score: no temperature can correct that. */
static void net_draw(net_data *data) {
  help_draw(data->logits, data->labels, NET_ROWS, NET_CLASSES, 3, 2);
  for (size_t i = 0; i < NET_ROWS * NET_CLASSES; i++)
    data->logits[i] *= 1.0 + 0.1 * fabs(data->logits[i]);
  data->batch = help_batch(PCAL_LOGIT, data->logits, data->labels, NET_ROWS, NET_CLASSES);
}

/* Half the sum of squared scores of a few rows. */
static double net_half(const pc_network_model *net, const double *parameters,
                       const pc_network_rows *rows, double *room, double *scores) {
  double sum = 0;
  net->kind->map(net, parameters, rows, room, scores);
  for (size_t i = 0; i < rows->stride * NET_CLASSES; i++)
    sum += 0.5 * scores[i] * scores[i];
  return sum;
}

static void net_slopes_of(const pcal_calibrator *calibrator, const net_data *data) {
  const pc_network_model *net = calibrator->parameters;
  const pc_rng noise = {HELP_SEED, 7};
  const size_t count = 24, room_size = net->kind->scratch_size(net, count); /* whole vectors */
  double *room = malloc(room_size * sizeof *room), scores[24 * NET_CLASSES];
  double *prepared = malloc(count * net->kind->prepared_size(net) * sizeof *prepared);
  const pc_network_rows rows = {prepared, count};
  net->kind->prepare(net, data->logits, count, prepared);
  double *at = malloc(net->count * sizeof *at);
  double *lanes = calloc(net->count * PC_NETWORK_LANES, sizeof *lanes);
  /* Away from kinks of units, where fits often end. */
  for (size_t i = 0; i < net->count; i++)
    at[i] = net->parameters[i] + 0.1 * pc_rng_normal(&noise, i);
  net_half(net, at, &rows, room, scores);
  net->kind->backward(net, at, &rows, scores, room, lanes);
  for (size_t i = 0; i < net->count; i++) {
    const double here = at[i], step = 1e-6 * (1 + fabs(here));
    at[i] = here + step;
    const double above = net_half(net, at, &rows, room, scores);
    at[i] = here - step;
    const double below = net_half(net, at, &rows, room, scores);
    at[i] = here;
    const double expected = (above - below) / (2 * step);
    const double slope = pc_network_fold(lanes + i * PC_NETWORK_LANES);
    if (!(fabs(slope - expected) <= 2e-5 * (1 + fabs(expected))))
      fail_msg("%s: slope %zu is %d, not %d millionths", calibrator->method->row.name, i,
               (int)(1e6 * slope), (int)(1e6 * expected));
  }
  free(room);
  free(prepared);
  free(at);
  free(lanes);
}

TEST(net_slopes) {
  static net_data data;
  net_draw(&data);
  for (size_t m = 0; m < UNIT_COUNT(net_methods); m++) {
    pcal_calibrator *calibrator = help_fit(&data.batch, net_methods[m]);
    net_slopes_of(calibrator, &data);
    pcal_calibrator_free(calibrator);
  }
}

/* Better than the best temperature, on the rows of the fit. */
TEST(net_learns) {
  static net_data data;
  net_draw(&data);
  pcal_calibrator *plain = help_fit(&data.batch, "temperature");
  for (size_t m = 0; m < UNIT_COUNT(net_methods); m++) {
    char spec[64];
    snprintf(spec, sizeof spec, "%s:l2=0.00001", net_methods[m]);
    pcal_calibrator *calibrator = help_fit(&data.batch, spec);
    assert_near(calibrator->fit.before, plain->fit.before, 1e-12);
    assert_true(calibrator->fit.after < plain->fit.after);
    pcal_calibrator_free(calibrator);
  }
  pcal_calibrator_free(plain);
}

/* At the start a network leaves probabilities unchanged. */
TEST(net_starts) {
  static net_data data;
  double expected[NET_ROWS * NET_CLASSES], out[NET_ROWS * NET_CLASSES];
  net_draw(&data);
  pcal_calibrator *identity = help_fit(&data.batch, "identity");
  help_apply(identity, &data.batch, expected);
  for (size_t m = 0; m < UNIT_COUNT(net_methods); m++) {
    pcal_calibrator *calibrator = help_fit(&data.batch, net_methods[m]);
    pc_network_model *net = calibrator->parameters;
    net->kind->start(net, 5, net->parameters);
    help_apply(calibrator, &data.batch, out);
    for (size_t i = 0; i < UNIT_COUNT(out); i++)
      assert_true(fabs(out[i] - expected[i]) < 1e-6);
    pcal_calibrator_free(calibrator);
  }
  pcal_calibrator_free(identity);
}

/* Files read back exactly; threads and the order of rows do not matter, the seed does. */
TEST(net_same) {
  static net_data data, turned;
  net_draw(&data);
  turned = data;
  for (size_t i = 0; i < NET_ROWS; i++) {
    memcpy(turned.logits + 3 * i, data.logits + 3 * (NET_ROWS - 1 - i), 3 * sizeof(double));
    turned.labels[i] = data.labels[NET_ROWS - 1 - i];
  }
  turned.batch = help_batch(PCAL_LOGIT, turned.logits, turned.labels, NET_ROWS, NET_CLASSES);
  for (size_t m = 0; m < UNIT_COUNT(net_methods); m++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_calibrator *three = NULL, *seeded = NULL;
    pcal_calibrator *one = help_fit(&data.batch, net_methods[m]);
    sink_bytes text = help_save(one), other;
    pcal_calibrator *again = help_load(text.bytes);
    other = help_save(again);
    assert_string_equal(text.bytes, other.bytes);
    free(other.bytes);
    env.threads = 3;
    assert_int_equal(help_try_fit(&turned.batch, net_methods[m], &env, &three, NULL), PCAL_OK);
    other = help_save(three);
    assert_string_equal(text.bytes, other.bytes);
    free(other.bytes);
    env.seed = 9;
    assert_int_equal(help_try_fit(&data.batch, net_methods[m], &env, &seeded, NULL), PCAL_OK);
    other = help_save(seeded);
    assert_true(strcmp(text.bytes, other.bytes) != 0);
    free(other.bytes);
    free(text.bytes);
    pcal_calibrator_free(seeded);
    pcal_calibrator_free(three);
    pcal_calibrator_free(again);
    pcal_calibrator_free(one);
  }
}

TEST(net_bad) {
  static net_data data;
  net_draw(&data);
  data.batch.rows = 20;
  help_refused(&data.batch, "network", PCAL_USAGE,
               "network has 46 parameters, too many for 20 rows; use temperature, or give more "
               "rows");
  help_parameters("diag", 3,
                  "{\"range\": [0, 1], \"scale\": 0, \"learned\": true, \"layers\": [], "
                  "\"more\": []}",
                  "cal.json, line 3: the scale must be a number above 0");
  help_parameters("diag", 3,
                  "{\"range\": [1, 0], \"scale\": 1, \"learned\": true, \"layers\": [], "
                  "\"more\": []}",
                  "cal.json, line 3: the range must be two numbers, the lower one first");
}

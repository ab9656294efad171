/* Fits temperature scaling to arrays, and applies it to one row.
 *
 *   cc fit_and_apply.c $(pkg-config --cflags --libs propercal) -o fit_and_apply
 */
#include <propercal.h>
#include <stdio.h>

static int print(void *user, const char *bytes, size_t count) {
  return fwrite(bytes, 1, count, user) != count;
}

/* Logits of an over-confident model: log(0.9 / 0.1), and 3 of 4 predictions are right. */
static const float logits[8][2] = {{2.1972246F, 0}, {2.1972246F, 0}, {2.1972246F, 0},
                                   {2.1972246F, 0}, {0, 2.1972246F}, {0, 2.1972246F},
                                   {0, 2.1972246F}, {0, 2.1972246F}};
static const int32_t labels[8] = {0, 0, 0, 1, 1, 1, 1, 0};

static pcal_status fit(pcal_calibrator **out, pcal_error *error) {
  pcal_input scores = PCAL_INPUT_INIT, classes = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT; /* temperature scaling */
  pcal_source *source = NULL;
  scores.data = logits;
  scores.type = PCAL_F32;
  scores.rows = 8;
  scores.columns = 2;
  classes.data = labels;
  classes.type = PCAL_I32;
  classes.rows = 8;
  inputs.logits = &scores;
  inputs.labels = &classes;
  pcal_status status = pcal_source_open(&inputs, NULL, &source, error);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, NULL, out, error);
  pcal_source_free(source);
  return status;
}

int main(void) {
  pcal_calibrator *calibrator = NULL;
  pcal_error error;
  float calibrated[2] = {0, 0};
  pcal_batch row = PCAL_BATCH_INIT;
  row.kind = PCAL_LOGIT;
  row.rows = 1;
  row.columns = 2;
  row.scores = logits[0];

  pcal_status status = fit(&calibrator, &error);
  if (status == PCAL_OK)
    status = pcal_calibrator_apply(calibrator, &row, NULL, calibrated, &error);
  if (status == PCAL_OK) {
    printf("before 0.90 0.10, after %.2f %.2f\n", (double)calibrated[0], (double)calibrated[1]);
    status = pcal_calibrator_describe(calibrator, PCAL_TEXT, print, stdout, &error);
  }
  if (status != PCAL_OK)
    fprintf(stderr, "%s\n", error.message);
  pcal_calibrator_free(calibrator);
  return pcal_status_exit_code(status);
}

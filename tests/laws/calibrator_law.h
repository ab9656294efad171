/* Fits, files and outputs of calibrators for the law tests; failures end the test. */
#ifndef CALIBRATOR_LAW_H
#define CALIBRATOR_LAW_H

#include "calibrators/calibrator.h"
#include "law_data.h"

typedef struct laws_case {
  const law_set *set;
  const char *spec;
  const double *weights;
  pcal_env env;
} laws_case;

pcal_batch laws_batch(const laws_case *about);

pcal_status laws_try(const laws_case *about, const pcal_batch *batch, int skip_missing,
                     pcal_calibrator **out, pcal_error *err);
pcal_calibrator *laws_fit(const laws_case *about, const pcal_batch *batch);

/* The file of a calibrator, and of a fit; the caller frees it. */
char *laws_save(const pcal_calibrator *calibrator);
char *laws_file(const laws_case *about, const pcal_batch *batch);

/* Frees both; fails if they differ. */
void laws_same(char *expected, char *actual, const laws_case *about, const char *what);

/* Removes the members that depend on the number of rows: "rows", "weighted", "weight",
 * warnings. */
void laws_strip(char *text);

/* Calibrated probabilities as doubles; the caller frees them. */
double *laws_apply(const pcal_calibrator *calibrator, const laws_case *about);

/* True if numbers are chosen by cross-validation, which takes thousands of fits. */
int laws_slow(const char *spec);

/* True if spec number i is tested on many rows: of methods with long searches only the first
 * is. */
int laws_for_many(size_t i);

/* True if parameters grow with the square of the classes. */
int laws_square(const char *spec);

/* True if the method can be used with such data; if not, it must fail with PCAL_USAGE. */
int laws_fits(const char *spec, const law_set *set);

/* Every spec on every small set: without weights, with whole and with fractional weights; slow
 * ones with whole weights only. */
typedef void (*laws_body)(const laws_case *about);
void laws_for_all(laws_body body);

#endif

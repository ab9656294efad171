/* Measuring in the ways that the laws compare.  A call that should succeed and does not fails
 * the test. */
#ifndef LAW_MEASURE_H
#define LAW_MEASURE_H

#include "law_specs.h"

/* What is measured; weights and groups may be NULL. */
typedef struct law_case {
  const law_set *set;
  const law_specs *specs;
  const double *weights;
  const uint32_t *groups;
  int sure; /* with intervals and null, of a few replicas */
  pcal_env env;
} law_case;

law_case law_case_make(const law_set *set, const law_specs *specs);

pcal_measure *law_new(const law_case *about);

/* Rows first .. first + count - 1 as one batch. */
pcal_batch law_batch(const law_case *about, size_t first, size_t count);
void law_update(pcal_measure *measure, const pcal_batch *batch);
void law_feed(pcal_measure *measure, const law_case *about, size_t first, size_t count);

/* Single rows in a given order, each under its own index; neighbours share a batch. */
void law_feed_rows(pcal_measure *measure, const law_case *about, const size_t *rows,
                   size_t count);

pcal_results *law_finish(const pcal_measure *measure);

/* What a measure has to say, as JSON; the caller frees it. */
char *law_json(const pcal_measure *measure);
/* The same, of a measure that has seen all rows as one batch. */
char *law_json_of(const law_case *about);

/* The part of a JSON text that does not tell how the rows were written down. */
const char *law_results_part(const char *json);

/* Spec, value, reason, parts, interval and null of all results of a group (NULL: all rows
 * together), one a line; the caller frees it. */
char *law_lines(const pcal_results *results, const char *group);

/* Writes '#' for the number in each "row 17 ..."; returns the first of them, or
 * PCAL_NO_ROW. */
uint64_t law_mask_rows(char *text);

/* Fails with the first line that differs; frees both. */
void law_compare(char *expected, char *actual, const law_case *about, const char *what);

/* Runs a law on every small data set for all rows with some traits: plain, with whole weights,
 * and with groups; for the rows that take them, with weights that are not whole. */
typedef void (*law_body)(const law_case *about);
void law_for_all(unsigned traits, law_body body);
/* The same with intervals and null. */
void law_for_all_sure(unsigned traits, law_body body);
/* As law_for_all, without those that have some traits. */
void law_for_all_but(unsigned with, unsigned without, law_body body);

#endif

/* The timing harness: every program here answers requests, so that the driver can let ours,
 * the peers and the machine's limits take turns on the same cores.
 *
 * A request is a line of words,
 *     OPERATION DATA OPTION THREADS [memory]
 * and its answer a line of JSON: the seconds of one execution and the numbers that it gave, or
 * with `memory` also the peaks of what the library and the process held meanwhile. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "propercal.h"

#define BENCH_VALUES 8

typedef struct bench_request {
  const char *folder; /* where the data are */
  char operation[32], data[32], option[32];
  unsigned threads;
  int memory;
} bench_request;

typedef struct bench_answer {
  double seconds;
  uint64_t heap;      /* peak of what the library asked for, bytes */
  uint64_t anonymous; /* peak growth of the process without mapped files, bytes */
  size_t count;
  const char *name[BENCH_VALUES]; /* static strings */
  double value[BENCH_VALUES];
} bench_answer;

typedef pcal_status (*bench_operation)(const bench_request *request, bench_answer *answer,
                                       pcal_error *err);

/* Answers requests from standard input; argv[1] is the folder of the data. */
int bench_serve(int argc, char **argv, bench_operation operation);

/* Around what is timed. */
void bench_start(const bench_request *request, bench_answer *answer);
void bench_stop(const bench_request *request, bench_answer *answer);

void bench_value(bench_answer *answer, const char *name, double value);
pcal_status bench_fail(pcal_error *err, pcal_status status, const char *sentence);

/* An environment with a pool that lives as long as the program. */
pcal_status bench_env(const bench_request *request, pcal_env *env, pcal_error *err);

/* A file of the data set; what is "scores" or "labels". */
void bench_path(const bench_request *request, const char *what, char *out, size_t size);

/* All rows in memory, kept until another data set is asked for. */
pcal_status bench_rows(const bench_request *request, const pcal_batch **out, pcal_error *err);

/* A source over the rows in memory, or over the mapped files when the option ends in "file". */
pcal_status bench_source(const bench_request *request, const pcal_env *env, pcal_source **out,
                         pcal_error *err);

#endif

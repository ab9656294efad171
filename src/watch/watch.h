/* A watch: calibration of rows that arrive over time, tested after every row. */
#ifndef PC_WATCH_H
#define PC_WATCH_H

#include "base/text.h"
#include "data/rows.h"
#include "io/source.h"
#include "watch/calibration_bets.h"

#define PC_WATCH_PART_LEAST 32 /* rows of a part that is recognised when it is given again */
#define PC_WATCH_PARTS_MAX 16777216

/* Rows whose score lies in a bin. */
typedef struct pc_watch_bin {
  uint64_t rows, hits;
  pc_fixed scores;
} pc_watch_bin;

struct pcal_watch {
  pcal_env env;
  double alpha;
  int started; /* the kind of scores and their columns are known */
  pcal_kind kind;
  uint64_t columns;
  uint64_t normalized, skipped; /* rows */
  uint64_t abstained;           /* rows in which the model did not answer */
  uint64_t alarm_rows;          /* rows at the first alarm; 0: none */
  pc_calibration_bets bets;
  pc_watch_bin bins[PC_BETS_BINS];
  uint64_t *parts; /* hashes of the parts added so far */
  size_t part_count, part_capacity;
};

PC_CHECKED pcal_status pc_watch_new(double alpha, const pcal_env *env, pcal_watch **out,
                                    pcal_error *err);
void pc_watch_free(pcal_watch *watch); /* or NULL */

/* Adds all rows of a source, in order; on failure the watch is unchanged. */
PC_CHECKED pcal_status pc_watch_update(pcal_watch *watch, pcal_source *source, unsigned flags,
                                       pcal_error *err);

void pc_watch_report(const pcal_watch *watch, pcal_watch_report *out);
void pc_watch_write_text(const pcal_watch *watch, pc_text *out);
void pc_watch_write_json(const pcal_watch *watch, pc_text *out);

PC_CHECKED pcal_status pc_watch_save(const pcal_watch *watch, pcal_sink sink, void *user,
                                     pcal_error *err);
PC_CHECKED pcal_status pc_watch_load(const void *bytes, size_t length, const char *name,
                                     const pcal_env *env, pcal_watch **out, pcal_error *err);

#endif

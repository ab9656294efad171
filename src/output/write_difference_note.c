/* How differences to another model were computed, in sentences. */
#include <math.h>

#include "base/number.h"
#include "output/write_results.h"

/* Writes the names of the metrics whose difference a method judged (unless out is NULL); returns
 * how many. */
static size_t difference_note_names(const pcal_results *results, pcal_difference_method method,
                                    pc_text *out) {
  size_t count = 0;
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_interval_result *interval_result = &results->records[m].interval_result;
    if (!interval_result->has_difference_interval ||
        interval_result->difference_method != method)
      continue;
    if (out != NULL)
      pc_text_format(out, "%s%s", count == 0 ? "" : ", ", results->records[m].label);
    count++;
  }
  return count;
}

static void difference_note_method(const pcal_results *results, pcal_difference_method method,
                                   const char *sentence, pc_text *out) {
  if (difference_note_names(results, method, NULL) == 0)
    return;
  pc_text_add(out, " ");
  difference_note_names(results, method, out);
  pc_text_add(out, sentence);
}

/* True if whole clusters were exchanged.  A row of soft labels is a cluster of its own. */
static int difference_note_clusters(const pcal_results *results) {
  return results->against.clusters && !results->soft;
}

/* Few rows allow few exchanges: 2^m of m rows, and half of them mirror the other half. */
static void difference_note_rows(const pcal_results *results, pc_text *out) {
  const pc_model_difference *against = &results->against;
  const int clusters = difference_note_clusters(results);
  const char *unit = clusters ? "cluster" : "row";
  char least[PC_NUMBER_MAX];
  if (!against->known)
    return;
  if (against->differ == 0) {
    pc_text_format(out, " The two models are the same in every %s.", unit);
    return;
  }
  pc_text_add(out, against->differ < PC_MODEL_DIFFERENCE_FEW ? " Only " : " ");
  pc_write_count((double)against->differ, out);
  if (!clusters) {
    pc_text_add(out, " of ");
    pc_write_count((double)results->rows, out);
  }
  const int one = clusters && against->differ == 1;
  pc_text_format(out, " %s%s differ%s", unit, one ? "" : "s", one ? "s" : "");
  if (against->differ < PC_MODEL_DIFFERENCE_FEW && !results->weighted) {
    pc_number_round(ldexp(1.0, 1 - (int)against->differ), 3, least);
    pc_text_format(out, ": no p-value can be below %s", least);
  }
  pc_text_add(out, ".");
}

void pc_write_difference_note(const pcal_results *results, const char *word, pc_text *out) {
  const size_t exchanged = difference_note_names(results, PCAL_DIFFERENCE_EXCHANGE, NULL) +
                           difference_note_names(results, PCAL_DIFFERENCE_EXCHANGE_WIDE, NULL);
  char chance[PC_NUMBER_MAX];
  if (exchanged + difference_note_names(results, PCAL_DIFFERENCE_REPLICAS, NULL) +
          difference_note_names(results, PCAL_DIFFERENCE_DELONG, NULL) ==
      0)
    return;
  pc_number_format(round((1.0 - results->level) * 1e12) / 1e12, chance);
  pc_text_format(out,
                 "%s: %sp is below %s exactly when the interval of the difference excludes "
                 "0.",
                 word,
                 exchanged == 0 ? ""
                 : difference_note_clusters(results)
                     ? "by exchanging the two models cluster by cluster; "
                     : "by exchanging the two models row by row; ",
                 chance);
  difference_note_rows(results, out);
  difference_note_method(
      results, PCAL_DIFFERENCE_EXCHANGE_WIDE,
      ": the two models err in different ways, so the interval allows for errors that move in "
      "opposite directions.",
      out);
  difference_note_method(
      results, PCAL_DIFFERENCE_REPLICAS,
      ": the models could not be exchanged, so standard errors alone decide.", out);
  difference_note_method(results, PCAL_DIFFERENCE_DELONG, ": by DeLong's test.", out);
}

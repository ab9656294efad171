#include "base/aliases.h"

#include <string.h>

#include "../unit.h"

static void assert_resolved(pcal_registry registry, const char *spec, const char *expected) {
  char out[PC_SPEC_MAX];
  pcal_error err;
  pc_error_clear(&err);
  assert_int_equal(pc_spec_resolve(registry, spec, out, &err), PCAL_OK);
  assert_string_equal(out, expected);
}

TEST(test_aliases_become_names) {
  assert_resolved(PCAL_METRICS, "nll", "log");
  assert_resolved(PCAL_METRICS, "NLL:clip=1e-9", "log:clip=1e-9");
  assert_resolved(PCAL_METRICS, "brier_score_loss", "brier:half=yes");
  assert_resolved(PCAL_METRICS, "Tce_Kde", "tce-kde");
  assert_resolved(PCAL_METRICS, "unknown:bins=3", "unknown:bins=3");
  assert_resolved(PCAL_CALIBRATORS, "sigmoid", "platt");
  assert_resolved(PCAL_METRICS, "sigmoid", "sigmoid"); /* of another table */
}

TEST(test_options_follow_those_of_an_alias) {
  assert_resolved(PCAL_METRICS, "brier-score-loss:clip=1", "brier:half=yes,clip=1");
}

TEST(test_names_that_do_not_fit_are_refused) {
  char out[PC_SPEC_MAX], longest[PC_SPEC_MAX + 8];
  pcal_error err;
  pc_error_clear(&err);
  assert_int_equal(pc_spec_resolve(PCAL_METRICS, ":bins=3", out, &err), PCAL_USAGE);
  memset(longest, 'x', sizeof longest);
  longest[3] = ':';
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(pc_spec_resolve(PCAL_METRICS, longest, out, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "too long"));
}

TEST(test_aliases_of_options) {
  assert_string_equal(pc_option_alias("n_bins", 6), "bins");
  assert_null(pc_option_alias("n_bins", 3));
  assert_null(pc_option_alias("bins", 4));
}

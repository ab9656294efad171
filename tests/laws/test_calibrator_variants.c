/* Calibrator files have the same bytes whichever instruction set fitted them.  The kernels are
 * chosen by the library's own file, included here with a level that the test sets. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t variants_most;
#define DISPATCH_MOST variants_most
#include "../../src/kernels/dispatch.c"

#include "calibrator_law.h"
#include "calibrator_specs.h"

/* With one set of kernels there is nothing to compare. */
static void variants_skip_if_one(void) {
  if (dispatch_level() == 0)
    skip();
}

static void variants_body(const laws_case *about) {
  const pcal_batch batch = laws_batch(about);
  variants_most = 0;
  assert_non_null(strstr(pcal_build_info(), "portable")); /* the library asks here */
  char *portable = laws_file(about, &batch);
  for (variants_most = 1; variants_most <= dispatch_level(); variants_most++) {
    char *wider = laws_file(about, &batch);
    if (strcmp(portable, wider) != 0)
      fail_msg("%s differs with instruction set %zu:\n%s\n%s", about->spec, variants_most,
               portable, wider);
    free(wider);
  }
  free(portable);
}

TEST(test_every_instruction_set_writes_the_same_file) {
  variants_skip_if_one();
  laws_for_all(variants_body);
}

/* Samples, wide rows and more than one block. */
TEST(test_on_many_rows) {
  variants_skip_if_one();
  law_set *large = law_set_large(), *narrow = law_set_narrow();
  for (size_t i = 0; i < calibrator_spec_count(); i++) {
    const char *spec = calibrator_spec_at(i);
    const laws_case about = {laws_square(spec) ? narrow : large, spec, NULL, PCAL_ENV_INIT};
    if (laws_for_many(i))
      variants_body(&about);
  }
  law_set_free(large);
  law_set_free(narrow);
}

#include "../unit.h"

TEST(names_every_kind) {
  assert_string_equal(pcal_kind_name(PCAL_PROBABILITY), "probability");
  assert_string_equal(pcal_kind_name(PCAL_LOGIT), "logit");
  assert_string_equal(pcal_kind_name(PCAL_LOG_PROBABILITY), "log-probability");
  assert_string_equal(pcal_kind_name(PCAL_CONFIDENCE), "confidence");
  assert_null(pcal_kind_name((pcal_kind)0));
  assert_string_equal(pcal_kind_name(PCAL_MEAN_VARIANCE), "mean-variance");
  assert_string_equal(pcal_kind_name(PCAL_MEAN_STD), "mean-std");
  assert_string_equal(pcal_kind_name(PCAL_QUANTILES), "quantiles");
  assert_string_equal(pcal_kind_name(PCAL_SAMPLES), "samples");
  assert_string_equal(pcal_kind_name(PCAL_SAMPLE_VECTORS), "sample-vectors");
  assert_null(pcal_kind_name((pcal_kind)10));
}

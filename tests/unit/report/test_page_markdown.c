#include "page_help.h"

TEST(test_the_text) {
  static const char *const specs[] = {"accuracy", "brier"};
  pcal_report_config config = page_config();
  config.specs = specs;
  config.spec_count = 2;
  config.interval = 0;
  config.title = "a | b";
  config.command = "propercal report --data d.csv";
  config.input_flags = "--data d.csv";
  char *page = page_text(&config, PCAL_MARKDOWN);
  /* Right in 16 of 24 rows. */
  static const char head[] = "# a \\| b\n\n24 rows, 3 classes, probabilities\n\n";
  assert_memory_equal(page, head, sizeof head - 1);
  assert_contains(page, "| metric | value | estimates | bound |\n"
                        "| --- | ---: | --- | --- |\n"
                        "| `accuracy` | 0.66667 | proper |  |\n"
                        "| `brier` | ");
  assert_contains(page, "## Problems of the data\n\n- 1 of 3 classes never occur.\n\n");
  assert_contains(page, "```\npropercal report --data d.csv\n"
                        "propercal measure --data d.csv --metric accuracy --metric brier\n"
                        "propercal plot reliability --data d.csv -o reliability.svg\n```\n");
  free(page);
}

TEST(test_before_and_after) {
  pcal_report_config config = page_config();
  config.method = "temperature";
  char *page = page_text(&config, PCAL_MARKDOWN);
  assert_contains(page, "\n## Before calibration\n");
  assert_contains(page, "\n## After `temperature`\n");
  assert_contains(page, "| metric | before | after | change | estimates | bound |");
  assert_contains(page, "\npropercal fit --method temperature ... -o calibrator.json\n");
  assert_contains(page, "\npropercal apply calibrator.json ... -o calibrated.npy\n");
  free(page);
}

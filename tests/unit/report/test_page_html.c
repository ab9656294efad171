#include "page_help.h"

TEST(test_names_are_never_markup) {
  pcal_report_config config = page_config();
  config.title = "<i>\"title\"</i>";
  config.command = "propercal report '</pre><b>'";
  char *page = page_text(&config, PCAL_HTML);
  assert_contains(page, "<title>&lt;i&gt;&quot;title&quot;&lt;/i&gt;</title>");
  assert_contains(page, "<th scope=\"row\">&lt;b&gt;cat&lt;/b&gt;</th>");
  assert_contains(page, "'&lt;/pre&gt;&lt;b&gt;'");
  assert_contains(page, "\"\\u003c/script>\"");
  assert_null(strstr(page, "<b>cat"));
  assert_null(strstr(page, "<i>\""));
  assert_int_equal(page_count(page, "</script"), 2);
  free(page);
}

TEST(test_nothing_from_elsewhere) {
  const pcal_report_config config = page_config();
  char *page = page_text(&config, PCAL_HTML);
  assert_contains(page, "default-src 'none'");
  assert_null(strstr(page, " src="));
  assert_null(strstr(page, "url("));
  assert_null(strstr(page, "@import"));
  assert_int_equal(page_count(page, "http"), page_count(page, "http://www.w3.org/2000/svg") +
                                                 page_count(page, "http-equiv"));
  free(page);
}

TEST(test_before_only) {
  const pcal_report_config config = page_config();
  char *page = page_text(&config, PCAL_HTML);
  assert_null(strstr(page, "data-time=\""));
  assert_null(strstr(page, "type=\"button\" data-side"));
  assert_null(strstr(page, "id=\"calibrator\""));
  assert_contains(page, "\"after\": null");
  assert_int_equal(page_count(page, "<h2"), page_count(page, "</h2>"));
  assert_int_equal(page_count(page, "<table"), page_count(page, "<caption>"));
  free(page);
}

TEST(test_before_and_after) {
  pcal_report_config config = page_config();
  config.method = "temperature";
  char *page = page_text(&config, PCAL_HTML);
  assert_int_equal(page_count(page, "data-time=\"before\""),
                   page_count(page, "data-time=\"after\""));
  assert_contains(page, "<h3>After <code>temperature</code></h3>");
  assert_contains(page, "judged by cross-validation");
  assert_contains(page, ">change</th>");
  free(page);
}

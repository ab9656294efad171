#include "figure_help.h"

#include "figure/figure_registry.h"

TEST(test_rows) {
  assert_true(pc_figure_row_count() >= 12);
  assert_null(pc_figure_row_at(pc_figure_row_count()));
  for (size_t i = 0; i < pc_figure_row_count(); i++) {
    const pcal_registry_row *row = pc_figure_row_at(i);
    const pc_figure_row *found;
    pc_options options;
    assert_int_equal(row->registry, PCAL_FIGURES);
    assert_true(row->name[0] != '\0' && row->title[0] != '\0' && row->about[0] != '\0');
    assert_non_null(row->formula);
    assert_non_null(row->citation);
    assert_int_equal(pc_figure_parse(row->name, &found, &options, NULL), PCAL_OK);
    assert_ptr_equal(&found->row, row);
    assert_true(found->width >= 240 && found->height >= 240);
    assert_true(found->study != NULL || (found->request != NULL && found->build != NULL));
  }
  assert_string_equal(pc_figure_row_at(0)->name, "reliability");
}

static void gallery_refused(const char *spec, const char *sentence) {
  const pc_figure_row *row;
  pc_options options;
  pcal_error err;
  assert_int_equal(pc_figure_parse(spec, &row, &options, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  assert_int_equal(pc_figure_parse(spec, &row, &options, NULL), PCAL_USAGE);
}

TEST(test_unknown_names) {
  gallery_refused("relaibility",
                  "there is no figure called 'relaibility'; did you mean 'reliability'?");
  gallery_refused("sundial",
                  "there is no figure called 'sundial'; pcal_registry_at shows those that "
                  "exist");
  gallery_refused("ks-grap:rank=2",
                  "there is no figure called 'ks-grap'; did you mean 'ks-graph'?");
}

TEST(test_wishes_have_room) {
  static pc_figure_request request;
  for (size_t i = 0; i < PC_FIGURE_SPECS + 3; i++)
    pc_figure_request_metric(&request, "ece:bins=%zu", i + 1);
  assert_int_equal(request.spec_count, PC_FIGURE_SPECS);
  assert_string_equal(request.specs[0], "ece:bins=1");
  assert_string_equal(request.specs[PC_FIGURE_SPECS - 1], "ece:bins=48");
}

TEST(test_columns_by_name) {
  double values[2] = {1, 2};
  const pc_plot_table graph = {
      .column_count = 2, .count = 1, .names = {"a", "b"}, .columns = {values, values + 1}};
  assert_ptr_equal(pc_graph_column(&graph, "b"), values + 1);
  assert_null(pc_graph_column(&graph, "c"));
}

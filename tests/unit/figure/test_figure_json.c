#include "figure/figure_json.h"

#include "figure_help.h"

static const char figure_json_expected[] = "{\n"
                                           "  \"title\": \"a \\\"title\\\"\",\n"
                                           "  \"subtitle\": null,\n"
                                           "  \"description\": null,\n"
                                           "  \"width\": 40,\n"
                                           "  \"height\": 30,\n"
                                           "  \"panels\": [\n"
                                           "    {\n"
                                           "      \"rect\": [1, 2, 30, 20],\n"
                                           "      \"x\": {\n"
                                           "        \"label\": \"score\",\n"
                                           "        \"low\": 0,\n"
                                           "        \"high\": 1,\n"
                                           "        \"ticks\": [0, 0.5, 1],\n"
                                           "        \"numbers\": \"percent\"\n"
                                           "      },\n"
                                           "      \"y\": {\n"
                                           "        \"label\": null,\n"
                                           "        \"low\": 0,\n"
                                           "        \"high\": 1,\n"
                                           "        \"ticks\": [],\n"
                                           "        \"numbers\": \"plain\"\n"
                                           "      }\n"
                                           "    }\n"
                                           "  ],\n"
                                           "  \"marks\": [\n"
                                           "    {\n"
                                           "      \"kind\": \"bar\",\n"
                                           "      \"panel\": 0,\n"
                                           "      \"tone\": \"warm\",\n"
                                           "      \"pale\": true,\n"
                                           "      \"points\": [\n"
                                           "        [0, 0.5],\n"
                                           "        [0.25, 1]\n"
                                           "      ],\n"
                                           "      \"text\": \"hint\"\n"
                                           "    },\n"
                                           "    {\n"
                                           "      \"kind\": \"line\",\n"
                                           "      \"panel\": 0,\n"
                                           "      \"tone\": \"muted\",\n"
                                           "      \"dashed\": true,\n"
                                           "      \"size\": 1.5,\n"
                                           "      \"points\": [\n"
                                           "        [0, 0.5],\n"
                                           "        [0.25, 1],\n"
                                           "        [1, 2]\n"
                                           "      ],\n"
                                           "      \"text\": null\n"
                                           "    },\n"
                                           "    {\n"
                                           "      \"kind\": \"note\",\n"
                                           "      \"panel\": 0,\n"
                                           "      \"tone\": \"ink\",\n"
                                           "      \"bold\": true,\n"
                                           "      \"points\": [\n"
                                           "        [1, 2]\n"
                                           "      ],\n"
                                           "      \"text\": \"here\",\n"
                                           "      \"anchor\": \"end\",\n"
                                           "      \"shift\": [-6, 3]\n"
                                           "    }\n"
                                           "  ],\n"
                                           "  \"key\": [\n"
                                           "    {\n"
                                           "      \"sample\": \"point\",\n"
                                           "      \"tone\": \"cool\",\n"
                                           "      \"hollow\": true,\n"
                                           "      \"text\": \"few\"\n"
                                           "    }\n"
                                           "  ]\n"
                                           "}\n";

static void figure_json_says(const pc_figure *figure, const char *expected) {
  pc_text out;
  pcal_error err;
  pc_text_init(&out, figure->env);
  assert_int_equal(pc_figure_json_write(figure, &out, &err), PCAL_OK);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
}

TEST(test_everything_is_told) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_point corners[] = {{0, 0.5}, {0.25, 1}, {1, 2}};
  pc_figure figure;
  pc_figure_init(&figure, 40, 30, &env);
  figure.title = pc_figure_add_string(&figure, "a \"title\"");
  const size_t panel = pc_figure_panel(&figure, (pc_rect){1, 2, 30, 20});
  pc_figure_axis(&figure, panel, PC_SIDE_X, 0, 1, 3, PC_NUMBERS_PERCENT, "score");
  pc_figure_bar(&figure, panel, (pc_look){.tone = PC_TONE_WARM, .pale = 1}, corners[0],
                corners[1], "hint");
  pc_figure_line(&figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                 corners, 3);
  pc_figure_note(&figure, panel, (pc_look){.tone = PC_TONE_INK, .bold = 1}, corners[2],
                 (pc_point){-6, 3}, PC_ANCHOR_END, "here");
  pc_figure_legend(&figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_COOL, .hollow = 1},
                   "few");
  figure_json_says(&figure, figure_json_expected);
  pc_figure_free(&figure);
}

TEST(test_a_failed_figure_is_told) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pc_text out;
  pcal_error err;
  pc_figure_init(&figure, 40, 30, &env);
  pc_text_init(&out, &env);
  figure.failed = 1;
  assert_int_equal(pc_figure_json_write(&figure, &out, &err), PCAL_MEMORY);
  pc_text_free(&out);
  pc_figure_free(&figure);
}

/* Cites the numbers of src/output/inspect_guess.c. */
#include "../io/io_help.h"
#include "../measure/measure_help.h"

#define ROLE "\"role\": "

/* The roles that inspect gives to the columns of a file, "null probs labels". */
static void guess_is(const char *path, const char *expected) {
  sink_bytes json = {0};
  char roles[400] = "";
  size_t used = 0;
  pcal_error err;
  if (pcal_inspect_file(path, 0, NULL, PCAL_JSON, sink_collect, &json, NULL, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (const char *at = strstr(json.bytes, ROLE); at != NULL; at = strstr(at, ROLE)) {
    at += strlen(ROLE);
    at += *at == '"';
    const size_t length = strcspn(at, "\"\n");
    used += (size_t)snprintf(roles + used, sizeof roles - used, "%s%.*s", used > 0 ? " " : "",
                             (int)length, at);
  }
  free(json.bytes);
  assert_string_equal(roles, expected);
}

static void guess_csv(const char *csv, const char *expected) {
  guess_is(help_text("guess.csv", csv), expected);
}

TEST(test_0_names_that_data_knows) {
  guess_csv("probs.a,x,probs.b,labels\n0.25,7,0.5,1\n0.5,3,0.25,0\n",
            "probs null probs labels");
  guess_csv("prob,died\n0.25,1\n0.5,0\n", "probs labels");
  guess_csv("mean,std,target\n1,2,3\n", "mean std target");
}

TEST(test_1_outcomes) {
  guess_csv("risk,outcome_date,outcome\n0.5,7,1\n0.25,8,0\n", "probs null labels");
  guess_csv("died,risk,age\n1,0.5,70\n0,0.25,71\n", "labels probs null");
  guess_csv("risk,smoker,patient,weight\n0.5,1,0,1\n0.25,0,1,1\n", "probs labels null weights");
  guess_csv("cat,dog,stage,kind\n0.5,0.5,9,dog\n0.25,0.75,8,cat\n", "probs probs null labels");
  guess_csv("risk,age\n0.5,70\n0.25,71\n", "probs null");
}

TEST(test_2a_runs_that_sum_to_1) {
  guess_csv("age,female,p0,p1,p2,y\n70,0,0.25,0.25,0.5,2\n71,1,0.5,0.25,0.25,0\n",
            "null groups probs probs probs labels");
  guess_csv("low,mid,high,y\n0,0,1,2\n0.5,0.5,0,0\n", "probs probs probs labels");
  guess_csv("male,female,risk,died\n0,1,0.5,1\n1,0,0.25,0\n", "groups groups probs labels");
  guess_csv("p0,p1,p2,risk,died\n0.5,0.25,0.25,0.75,1\n0.25,0.5,0.25,0.5,0\n",
            "null null null probs labels");
}

TEST(test_2b_names_of_scores) {
  guess_csv("age,female,diabetes,risk,died\n70,1,0,0.25,1\n71,0,1,0.5,0\n",
            "null groups null probs labels");
  guess_csv("risk,weight,died\n0.25,0.5,1\n0.5,0.25,0\n", "probs weights labels");
  guess_csv("share,Predicted Risk,died\n0.25,0.5,1\n0.5,0.25,0\n", "null probs labels");
  guess_csv("share,predictedRisk,died\n0.25,0.5,1\n0.5,0.25,0\n", "null probs labels");
  guess_csv("risk_a,risk_b,died\n0.25,0.5,1\n0.5,0.25,0\n", "probs null labels");
  guess_csv("score,correct\n0.25,1\n0.5,0\n", "confidence correct");
}

TEST(test_2c_runs_of_logits) {
  guess_csv("z0,z1,z2,class\n-1.5,2,0.5,1\n2,3,0.5,0\n", "logits logits logits labels");
  guess_csv("lab1,lab2,died\n-1.5,2.5,1\n2,3,0\n", "null null labels");
  guess_csv("l_no,l_yes,died\n-0.6931471805599453,-0.6931471805599453,1\n"
            "-0.2876820724517809,-1.3862943611198906,0\n",
            "log_probs log_probs labels");
}

TEST(test_2d_one_logit) {
  guess_csv("apache,score,died\n31,-1.5,1\n20,2,0\n", "null logits labels");
  guess_csv("risk,died\n0.5,1\n1.5,0\n", "probs labels");
}

TEST(test_2e_the_last_share) {
  guess_csv("ratio,model,died\n0.25,0.5,1\n0.5,0.25,0\n", "null probs labels");
}

TEST(test_2f_columns_without_names) {
  guess_csv("-1.5,2.5,2\n2.5,3,0\n1.5,1.5,1\n", "logits logits logits");
  guess_csv("-1.5,2.5,2,2\n2.5,3,0.5,0\n1.5,1.5,1,1\n", "logits logits logits labels");
  guess_csv("0.5,1\n0.25,0\n", "probs labels");
}

TEST(test_4_a_matrix_and_a_column_alone) {
  static const double shares[] = {0.25, 0.75, 0.5, 0.5}, one_hot[] = {0, 1, 1, 0};
  const char *type = pc_little_endian() ? "<f8" : ">f8";
  guess_is(help_npy_file("m.npy", type, "(2, 2)", shares, sizeof shares), "probs probs");
  guess_is(help_npy_file("m.npy", type, "(4,)", shares, sizeof shares), "probs");
  guess_is(help_npy_file("m.npy", type, "(2, 2)", one_hot, sizeof one_hot), "labels labels");
  guess_is(help_npy_file("m.npy", type, "(4,)", one_hot, sizeof one_hot), "labels");
  guess_is(help_npy_file("sites.npy", type, "(4,)", one_hot, sizeof one_hot), "labels");
  guess_is(help_npy_file("site.npy", type, "(4,)", one_hot, sizeof one_hot), "groups");
  guess_is(help_npy_file("weights.npy", type, "(4,)", one_hot, sizeof one_hot), "weights");
  guess_csv("died\n1\n0\n", "labels");
  guess_csv("risk\n0.5\n0.25\n", "probs");
}

TEST(test_members_by_their_names) {
  guess_is(help_text("d.jsonl", "{\"id\": 7, \"probs\": [0.5, 0.5], \"labels\": 1}\n"),
           "null probs labels");
  guess_is(help_text("d.jsonl", "{\"site\": 7, \"risk\": 0.5, \"weight\": 1, \"died\": 1}\n"),
           "groups probs weights labels");
}

TEST(test_the_hint_of_a_table) {
  sink_bytes text = {0};
  pcal_error err;
  const char *path = help_text("hint.csv", "age,p0,p1,p2,y\n70,0.25,0.25,0.5,2\n");
  assert_int_equal(pcal_inspect_file(path, 0, NULL, PCAL_TEXT, sink_collect, &text, NULL, &err),
                   PCAL_OK);
  assert_contains(text.bytes, "\n  a table: p0..p2 could be probs, and y could be labels; "
                              "choose columns as file.csv:column or file.csv:first..last\n");
  free(text.bytes);
}

static pcal_status guess_scenario(const pcal_env *env, void *user, pcal_error *err) {
  sink_bytes text = {0};
  const pcal_status status =
      pcal_inspect_file(user, 0, env, PCAL_JSON, sink_collect, &text, NULL, err);
  free(text.bytes);
  return status;
}

TEST(test_each_allocation_may_fail) {
  char path[300];
  snprintf(path, sizeof path, "%s", help_text("guess.csv", "probs.a,probs.b,y\n0.5,0.5,1\n"));
  help_fail_each_allocation(guess_scenario, path);
}

TEST_GROUP(help_setup, help_teardown)

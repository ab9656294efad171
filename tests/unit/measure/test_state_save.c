#include "base/checksum.h"
#include "measure/saved_state.h"
#include "state_help.h"

#define SAVE_SPECS "accuracy log ece ks"

static uint64_t save_number(const char *bytes, size_t count) {
  uint64_t number = 0;
  for (size_t b = 0; b < count; b++)
    number |= (uint64_t)(unsigned char)bytes[b] << (8 * b);
  return number;
}

TEST(test_the_head_and_the_end) {
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, SAVE_SPECS, 0);
  const sink_bytes saved = state_of(measure);
  assert_memory_equal(saved.bytes, "PCALSTAT", 8);
  assert_int_equal(save_number(saved.bytes + 8, 4), 5);
  assert_int_equal(save_number(saved.bytes + 12, 8), saved.length);
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, saved.bytes, saved.length - 4);
  assert_int_equal(save_number(saved.bytes + saved.length - 4, 4),
                   pc_checksum_value(&checksum));
  free(saved.bytes);
  pcal_measure_free(measure);
}

static void save_same(const pcal_measure *a, const pcal_measure *b) {
  const sink_bytes first = state_of(a), second = state_of(b);
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.bytes, second.bytes, first.length);
  free(first.bytes);
  free(second.bytes);
}

TEST(test_batches_do_not_show) {
  const given_data data = state_data();
  pcal_measure *whole = state_measure(&data, SAVE_SPECS, 0), *rows = NULL;
  assert_int_equal(given_new(&data, SAVE_SPECS, NULL, &rows, NULL), PCAL_OK);
  for (size_t i = data.rows; i > 0; i--) {
    const given_data row = state_slice(&data, i - 1, 1);
    pcal_batch batch = given_batch(&row);
    batch.first_row = i - 1;
    assert_int_equal(pcal_measure_update(rows, &batch, NULL), PCAL_OK);
  }
  save_same(whole, rows);
  pcal_measure_free(whole);
  pcal_measure_free(rows);
}

/* Another byte, another state: labels, weights, indices and options all show. */
TEST(test_what_was_seen_shows) {
  static const int32_t labels[] = {0, 1, 1, 1, 0, 1};
  static const double ones[] = {1, 1, 1, 1, 1, 1}, weights[] = {1, 1, 1, 1, 1, 2};
  const given_data data = state_data();
  given_data other[4] = {data, data, data, data};
  other[0].labels = labels;
  other[1].weights = ones;
  other[2].weights = weights;
  other[3].skip_missing = 1;
  pcal_measure *measure = state_measure(&data, SAVE_SPECS, 0);
  const sink_bytes saved = state_of(measure);
  for (size_t i = 0; i < 6; i++) {
    pcal_measure *changed = i < 4    ? state_measure(&other[i], SAVE_SPECS, 0)
                            : i == 4 ? state_measure(&data, SAVE_SPECS, 1)
                                     : state_measure(&data, "accuracy log ece", 0);
    const sink_bytes found = state_of(changed);
    assert_true(found.length != saved.length ||
                memcmp(found.bytes, saved.bytes, saved.length) != 0);
    free(found.bytes);
    pcal_measure_free(changed);
  }
  free(saved.bytes);
  pcal_measure_free(measure);
}

/* The bytes of version 5.  When this fails, files that people keep would be read differently:
 * give the format a new version. */
TEST(test_version_five_stays_as_it_is) {
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, "accuracy ks", 7);
  const sink_bytes saved = state_of(measure);
  assert_int_equal(PC_STATE_VERSION, 5);
  assert_int_equal(saved.length, 3214);
  assert_int_equal(save_number(saved.bytes + saved.length - 4, 4), 0x13667303);
  free(saved.bytes);
  pcal_measure_free(measure);
}

TEST(test_pairs_are_refused) {
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, "accuracy skce", 0);
  sink_bytes out = {0};
  pcal_error err;
  assert_int_equal(pcal_measure_save(measure, sink_collect, &out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "skce needs all pairs of rows, so its state cannot be saved; measure it on "
                  "the whole data, or leave it out here");
  assert_int_equal(out.length, 0);
  pcal_measure_free(measure);
}

typedef struct save_limit {
  size_t left;
} save_limit;

static int save_limited(void *user, const char *bytes, size_t count) {
  save_limit *limit = user;
  (void)bytes;
  if (count > limit->left)
    return 1;
  limit->left -= count;
  return 0;
}

TEST(test_a_full_disk_is_told) {
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, SAVE_SPECS, 0);
  const sink_bytes saved = state_of(measure);
  for (size_t room = 0; room < saved.length; room += 97) {
    save_limit limit = {room};
    pcal_error err;
    assert_int_equal(pcal_measure_save(measure, save_limited, &limit, &err), PCAL_IO);
    assert_sentence(err, PCAL_IO, "the output could not be written");
  }
  save_limit enough = {saved.length};
  assert_int_equal(pcal_measure_save(measure, save_limited, &enough, NULL), PCAL_OK);
  assert_int_equal(enough.left, 0);
  free(saved.bytes);
  pcal_measure_free(measure);
}

TEST(test_missing_arguments) {
  const given_data data = state_data();
  pcal_measure *measure = state_measure(&data, SAVE_SPECS, 0);
  pcal_error err;
  assert_int_equal(pcal_measure_save(NULL, sink_collect, NULL, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "pcal_measure_save needs a measure and a sink");
  assert_int_equal(pcal_measure_save(measure, NULL, NULL, &err), PCAL_USAGE);
  pcal_measure_free(measure);
}

static pcal_status save_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const given_data *data = user;
  const pcal_batch batch = given_batch(data);
  pcal_measure *measure = NULL;
  sink_bytes out = {0};
  pcal_status status = given_new(data, SAVE_SPECS, env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status =
        pcal_measure_set_names(measure, NULL, 0, data->group_names, data->group_count, err);
  if (status == PCAL_OK)
    status = pcal_measure_save(measure, sink_collect, &out, err);
  free(out.bytes);
  pcal_measure_free(measure);
  return status;
}

TEST(test_every_allocation_may_fail) {
  static const char *const names[] = {"x", "y"};
  static const uint32_t groups[] = {0, 1, 0, 1, 0, 1};
  static const double weights[] = {1, 2, 0.5, 1, 3, 1};
  given_data data = state_data();
  data.groups = groups;
  data.weights = weights;
  data.group_names = names;
  data.group_count = 2;
  unit_fail_each_allocation(save_scenario, &data);
}

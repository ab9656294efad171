/* Six outputs that become new together, and what a loss of power leaves of them (power_disk.h).
 *
 * Between two syncs of the folder twelve names change: six links to the old files and six
 * renames, then as many removals.  Any subset of twelve changes may have happened.  All 4,096 are
 * tried where the files existed and are written without a name at first, in a folder in memory;
 * in the other three cases the subsets of at most two changes, and of all but at most two.  The
 * subsets before a change of names are among those after it, so that only states before a sync
 * or a write are tried.  The files are opened in an order that changes from state to state. */
#define _GNU_SOURCE
#include "power_disk.h"

#define SIX 6

static const char *const six_names[SIX] = {"logits", "labels", "report",
                                           "state",  "table",  "cal"};
static const char *const six_old[SIX] = {"old 0", "old 1", "old 2", "old 3", "old 4", "old 5"};
static const char *const six_new[SIX] = {"new 0", "new 1", "new 2", "new 3", "new 4", "new 5"};

typedef struct six_case {
  int existed, named;
  disk before;
  size_t states, old, new;
} six_case;

/* All old or all new, whichever is opened first. */
static void six_judge(six_case *c, const disk *d, size_t end) {
  char path[256], text[64];
  const pcal_env env = pc_env_resolve(NULL);
  size_t old = 0, new = 0;
  make_folder(d, end);
  for (size_t i = 0; i < SIX; i++) {
    path_of(six_names[(i + c->states) % SIX], path);
    pc_output_journal_replay(path, &env);
  }
  for (size_t i = 0; i < SIX; i++) {
    text[0] = '\0';
    get(six_names[i], text);
    old += strcmp(text, c->existed ? six_old[i] : "") == 0;
    new += strcmp(text, six_new[i]) == 0;
  }
  if (old != SIX && new != SIX)
    fail_msg("after %zu steps: %zu files are old and %zu new", end, old, new);
  c->states++;
  c->old += old == SIX;
  c->new += new == SIX;
}

static void six_lose_power(six_case *c, size_t end) {
  size_t open_steps[OPEN_MAX];
  disk sure;
  const size_t count = open_since_sync(&c->before, end, &sure, open_steps);
  const int all = c->existed && !c->named && strncmp(folder, "/dev/shm", 8) == 0;
  for (size_t part = 0; part < (size_t)1 << count; part++) {
    const size_t made = (size_t)__builtin_popcountll(part);
    disk d = sure;
    if (!all && made > 2 && made + 2 < count)
      continue;
    for (size_t o = 0; o < count; o++)
      if (part >> o & 1)
        disk_apply(&d, &steps[open_steps[o]]);
    six_judge(c, &d, end);
  }
}

static void six_record(six_case *c) {
  char path[256];
  pcal_output *outputs[SIX];
  clear_folder();
  content_count = step_count = 0;
  for (size_t i = 0; c->existed && i < SIX; i++) {
    put(six_names[i], six_old[i], strlen(six_old[i]));
    path_of(six_names[i], path);
    disk_set(&c->before, six_names[i], inode_at(path));
  }
  keep_all();
  recording = 1;
  for (size_t i = 0; i < SIX; i++)
    outputs[i] = written(six_names[i], six_new[i], c->named);
  keep_new(outputs, six_new, SIX);
  assert_int_equal(pc_output_file_commit_all(outputs, SIX, NULL), PCAL_OK);
  recording = 0;
  keep_lists(SIX);
}

TEST(power_loss_leaves_six_old_or_six_new) {
  for (int way = 0; way < 4; way++) {
    six_case c = {.existed = way % 2 == 0, .named = way / 2};
    six_record(&c);
    for (size_t end = 0; end <= step_count; end++)
      if (end == step_count || !is_name_step(&steps[end]))
        six_lose_power(&c, end);
    print_message("%zu steps, %zu states: %zu old, %zu new\n", step_count, c.states, c.old,
                  c.new);
    assert_true(c.old > 0 && c.new > 0);
  }
}

TEST_GROUP(make_temporary_folder, remove_temporary_folder)

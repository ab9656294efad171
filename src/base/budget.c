/* Edge cases:
 *  1. a block counts with its header; growing a block counts the difference.
 *  2. a budget lives until it is freed (or its call ends) and its last block is freed: handles
 *     may outlive the environment that they were made with.
 *  3. blame: the use that holds most when a block is refused, counting that block.
 *  4. when the allocator behind the budget fails, the limit is not to blame, and the error
 *     keeps its message.
 *  5. threads that allocate at the same time may be refused slightly below the limit, because
 *     each adds its block before it compares. */
#include "base/budget.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "system/cgroup.h"
#include "system/resources.h"

#define BUDGET_NO_BLAME PC_MEMORY_USE_COUNT

typedef struct budget_account {
  pcal_budget *budget;
  atomic_uint_least64_t live;
} budget_account;

struct pcal_budget {
  pcal_env env; /* with the allocator that the blocks come from */
  uint64_t limit;
  atomic_uint_least64_t live, peak;
  atomic_size_t owners; /* its blocks, running calls, and its creator */
  atomic_int blame;     /* pc_memory_use blamed for the last refusal, or BUDGET_NO_BLAME */
  budget_account accounts[PC_MEMORY_USE_COUNT];
};

/* Header of every block; keeps the alignment of the allocator. */
typedef union budget_head {
  struct {
    size_t size; /* including this header */
    budget_account *account;
  } block;
  max_align_t align;
} budget_head;

static const char *const budget_what[] = {
#define BUDGET_WHAT(name, what, remedy) what,
    PC_MEMORY_USE_LIST(BUDGET_WHAT)
#undef BUDGET_WHAT
};

static const char *const budget_remedy[] = {
#define BUDGET_REMEDY(name, what, remedy) remedy,
    PC_MEMORY_USE_LIST(BUDGET_REMEDY)
#undef BUDGET_REMEDY
};

/* ---- blocks ---- */

static void budget_drop(pcal_budget *budget) {
  if (atomic_fetch_sub(&budget->owners, 1) != 1)
    return;
  const pcal_env env = budget->env;
  pc_free(&env, budget);
}

static void budget_note_blame(budget_account *account, size_t more) {
  pcal_budget *budget = account->budget;
  uint64_t most = 0;
  int blame = 0;
  for (int a = 0; a < PC_MEMORY_USE_COUNT; a++) {
    const budget_account *here = &budget->accounts[a];
    const uint64_t live = atomic_load(&here->live) + (here == account ? more : 0);
    if (live > most) {
      most = live;
      blame = a;
    }
  }
  atomic_store(&budget->blame, blame);
}

/* Counts bytes; if they exceed the limit, records the blame and returns 0. */
static int budget_take(budget_account *account, size_t bytes) {
  pcal_budget *budget = account->budget;
  const uint64_t now = atomic_fetch_add(&budget->live, bytes) + bytes;
  if (now > budget->limit) {
    atomic_fetch_sub(&budget->live, bytes);
    budget_note_blame(account, bytes);
    return 0;
  }
  atomic_fetch_add(&account->live, bytes);
  uint64_t peak = atomic_load(&budget->peak);
  while (now > peak && !atomic_compare_exchange_weak(&budget->peak, &peak, now))
    continue;
  return 1;
}

static void budget_return(budget_account *account, size_t bytes) {
  atomic_fetch_sub(&account->budget->live, bytes);
  atomic_fetch_sub(&account->live, bytes);
}

static void *budget_resize(void *user, void *block, size_t size) {
  budget_head *head = block == NULL ? NULL : (budget_head *)block - 1;
  budget_account *account = head == NULL ? user : head->block.account;
  pcal_budget *budget = account->budget;
  const size_t before = head == NULL ? 0 : head->block.size, wanted = size + sizeof *head;
  if (wanted < size)
    return NULL;
  if (wanted > before && !budget_take(account, wanted - before))
    return NULL;
  budget_head *grown = pc_resize(&budget->env, head, wanted, 1);
  if (grown == NULL) {
    if (wanted > before)
      budget_return(account, wanted - before);
    atomic_store(&budget->blame, BUDGET_NO_BLAME);
    return NULL;
  }
  if (wanted < before)
    budget_return(account, before - wanted);
  if (head == NULL)
    atomic_fetch_add(&budget->owners, 1);
  grown->block.size = wanted;
  grown->block.account = account;
  return grown + 1;
}

static void budget_release(void *user, void *block) {
  (void)user;
  budget_head *head = (budget_head *)block - 1;
  budget_account *account = head->block.account;
  pcal_budget *budget = account->budget;
  budget_return(account, head->block.size);
  pc_free(&budget->env, head);
  budget_drop(budget);
}

/* ---- environments ---- */

/* env has no budget; its allocator provides the blocks. */
static pcal_status budget_new(const pcal_env *env, uint64_t limit, pcal_budget **out,
                              pcal_error *err) {
  pcal_budget *budget = pc_alloc(env, 1, sizeof *budget);
  if (budget == NULL)
    return pc_fail_memory(err, "making a memory budget");
  budget->env = *env;
  budget->limit = limit;
  atomic_init(&budget->live, 0);
  atomic_init(&budget->peak, 0);
  atomic_init(&budget->owners, 1);
  atomic_init(&budget->blame, BUDGET_NO_BLAME);
  for (size_t a = 0; a < PC_MEMORY_USE_COUNT; a++) {
    budget->accounts[a].budget = budget;
    atomic_init(&budget->accounts[a].live, 0);
  }
  *out = budget;
  return PCAL_OK;
}

static void budget_attach(pcal_budget *budget, pcal_env *env) {
  env->budget = budget;
  env->memory_limit = budget->limit;
  env->allocator = (pcal_allocator){budget_resize, budget_release, &budget->accounts[0]};
}

pcal_status pc_env_open(const pcal_env *env, pcal_env *out, pcal_error *err) {
  *out = pc_env_resolve(env);
  if (out->budget != NULL)
    atomic_fetch_add(&out->budget->owners, 1);
  else if (out->memory_limit == 0)
    return PCAL_OK;
  else
    PC_TRY(budget_new(out, out->memory_limit, &out->budget, err));
  budget_attach(out->budget, out);
  return PCAL_OK;
}

pcal_status pc_env_close(const pcal_env *opened, pcal_status status, pcal_error *err) {
  pc_budget_explain(opened, status, err);
  if (opened->budget != NULL)
    budget_drop(opened->budget);
  return status;
}

uint64_t pc_budget_left(const pcal_env *env) {
  const pcal_budget *budget = env->budget;
  if (budget == NULL)
    return UINT64_MAX;
  const uint64_t live = atomic_load(&budget->live);
  const uint64_t left = live < budget->limit ? budget->limit - live : 0;
  return left - left / 16;
}

pcal_env pc_env_for_use(const pcal_env *env, pc_memory_use what) {
  pcal_env other = *env;
  if (env->budget != NULL && env->allocator.resize == budget_resize)
    other.allocator.user = &env->budget->accounts[what];
  return other;
}

/* ---- messages ---- */

const char *pc_bytes_show(uint64_t bytes, char out[PC_BYTES_TEXT]) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  double scaled = (double)bytes;
  size_t unit = 0;
  for (; scaled >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
    scaled /= 1000.0;
  char number[PC_NUMBER_MAX];
  if (unit == 0)
    snprintf(number, sizeof number, "%" PRIu64, bytes);
  else
    pc_number_round(scaled, 3, number);
  snprintf(out, PC_BYTES_TEXT, "%.20s %s", number, units[unit]);
  return out;
}

pcal_status pc_budget_explain(const pcal_env *env, pcal_status status, pcal_error *err) {
  char limit[PC_BYTES_TEXT];
  if (status != PCAL_MEMORY || env->budget == NULL || err == NULL)
    return status;
  const int blame = atomic_exchange(&env->budget->blame, BUDGET_NO_BLAME);
  const char *activity = err->activity;
  if (blame == BUDGET_NO_BLAME || activity == NULL)
    return status;
  pc_fail(
      err, PCAL_MEMORY,
      "out of memory while %s: %s reached the memory limit of %s; %s, or raise {memory_limit}",
      activity, budget_what[blame], pc_bytes_show(env->budget->limit, limit),
      budget_remedy[blame]);
  err->activity = activity;
  return status;
}

/* ---- public ---- */

uint64_t pc_memory_default(const char *root) {
  const uint64_t physical = pc_physical_memory();
  uint64_t offered = pc_cgroup_memory(root);
  if (physical < offered)
    offered = physical;
  return offered >= (uint64_t)1 << 62 ? 0 : offered / 4 * 3;
}

uint64_t pcal_default_memory_limit(void) {
  return pc_memory_default("");
}

pcal_status pcal_budget_new(uint64_t limit, const pcal_env *env, pcal_budget **out,
                            pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_budget_new: out is NULL; give a pointer for the budget");
  *out = NULL;
  if (limit == 0)
    return pc_fail(err, PCAL_USAGE, "the limit of a memory budget must be above 0");
  pcal_env behind = pc_env_resolve_serial(env);
  if (behind.budget != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "env has a memory budget already; a budget cannot be part of another");
  return budget_new(&behind, limit, out, err);
}

uint64_t pcal_budget_peak(const pcal_budget *budget) {
  return budget == NULL ? 0 : atomic_load(&budget->peak);
}

void pcal_budget_free(pcal_budget *budget) {
  if (budget != NULL)
    budget_drop(budget);
}

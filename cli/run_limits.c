/*   1. A size is a decimal number and an optional unit: kB, MB, GB, TB are powers of 1000;
 *      KiB, MiB, GiB, TiB powers of 1024; case does not matter, and the B may be omitted.
 *      "none" is no limit.
 *   2. Without --memory-limit the limit is pcal_default_memory_limit().
 *   3. When --timeout expires the program ends at once: unfinished files are removed, and the
 *      exit code is CLI_TIMED_OUT (signals.h).  0 is no limit. */
#include "run_limits.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define RUN_LIMITS_TIMEOUT_MAX 1e8 /* seconds: three years */
#define RUN_LIMITS_NUMBER_MAX 32

static const struct {
  const char *name;
  double bytes;
} run_limits_units[] = {
    {"", 1.0},       {"b", 1.0},  {"k", 1e3},      {"kb", 1e3},     {"kib", 0x1p10},
    {"m", 1e6},      {"mb", 1e6}, {"mib", 0x1p20}, {"g", 1e9},      {"gb", 1e9},
    {"gib", 0x1p30}, {"t", 1e12}, {"tb", 1e12},    {"tib", 0x1p40},
};

/* Parses a size; returns 1 if it is valid and at least a byte. */
static int run_limits_read_size(const char *text, uint64_t *bytes) {
  char number[RUN_LIMITS_NUMBER_MAX];
  const size_t digits = strspn(text, "0123456789.");
  double value = 0.0;
  if (digits == 0 || digits >= sizeof number)
    return 0;
  memcpy(number, text, digits);
  number[digits] = '\0';
  if (!cli_read_real(number, &value))
    return 0;
  for (size_t u = 0; u < CLI_COUNT_OF(run_limits_units); u++)
    if (strcasecmp(text + digits, run_limits_units[u].name) == 0) {
      value *= run_limits_units[u].bytes;
      *bytes = (uint64_t)(value < 0x1p62 ? value : 0x1p62);
      return *bytes > 0;
    }
  return 0;
}

static pcal_status run_limits_memory(cli_session *session, pcal_error *err) {
  const char *text = session->options.memory_limit;
  uint64_t limit = 0;
  if (text && strcmp(text, "none") == 0)
    return PCAL_OK;
  if (text && !run_limits_read_size(text, &limit))
    return cli_fail(err, PCAL_USAGE,
                    "--memory-limit %s: the value must be a size such as 500MB or 2GiB, or "
                    "none",
                    text);
  if (!text)
    limit = pcal_default_memory_limit();
  session->env.memory_limit = limit;
  return limit == 0 ? PCAL_OK : pcal_budget_new(limit, NULL, &session->env.budget, err);
}

static pcal_status run_limits_time(const cli_session *session, pcal_error *err) {
  const double seconds = session->options.timeout;
  char number[CLI_NUMBER_MAX];
  if (seconds == 0.0)
    return PCAL_OK;
  if (!(seconds >= 0.001 && seconds <= RUN_LIMITS_TIMEOUT_MAX))
    return cli_fail(err, PCAL_USAGE,
                    "--timeout %s: the value must be a number of seconds from 0.001 to 1e8, or "
                    "0 for no limit",
                    cli_number(seconds, number));
  cli_signals_set_timeout(cli_number(seconds, number), CLI_TIMED_OUT);
  if (!pc_stop_signals_set_timer(seconds))
    return cli_fail(err, PCAL_INTERNAL, "--timeout: the timer could not be set");
  return PCAL_OK;
}

pcal_status cli_run_limits_start(cli_session *session, pcal_error *err) {
  const pcal_status status = run_limits_time(session, err);
  return status == PCAL_OK ? run_limits_memory(session, err) : status;
}

void cli_run_limits_end(cli_session *session) {
  pcal_budget_free(session->env.budget);
  session->env.budget = NULL;
}

pcal_status cli_run_limits_check(const cli_session *session, uint64_t bytes, const char *what,
                                 const char *remedy, pcal_error *err) {
  const uint64_t limit = session->env.memory_limit;
  if (limit == 0 || bytes <= limit)
    return PCAL_OK;
  return cli_fail(err, PCAL_MEMORY,
                  "%s needs more than the memory limit of %llu bytes; %s, or raise "
                  "--memory-limit",
                  what, (unsigned long long)limit, remedy);
}

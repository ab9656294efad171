#include "measure/interval_request.h"

/* Wilson, Poisson and inversion are chosen, not requested. */
static int interval_request_known(pcal_interval_method method) {
  return (int)method >= PCAL_INTERVAL_AUTO && method <= PCAL_INTERVAL_JACKKNIFE &&
         method != PCAL_INTERVAL_WILSON;
}

pcal_status pc_interval_request_read(const pcal_measure_config *config,
                                     pc_interval_request *out, pcal_error *err) {
  *out = (pc_interval_request){.level = config->interval,
                               .replicas = config->replicas == 0 ? PC_REPLICAS_DEFAULT
                                                                 : config->replicas,
                               .method = config->interval_method,
                               .null = config->null != 0,
                               .by_cluster = config->by_cluster != 0,
                               .paired = config->paired != 0};
  if (config->interval != 0 && !(config->interval > 0 && config->interval < 1))
    return pc_fail(err, PCAL_USAGE,
                   "the level of intervals must be between 0 and 1; 0.95 is usual");
  if (out->replicas < 20 || out->replicas > PC_REPLICAS_MAX)
    return pc_fail(err, PCAL_USAGE, "the number of replicas must lie between 20 and %d",
                   PC_REPLICAS_MAX);
  if (!interval_request_known(config->interval_method))
    return pc_fail(err, PCAL_USAGE, "interval method %d cannot be requested; choose one of %s",
                   (int)config->interval_method, pc_interval_methods);
  if (out->paired && out->level <= 0)
    return pc_fail(err, PCAL_USAGE,
                   "a comparison needs the level of its intervals; also give {interval}");
  if (out->by_cluster && out->level <= 0)
    return pc_fail(err, PCAL_USAGE, "clusters affect only intervals; also give {interval}");
  return PCAL_OK;
}

int pc_interval_request_equal(const pc_interval_request *a, const pc_interval_request *b) {
  return a->level == b->level && a->replicas == b->replicas && a->method == b->method &&
         a->null == b->null && a->by_cluster == b->by_cluster && a->paired == b->paired;
}

int pc_interval_request_allows_formula(const pc_interval_request *request) {
  return request->method == PCAL_INTERVAL_AUTO || request->method == PCAL_INTERVAL_NORMAL;
}

#include "calibrators/networks/network_model.h"

#include <string.h>

#include "calibrators/parameter_lists.h"
#include "kernels/softmax.h"

#define NETWORK_MODEL_LARGEST 1e100

pcal_status pc_network_model_new(pcal_calibrator *calibrator, const pc_network_kind *kind,
                                 pc_feature feature, pc_network_model **out, pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  pc_network_model *net = *out = calibrator->parameters;
  net->kind = kind;
  net->feature = feature;
  net->classes = calibrator->layout.classes;
  net->scale = 1.0;
  kind->shape(net, &net->dense);
  net->count = pc_dense_net_count(&net->dense) + kind->extra;
  net->parameters = pc_alloc(&calibrator->env, net->count, sizeof *net->parameters);
  return net->parameters == NULL ? pc_fail_memory(err, "making a network") : PCAL_OK;
}

const char *pc_network_model_objective(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return "log";
}

/* ---- Applying ---- */

size_t pc_network_model_space(const pcal_calibrator *calibrator) {
  const pc_network_model *net = calibrator->parameters;
  return PC_NETWORK_ROWS * (2 * net->classes + net->kind->prepared_size(net)) + net->classes +
         net->kind->scratch_size(net, PC_NETWORK_ROWS);
}

/* Numbers for the rows of a block that is mapped. */
typedef struct network_model_block {
  double *x, *scores, *prepared, *row, *scratch; /* row: scores of one row */
} network_model_block;

static network_model_block network_model_split(const pc_network_model *net, double *space) {
  const size_t cells = PC_NETWORK_ROWS * net->classes;
  double *prepared = space + 2 * cells,
         *row = prepared + PC_NETWORK_ROWS * net->kind->prepared_size(net);
  return (network_model_block){space, space + cells, prepared, row, row + net->classes};
}

/* Maps the features of a block to probabilities. */
static void network_model_map(const pc_network_model *net, const network_model_block *block,
                              size_t count, double *out) {
  const size_t k = net->classes;
  const pc_network_rows rows = {block->prepared, pc_network_stride(count)};
  net->kind->prepare(net, block->x, count, block->prepared);
  net->kind->map(net, net->parameters, &rows, block->scratch, block->scores);
  const uint32_t *order = net->kind->order == NULL ? NULL : net->kind->order(net, &rows);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < k; j++)
      block->row[order == NULL ? j : order[i * k + j]] = block->scores[j * rows.stride + i];
    pc_softmax_row(block->row, k, out + i * k);
  }
}

void pc_network_model_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out) {
  const pc_network_model *net = calibrator->parameters;
  const size_t k = net->classes;
  const network_model_block block = network_model_split(net, out + count * k);
  for (size_t begin = 0; begin < count; begin += PC_NETWORK_ROWS) {
    const size_t left = count - begin, rows = left < PC_NETWORK_ROWS ? left : PC_NETWORK_ROWS;
    for (size_t i = 0; i < rows; i++)
      pc_feature_row(net->feature, &calibrator->layout, in + (begin + i) * k, block.x + i * k);
    if (!net->identity)
      network_model_map(net, &block, rows, out + begin * k);
    for (size_t i = 0; i < rows && net->identity; i++)
      pc_softmax_row(block.x + i * k, k, out + (begin + i) * k);
  }
}

/* ---- Files ---- */

void pc_network_model_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_network_model *net = calibrator->parameters;
  const double *at = net->parameters;
  pc_json_key(json, "range");
  pc_json_open(json, '[');
  pc_json_number(json, net->low);
  pc_json_number(json, net->high);
  pc_json_close(json, ']');
  pc_json_key(json, "scale");
  pc_json_number(json, net->scale);
  pc_json_key(json, "learned");
  pc_json_bool(json, !net->identity);
  pc_json_key(json, "layers");
  pc_json_open(json, '[');
  for (size_t l = 0; l < net->dense.layers; l++) {
    const size_t size = (net->dense.sizes[l] + 1) * net->dense.sizes[l + 1];
    pc_json_numbers(json, at, size);
    at += size;
  }
  pc_json_close(json, ']');
  pc_json_key(json, "more");
  pc_json_numbers(json, at, net->kind->extra);
}

static pcal_status network_model_read_layers(pc_network_model *net,
                                             const pc_json_node *parameters, const char *file,
                                             pcal_error *err) {
  const pc_list_rule rule = {-NETWORK_MODEL_LARGEST, NETWORK_MODEL_LARGEST, PC_LIST_ANY,
                             "weights must be numbers of at most 1e100 in size"};
  const pc_json_node *lists = NULL;
  double *at = net->parameters;
  PC_TRY(pc_parameter_lists(parameters, "layers", net->dense.layers, file, &lists, err));
  const pc_json_node *list = lists->list.first;
  for (size_t l = 0; l < net->dense.layers; l++, list = list->next) {
    const size_t size = (net->dense.sizes[l] + 1) * net->dense.sizes[l + 1];
    if (list->list.count != size)
      return pc_parameter_error(list, file, "a layer must hold its weights and offsets", err);
    PC_TRY(pc_parameter_numbers(list, &rule, at, file, err));
    at += size;
  }
  list = pc_json_find(parameters, "more");
  if (list->kind != PC_JSON_ARRAY || list->list.count != net->kind->extra)
    return pc_parameter_error(list, file,
                              "\"more\" must hold the extra parameters of the method", err);
  return pc_parameter_numbers(list, &rule, at, file, err);
}

pcal_status pc_network_model_read(pcal_calibrator *calibrator, const pc_network_kind *kind,
                                  pc_feature feature, const pc_json_node *parameters,
                                  const char *file, pcal_error *err) {
  const pc_list_rule rule = {-NETWORK_MODEL_LARGEST, NETWORK_MODEL_LARGEST, PC_LIST_RISING,
                             "the range must be two numbers, the lower one first"};
  const pc_json_node *range = pc_json_find(parameters, "range"),
                     *scale = pc_json_find(parameters, "scale"),
                     *learned = pc_json_find(parameters, "learned");
  double ends[2];
  pc_network_model *net = NULL;
  PC_TRY(pc_parameters_check_names(
      parameters, PC_NAMES("range", "scale", "learned", "layers", "more"), file, err));
  if (range->kind != PC_JSON_ARRAY || range->list.count != 2)
    return pc_parameter_error(range, file, rule.what, err);
  PC_TRY(pc_parameter_numbers(range, &rule, ends, file, err));
  if (scale->kind != PC_JSON_NUMBER || !(scale->number > 0.0))
    return pc_parameter_error(scale, file, "the scale must be a number above 0", err);
  if (learned->kind != PC_JSON_BOOL)
    return pc_parameter_error(learned, file, "\"learned\" must be true or false", err);
  PC_TRY(pc_network_model_new(calibrator, kind, feature, &net, err));
  net->low = ends[0];
  net->high = ends[1];
  net->scale = scale->number;
  net->identity = !learned->truth;
  return network_model_read_layers(net, parameters, file, err);
}

void pc_network_model_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_network_model *net = calibrator->parameters;
  pc_text_add(out, "layers of ");
  for (size_t l = 0; l <= net->dense.layers; l++)
    pc_text_format(out, "%s%zu", l == 0 ? "" : "-", net->dense.sizes[l]);
  pc_text_format(out, ", %zu parameters\n", net->count);
}

/* Sources over the columns of one Arrow table. */
#include <string.h>

#include "io/source_state.h"

/* A column of the table, if it is named. */
static pcal_status source_arrow_part(pcal_source *source, const char *name, pc_column_role as,
                                     pc_reader *part, pcal_error *err) {
  return name == NULL ? PCAL_OK
                      : pc_arrow_reader_open(&source->inputs[0].arrow, &name, 1, as, part, err);
}

static pcal_status source_arrow_fill(pcal_source *source, const pcal_arrow *columns,
                                     pcal_error *err) {
  pc_source_input *input = &source->inputs[0];
  source->kind = columns->kind;
  source->first_row = columns->first_row;
  input->name = pc_copy_text(&source->env, columns->name != NULL ? columns->name : "arrow");
  if (input->name == NULL)
    return pc_fail_memory(err, "opening the data");
  PC_TRY(pc_arrow_table_open(&input->arrow, input->name, &source->env, err));
  PC_TRY(pc_arrow_reader_open(&input->arrow, columns->scores, columns->score_count,
                              PC_COLUMN_SCORES, &source->scores, err));
  source->class_names = source->scores.columns > 1 ? source->scores.names : NULL;
  const int regression = pc_source_regression(source);
  if (columns->levels != NULL && columns->score_count <= PCAL_LEVELS_MAX) {
    memcpy(source->forecast.levels, columns->levels, columns->score_count * sizeof(double));
    source->forecast.level_count = columns->score_count;
  }
  PC_TRY(source_arrow_part(source, columns->labels,
                           regression ? PC_COLUMN_NUMBERS : PC_COLUMN_LABELS,
                           &source->label_cells, err));
  PC_TRY(source_arrow_part(source, columns->weights, PC_COLUMN_NUMBERS, &source->weights, err));
  PC_TRY(source_arrow_part(source, columns->groups, PC_COLUMN_TEXT, &source->group_cells, err));
  PC_TRY(source_arrow_part(source, columns->ids, PC_COLUMN_TEXT, &source->id_cells, err));
  source->weights_are = columns->weights_are;
  return pc_source_complete(source, err);
}

pcal_status pc_source_arrow(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                            struct ArrowArray *array, const pcal_arrow *columns,
                            const pcal_env *env, pcal_source **out, pcal_error *err) {
  pcal_arrow full = PCAL_ARROW_INIT;
  pc_arrow_table table;
  pc_arrow_table_take(stream, schema, array, &table);
  memcpy(&full, columns, columns->size < sizeof full ? columns->size : sizeof full);
  pcal_source *source = pc_source_new(env);
  *out = NULL;
  if (source == NULL) {
    pc_arrow_table_free(&table);
    return pc_fail_memory(err, "opening the data");
  }
  source->inputs[0].arrow = table;
  return pc_source_return(source, source_arrow_fill(source, &full, err), out);
}

#include "figure/gallery.h"

#include <string.h>

#include "figure/figure_json.h"
#include "figure/reliability.h"
#include "figure/svg.h"

typedef pcal_status (*gallery_builder)(const pc_figure_data *data, pc_figure *figure,
                                       pcal_error *err);

typedef struct gallery_entry {
  pcal_row row;
  gallery_builder build;
} gallery_entry;

static const gallery_entry gallery_entries[] = {
#define PC_FIGURE(name_, build_, title_, formula_, about_, citation_) \
  {.row = {.kind = "figures",                                         \
           .name = name_,                                             \
           .title = title_,                                           \
           .formula = formula_,                                       \
           .about = about_,                                           \
           .citation = citation_},                                    \
   .build = build_},
#include "figure/registry.def"
#undef PC_FIGURE
};

size_t pc_figure_row_count(void) {
  return sizeof gallery_entries / sizeof gallery_entries[0];
}

const pcal_row *pc_figure_row(size_t index) {
  return index < pc_figure_row_count() ? &gallery_entries[index].row : NULL;
}

static const char *gallery_name(void *user, size_t index) {
  (void)user;
  const pcal_row *row = pc_figure_row(index);
  return row != NULL ? row->name : NULL;
}

static pcal_status gallery_unknown(const char *name, pcal_error *err) {
  const char *nearest = pc_nearest(name, gallery_name, NULL);
  if (nearest == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "there is no figure called '%s'; 'list figures' shows those that exist",
                   name);
  return pc_fail(err, PCAL_USAGE, "there is no figure called '%s'; did you mean '%s'?", name,
                 nearest);
}

typedef pcal_status (*gallery_writer)(const pc_figure *figure, pc_text *out, pcal_error *err);

static pcal_status gallery_write(const char *name, const pc_figure_data *data,
                                 const pcal_env *env, gallery_writer write, pc_text *out,
                                 pcal_error *err) {
  const pcal_env whole = pc_env_resolve(env);
  size_t index = 0;
  while (index < pc_figure_row_count() && strcmp(gallery_entries[index].row.name, name) != 0)
    index++;
  if (index == pc_figure_row_count())
    return gallery_unknown(name, err);
  pc_figure figure;
  pc_figure_init(&figure, 0, 0, &whole);
  pcal_status status = gallery_entries[index].build(data, &figure, err);
  if (status == PCAL_OK)
    status = write(&figure, out, err);
  pc_figure_free(&figure);
  return status;
}

pcal_status pc_figure_draw(const char *name, const pc_figure_data *data, const pcal_env *env,
                           pc_text *out, pcal_error *err) {
  return gallery_write(name, data, env, pc_svg_write, out, err);
}

pcal_status pc_figure_tell(const char *name, const pc_figure_data *data, const pcal_env *env,
                           pc_text *out, pcal_error *err) {
  return gallery_write(name, data, env, pc_figure_json_write, out, err);
}

#include "base/argument_names.h"

#include <string.h>

typedef struct argument_name {
  const char *id;
  const char *texts[3]; /* by pcal_interface */
} argument_name;

static const argument_name argument_names[] = {
#define NAME(id, c, program, python) {#id, {c, program, python}},
#include "base/argument_names.def"
#undef NAME
};

#define ARGUMENT_NAMES_COUNT (sizeof argument_names / sizeof *argument_names)

size_t pc_argument_parse(const char **text) {
  const char *begin = *text + 1;
  const size_t length = strcspn(begin, "}");
  for (size_t i = 0; i < ARGUMENT_NAMES_COUNT; i++) {
    const char *id = argument_names[i].id;
    if (strlen(id) == length && memcmp(id, begin, length) == 0 && begin[length] == '}') {
      *text = begin + length + 1;
      return i;
    }
  }
  return PC_NO_ARGUMENT;
}

const char *pc_argument_name(size_t index, pcal_interface interface) {
  return argument_names[index].texts[interface];
}

void pc_text_add_named(pc_text *out, const char *text, pcal_interface interface) {
  while (*text != '\0') {
    const size_t plain = strcspn(text, "{");
    pc_text_add_bytes(out, text, plain);
    text += plain;
    const size_t argument = *text == '{' ? pc_argument_parse(&text) : PC_NO_ARGUMENT;
    if (argument != PC_NO_ARGUMENT)
      pc_text_add(out, pc_argument_name(argument, interface));
    else if (*text == '{')
      pc_text_add_bytes(out, text++, 1);
  }
}

void pc_text_add_error(pc_text *out, const pcal_error *err, pcal_interface interface) {
  char message[PC_ERROR_TEXT];
  pcal_error_text(err, interface, message, sizeof message);
  pc_text_add(out, message);
}

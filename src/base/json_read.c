/* A recursive descent parser, at most PC_JSON_DEPTH_MAX levels deep.  Nodes and strings are
 * allocated in blocks that are freed together.  At the end of an object its members are
 * sorted by key, so that duplicate keys are found in n log n steps for any input. */
#include "base/json_read.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

#define JSON_READ_BLOCK 4096
#define JSON_READ_BLOCK_MAX ((size_t)1 << 20)

typedef struct json_read_block {
  struct json_read_block *before;
  size_t used, size; /* bytes after this header */
} json_read_block;

typedef union json_read_align {
  void *pointer;
  double number;
  size_t count;
} json_read_align;

typedef struct json_reader {
  const char *name;
  const unsigned char *bytes;
  size_t length, at;
  uint32_t line;
  int depth;
  pc_json_tree *tree;
  pcal_error *err;
} json_reader;

static pcal_status json_read_value(json_reader *reader, pc_json_node **out);

/* ---- Memory ---- */

static pcal_status json_read_grow(json_reader *reader, size_t needed) {
  json_read_block *last = reader->tree->blocks;
  size_t size = last == NULL ? JSON_READ_BLOCK : 2 * last->size;
  size = size > JSON_READ_BLOCK_MAX ? JSON_READ_BLOCK_MAX : size;
  size = size < needed ? needed : size;
  json_read_block *block = pc_alloc_raw(reader->tree->env, sizeof *block + size, 1);
  if (block == NULL)
    return pc_fail_memory(reader->err, "reading JSON");
  *block = (json_read_block){last, 0, size};
  reader->tree->blocks = block;
  return PCAL_OK;
}

static pcal_status json_read_take(json_reader *reader, size_t size, void **out) {
  const size_t step = sizeof(json_read_align);
  size = (size + step - 1) / step * step;
  const json_read_block *last = reader->tree->blocks;
  if (last == NULL || last->size - last->used < size)
    PC_TRY(json_read_grow(reader, size));
  json_read_block *block = reader->tree->blocks;
  *out = (char *)(block + 1) + block->used;
  block->used += size;
  return PCAL_OK;
}

static pcal_status json_read_node(json_reader *reader, pc_json_kind kind, pc_json_node **out) {
  void *place = NULL;
  PC_TRY(json_read_take(reader, sizeof **out, &place));
  *out = place;
  memset(*out, 0, sizeof **out);
  (*out)->kind = kind;
  (*out)->line = reader->line;
  return PCAL_OK;
}

void pc_json_tree_free(pc_json_tree *tree) {
  for (json_read_block *block = tree->blocks; block != NULL;) {
    json_read_block *before = block->before;
    pc_free(tree->env, block);
    block = before;
  }
  *tree = (pc_json_tree){NULL, NULL, NULL};
}

/* ---- Characters ---- */

static pc_place json_read_place(const json_reader *reader, uint64_t line) {
  return (pc_place){reader->name, PCAL_NO_ROW, line, PCAL_NO_COLUMN, NULL, NULL};
}

static pcal_status json_read_wrong(const json_reader *reader, size_t at, const char *what) {
  const pc_place place = json_read_place(reader, reader->line);
  return pc_fail_at(reader->err, PCAL_DATA, &place, "this is not JSON at byte %zu: %-s", at,
                    what);
}

static int json_read_peek(const json_reader *reader) {
  return reader->at < reader->length ? reader->bytes[reader->at] : -1;
}

static void json_read_space(json_reader *reader) {
  for (;; reader->at++) {
    const int letter = json_read_peek(reader);
    if (letter == '\n')
      reader->line++;
    else if (letter != ' ' && letter != '\t' && letter != '\r')
      return;
  }
}

/* Length of the UTF-8 character at `at`, or 0 if it is invalid: RFC 3629, section 4. */
static size_t json_read_letter(const json_reader *reader, size_t at) {
  const unsigned char *bytes = reader->bytes + at;
  const size_t left = reader->length - at;
  const unsigned first = bytes[0];
  if (first < 0x80)
    return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < length)
    return 0;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (bytes[1] < low || bytes[1] > high)
    return 0;
  for (size_t i = 2; i < length; i++)
    if ((bytes[i] & 0xC0) != 0x80)
      return 0;
  return length;
}

/* ---- Strings ---- */

static int json_read_hex(int letter) {
  if (letter >= '0' && letter <= '9')
    return letter - '0';
  if (letter >= 'a' && letter <= 'f')
    return letter - 'a' + 10;
  return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

/* Reads the four digits after "\u"; -1 if they are not hexadecimal. */
static long json_read_unit(json_reader *reader) {
  long unit = 0;
  for (int i = 0; i < 4; i++, reader->at++) {
    const int digit = json_read_hex(json_read_peek(reader));
    if (digit < 0)
      return -1;
    unit = 16 * unit + digit;
  }
  return unit;
}

static char *json_read_put(unsigned long point, char *out) {
  if (point < 0x80) {
    *out++ = (char)point;
    return out;
  }
  const int extra = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = (char)(lead[extra] | (point >> (6 * extra)));
  for (int i = extra - 1; i >= 0; i--)
    *out++ = (char)(0x80 | ((point >> (6 * i)) & 0x3F));
  return out;
}

/* Reads a character given by number; the reader is after "\u". */
static pcal_status json_read_point(json_reader *reader, char **out) {
  const size_t start = reader->at - 2;
  long point = json_read_unit(reader);
  if (point < 0)
    return json_read_wrong(reader, start, "\\u needs four hexadecimal digits");
  if (point == 0)
    return json_read_wrong(reader, start, "a text may not hold U+0000 here");
  if (point >= 0xD800 && point <= 0xDBFF) {
    long low = -1;
    if (reader->length - reader->at >= 2 && memcmp(reader->bytes + reader->at, "\\u", 2) == 0) {
      reader->at += 2;
      low = json_read_unit(reader);
    }
    if (low < 0xDC00 || low > 0xDFFF)
      return json_read_wrong(reader, start, "one half of a surrogate pair stands alone");
    point = 0x10000 + (point - 0xD800) * 0x400 + (low - 0xDC00);
  } else if (point >= 0xDC00 && point <= 0xDFFF) {
    return json_read_wrong(reader, start, "one half of a surrogate pair stands alone");
  }
  *out = json_read_put((unsigned long)point, *out);
  return PCAL_OK;
}

/* Reads an escape; the reader is at the backslash. */
static pcal_status json_read_escape(json_reader *reader, char **out) {
  static const char names[] = "\"\\/bfnrt", letters[] = "\"\\/\b\f\n\r\t";
  const size_t start = reader->at++;
  const int name = json_read_peek(reader);
  reader->at++;
  if (name == 'u')
    return json_read_point(reader, out);
  const char *found = name > 0 ? strchr(names, name) : NULL;
  if (found == NULL)
    return json_read_wrong(reader, start, "a backslash begins no known escape");
  *(*out)++ = letters[found - names];
  return PCAL_OK;
}

/* Bytes up to the closing quote; SIZE_MAX if there is none. */
static size_t json_read_extent(const json_reader *reader) {
  for (size_t at = reader->at; at < reader->length; at++) {
    if (reader->bytes[at] == '"')
      return at - reader->at;
    at += reader->bytes[at] == '\\';
  }
  return SIZE_MAX;
}

/* Reads a string; the reader is at its quote.  No escape is shorter than its character. */
static pcal_status json_read_text(json_reader *reader, const char **out) {
  void *place = NULL;
  const size_t start = reader->at++, extent = json_read_extent(reader);
  if (extent == SIZE_MAX)
    return json_read_wrong(reader, start, "a text does not end");
  PC_TRY(json_read_take(reader, extent + 1, &place));
  char *to = place;
  while (reader->bytes[reader->at] != '"') {
    if (reader->bytes[reader->at] == '\\') {
      PC_TRY(json_read_escape(reader, &to));
      continue;
    }
    const size_t length = json_read_letter(reader, reader->at);
    if (length == 0)
      return json_read_wrong(reader, reader->at, "a text is not valid UTF-8");
    if (reader->bytes[reader->at] < 0x20)
      return json_read_wrong(reader, reader->at, "a text holds a control character");
    memcpy(to, reader->bytes + reader->at, length);
    to += length;
    reader->at += length;
  }
  reader->at++;
  *to = '\0';
  *out = place;
  return PCAL_OK;
}

static pcal_status json_read_string(json_reader *reader, pc_json_node **out) {
  PC_TRY(json_read_node(reader, PC_JSON_STRING, out));
  return json_read_text(reader, &(*out)->text);
}

/* ---- Numbers and words ---- */

static size_t json_read_digits(const json_reader *reader, size_t at) {
  size_t count = 0;
  while (at + count < reader->length && reader->bytes[at + count] >= '0' &&
         reader->bytes[at + count] <= '9')
    count++;
  return count;
}

/* Index after the number at the reader's position; 0 if there is none. */
static size_t json_read_number_end(const json_reader *reader) {
  size_t at = reader->at + (json_read_peek(reader) == '-');
  const size_t whole = json_read_digits(reader, at);
  if (whole == 0 || (whole > 1 && reader->bytes[at] == '0'))
    return 0;
  at += whole;
  if (at < reader->length && reader->bytes[at] == '.') {
    const size_t part = json_read_digits(reader, at + 1);
    if (part == 0)
      return 0;
    at += 1 + part;
  }
  if (at < reader->length && (reader->bytes[at] == 'e' || reader->bytes[at] == 'E')) {
    at++;
    at += at < reader->length && (reader->bytes[at] == '+' || reader->bytes[at] == '-');
    const size_t power = json_read_digits(reader, at);
    if (power == 0)
      return 0;
    at += power;
  }
  return at;
}

static pcal_status json_read_number(json_reader *reader, pc_json_node **out) {
  const size_t start = reader->at, end = json_read_number_end(reader);
  if (end == 0)
    return json_read_wrong(reader, start, "a number is not written as JSON asks");
  PC_TRY(json_read_node(reader, PC_JSON_NUMBER, out));
  const char *text = (const char *)reader->bytes;
  double value = 0.0;
  if (pc_number_parse(text + start, text + end, &value) != end - start || !isfinite(value))
    return json_read_wrong(reader, start, "a number is too large");
  (*out)->number = value;
  reader->at = end;
  return PCAL_OK;
}

static pcal_status json_read_word(json_reader *reader, pc_json_node **out) {
  static const struct {
    const char *word;
    pc_json_kind kind;
    int truth;
  } words[] = {
      {"null", PC_JSON_NULL, 0}, {"true", PC_JSON_BOOL, 1}, {"false", PC_JSON_BOOL, 0}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const size_t length = strlen(words[i].word);
    if (reader->length - reader->at < length ||
        memcmp(reader->bytes + reader->at, words[i].word, length) != 0)
      continue;
    PC_TRY(json_read_node(reader, words[i].kind, out));
    if (words[i].kind == PC_JSON_BOOL)
      (*out)->truth = words[i].truth;
    reader->at += length;
    return PCAL_OK;
  }
  return json_read_wrong(reader, reader->at,
                         reader->at < reader->length ? "no value begins here"
                                                     : "it ends where a value must stand");
}

/* ---- Arrays and objects ---- */

/* Moves past a comma (*more is 1) or the closing bracket (*more is 0). */
static pcal_status json_read_after(json_reader *reader, char closing, int *more) {
  json_read_space(reader);
  const int letter = json_read_peek(reader);
  *more = letter == ',';
  if (letter != ',' && letter != closing)
    return json_read_wrong(reader, reader->at,
                           letter < 0       ? "it ends in the middle"
                           : closing == ']' ? "a comma or ] must stand here"
                                            : "a comma or } must stand here");
  reader->at++;
  return PCAL_OK;
}

/* True if the list is empty; the reader is after its opening bracket. */
static int json_read_empty(json_reader *reader, char closing) {
  json_read_space(reader);
  if (json_read_peek(reader) != closing)
    return 0;
  reader->at++;
  return 1;
}

static pcal_status json_read_array(json_reader *reader, pc_json_node **out) {
  PC_TRY(json_read_node(reader, PC_JSON_ARRAY, out));
  reader->at++;
  int more = !json_read_empty(reader, ']');
  for (pc_json_node *last = NULL; more;) {
    pc_json_node *item = NULL;
    PC_TRY(json_read_value(reader, &item));
    *(last == NULL ? &(*out)->list.first : &last->next) = item;
    last = item;
    (*out)->list.count++;
    PC_TRY(json_read_after(reader, ']', &more));
  }
  return PCAL_OK;
}

typedef const pc_json_node *json_read_member_pointer;

#define PC_SORT_NAME json_read_sort_members
#define PC_SORT_TYPE json_read_member_pointer
#define PC_SORT_CONTEXT const void *
#define PC_SORT_IN_ORDER(unused, a, b) ((void)(unused), strcmp((*(a))->key, (*(b))->key) <= 0)
#include "base/stable_sort.h"

/* Fails if two members of an object have the same key. */
static pcal_status json_read_check_keys(const json_reader *reader, const pc_json_node *object) {
  const size_t count = object->list.count;
  size_t filled = 0;
  if (count < 2)
    return PCAL_OK;
  json_read_member_pointer *sorted = pc_alloc_raw(reader->tree->env, count, 2 * sizeof *sorted);
  if (sorted == NULL)
    return pc_fail_memory(reader->err, "reading JSON");
  for (const pc_json_node *member = object->list.first; member != NULL; member = member->next)
    sorted[filled++] = member;
  json_read_sort_members(NULL, sorted, sorted + count, count);
  const pc_json_node *twice = NULL;
  for (size_t i = 1; i < count && twice == NULL; i++)
    twice = strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 ? sorted[i] : NULL;
  pc_free(reader->tree->env, sorted);
  if (twice == NULL)
    return PCAL_OK;
  const pc_place place = json_read_place(reader, twice->line);
  return pc_fail_at(reader->err, PCAL_DATA, &place,
                    "the key \"%.60s\" is given twice in one object; keep one", twice->key);
}

static pcal_status json_read_member(json_reader *reader, pc_json_node **out) {
  const char *key = NULL;
  json_read_space(reader);
  if (json_read_peek(reader) != '"')
    return json_read_wrong(reader, reader->at, "a key in quotes must stand here");
  PC_TRY(json_read_text(reader, &key));
  json_read_space(reader);
  if (json_read_peek(reader) != ':')
    return json_read_wrong(reader, reader->at, "a colon must follow a key");
  reader->at++;
  PC_TRY(json_read_value(reader, out));
  (*out)->key = key;
  return PCAL_OK;
}

static pcal_status json_read_object(json_reader *reader, pc_json_node **out) {
  PC_TRY(json_read_node(reader, PC_JSON_OBJECT, out));
  reader->at++;
  int more = !json_read_empty(reader, '}');
  for (pc_json_node *last = NULL; more;) {
    pc_json_node *member = NULL;
    PC_TRY(json_read_member(reader, &member));
    *(last == NULL ? &(*out)->list.first : &last->next) = member;
    last = member;
    (*out)->list.count++;
    PC_TRY(json_read_after(reader, '}', &more));
  }
  return json_read_check_keys(reader, *out);
}

/* ---- Values ---- */

static pcal_status json_read_value(json_reader *reader, pc_json_node **out) {
  json_read_space(reader);
  const int letter = json_read_peek(reader);
  if (letter == '"')
    return json_read_string(reader, out);
  if (letter == '-' || (letter >= '0' && letter <= '9'))
    return json_read_number(reader, out);
  if (letter != '[' && letter != '{')
    return json_read_word(reader, out);
  if (++reader->depth > PC_JSON_DEPTH_MAX) {
    const pc_place place = json_read_place(reader, reader->line);
    return pc_fail_at(reader->err, PCAL_DATA, &place,
                      "lists are nested more than %d deep at byte %zu", PC_JSON_DEPTH_MAX,
                      reader->at);
  }
  PC_TRY((letter == '[' ? json_read_array : json_read_object)(reader, out));
  reader->depth--;
  return PCAL_OK;
}

static pcal_status json_read_all(json_reader *reader) {
  pc_json_node *root = NULL;
  PC_TRY(json_read_value(reader, &root));
  reader->tree->root = root;
  json_read_space(reader);
  if (reader->at < reader->length)
    return json_read_wrong(reader, reader->at, "something follows behind its end");
  return PCAL_OK;
}

pcal_status pc_json_read(const void *bytes, size_t length, const char *name,
                         const pcal_env *env, pc_json_tree *out, pcal_error *err) {
  *out = (pc_json_tree){env, NULL, NULL};
  json_reader reader = {name, bytes, length, 0, 1, 0, out, err};
  const pcal_status status = json_read_all(&reader);
  if (status != PCAL_OK)
    pc_json_tree_free(out);
  return status;
}

const pc_json_node *pc_json_find(const pc_json_node *object, const char *key) {
  if (object == NULL || object->kind != PC_JSON_OBJECT)
    return NULL;
  const pc_json_node *member = object->list.first;
  while (member != NULL && strcmp(member->key, key) != 0)
    member = member->next;
  return member;
}

const char *pc_json_kind_name(pc_json_kind kind) {
  static const char *const names[] = {"",       "null",     "true or false", "a number",
                                      "a text", "an array", "an object"};
  return names[kind];
}

#include "export/export.h"

#include <string.h>

/* Keywords of C99 to C23 and of C++, and macros of headers and compilers. */
static const char *const export_words[] = {"alignas",     "alignof",
                                           "and",         "and_eq",
                                           "asm",         "assert",
                                           "auto",        "bitand",
                                           "bitor",       "bool",
                                           "break",       "case",
                                           "catch",       "char",
                                           "class",       "compl",
                                           "complex",     "concept",
                                           "const",       "const_cast",
                                           "consteval",   "constexpr",
                                           "constinit",   "continue",
                                           "decltype",    "default",
                                           "delete",      "do",
                                           "double",      "dynamic_cast",
                                           "else",        "enum",
                                           "errno",       "explicit",
                                           "export",      "extern",
                                           "false",       "float",
                                           "for",         "fortran",
                                           "friend",      "goto",
                                           "if",          "imaginary",
                                           "inline",      "int",
                                           "linux",       "long",
                                           "main",        "mutable",
                                           "namespace",   "near",
                                           "far",         "new",
                                           "noexcept",    "noreturn",
                                           "not",         "not_eq",
                                           "nullptr",     "offsetof",
                                           "operator",    "or",
                                           "or_eq",       "private",
                                           "protected",   "public",
                                           "register",    "reinterpret_cast",
                                           "requires",    "restrict",
                                           "return",      "short",
                                           "signed",      "sizeof",
                                           "static",      "static_assert",
                                           "static_cast", "struct",
                                           "switch",      "template",
                                           "this",        "thread_local",
                                           "throw",       "true",
                                           "try",         "typedef",
                                           "typeid",      "typename",
                                           "typeof",      "typeof_unqual",
                                           "union",       "unix",
                                           "unsigned",    "using",
                                           "virtual",     "void",
                                           "volatile",    "wchar_t",
                                           "while",       "xor",
                                           "xor_eq",      "I",
                                           "NULL",        "NAN",
                                           "INFINITY",    "HUGE_VAL",
                                           "OVERFLOW",    "UNDERFLOW",
                                           "DOMAIN",      "SING",
                                           "EOF",         "BUFSIZ"};

/* Functions of <math.h>, also reserved with the suffix f or l, and other functions of the C
 * library. */
static const char *const export_functions[] = {
    "abs",       "acos",        "acosh",     "asin",      "asinh",      "atan",    "atan2",
    "atanh",     "cbrt",        "ceil",      "copysign",  "cos",        "cosh",    "drem",
    "erf",       "erfc",        "exp",       "exp10",     "exp2",       "expm1",   "fabs",
    "fdim",      "floor",       "fma",       "fmax",      "fmin",       "fmod",    "frexp",
    "gamma",     "hypot",       "ilogb",     "isfinite",  "isinf",      "isnan",   "isnormal",
    "j0",        "j1",          "jn",        "ldexp",     "lgamma",     "llrint",  "llround",
    "log",       "log10",       "log1p",     "log2",      "logb",       "lrint",   "lround",
    "modf",      "nan",         "nearbyint", "nextafter", "nexttoward", "pow",     "pow10",
    "remainder", "remquo",      "rint",      "round",     "scalb",      "scalbln", "scalbn",
    "signbit",   "significand", "signgam",   "sin",       "sincos",     "sinh",    "sqrt",
    "tan",       "tanh",        "tgamma",    "trunc",     "y0",         "y1",      "yn",
    "abort",     "atexit",      "bcmp",      "bcopy",     "bzero",      "calloc",  "div",
    "exit",      "ffs",         "free",      "index",     "malloc",     "printf",  "puts",
    "read",      "realloc",     "rindex",    "system",    "write"};

static int export_listed(const char *const *list, size_t count, const char *name,
                         size_t length) {
  for (size_t i = 0; i < count; i++)
    if (strlen(list[i]) == length && memcmp(list[i], name, length) == 0)
      return 1;
  return 0;
}

/* True if C, C++ or the C library reserves this name.  Also reserved: str, mem or wcs followed
 * by a lower-case letter (<string.h>), the ending _t (types), the prefixes M_ (<math.h>) and
 * underscore (compiler). */
static int export_reserved(const char *name) {
  const size_t length = strlen(name), functions = sizeof export_functions / sizeof(char *);
  const int float_or_long = length > 1 && strchr("fl", name[length - 1]) != NULL;
  const int string = strncmp(name, "str", 3) == 0 || strncmp(name, "mem", 3) == 0 ||
                     strncmp(name, "wcs", 3) == 0;
  const int type = length > 2 && strcmp(name + length - 2, "_t") == 0;
  if (type || strncmp(name, "M_", 2) == 0)
    return 1;
  if (name[0] == '_' || (string && length > 3 && name[3] >= 'a' && name[3] <= 'z'))
    return 1;
  return export_listed(export_words, sizeof export_words / sizeof(char *), name, length) ||
         export_listed(export_functions, functions, name, length) ||
         (float_or_long && export_listed(export_functions, functions, name, length - 1));
}

/* True if the exported C calls the function where a variable of this name would hide it. */
static int export_is_variable(const char *name) {
  static const char *const variables[] = {"in", "out", "x", "y", "j"};
  return export_listed(variables, sizeof variables / sizeof *variables, name, strlen(name));
}

/* Accepts a letter followed by letters, digits and underscores, at most 48 in all. */
static pcal_status export_check_name(const char *name, pcal_error *err) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const size_t length = strlen(name);
  int good = length > 0 && length <= 48 && strchr(letters, name[0]) != NULL;
  for (size_t i = 0; good && i < length; i++)
    good = strchr(letters, name[i]) != NULL || strchr("0123456789", name[i]) != NULL;
  if (!good)
    return pc_fail(err, PCAL_USAGE,
                   "\"%.60s\" is not a valid name of a function; use letters, digits and "
                   "underscores, a letter first, at most 48 characters",
                   name);
  if (export_reserved(name))
    return pc_fail(
        err, PCAL_USAGE,
        "\"%s\" is reserved by C or its library; choose another name, such as calibrate_%s",
        name, name[0] == '_' ? name + 1 : name);
  return PCAL_OK;
}

pcal_status pc_calibrator_export(const pcal_calibrator *calibrator, pcal_format format,
                                 const char *name, pc_text *out, pcal_error *err) {
  pc_recipe recipe;
  PC_TRY(export_check_name(name, err));
  if (format != PCAL_ONNX && export_is_variable(name))
    return pc_fail(err, PCAL_USAGE,
                   "\"%s\" is the name of a variable in the exported C; choose another name, "
                   "such as calibrate_%s",
                   name, name);
  PC_TRY(pc_recipe_make(calibrator, &recipe, err));
  const pc_export what = {calibrator, &recipe, name};
  if (format == PCAL_ONNX)
    return pc_export_onnx(&what, out, err);
  pc_export_c(&what, out);
  return PCAL_OK;
}

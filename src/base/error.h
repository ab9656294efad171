/* Error messages: functions that fill the caller's pcal_error (which may be NULL) with problem,
 * place and remedy. */
#ifndef PC_ERROR_H
#define PC_ERROR_H

#include "propercal.h"

#if defined(__GNUC__)
#define PC_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define PC_CHECKED __attribute__((warn_unused_result))
#else
#define PC_PRINTF(f, a)
#define PC_CHECKED
#endif

/* Returns from the calling function if `call` fails. */
#define PC_TRY(call)                       \
  do {                                     \
    const pcal_status pc_status_ = (call); \
    if (pc_status_ != PCAL_OK)             \
      return pc_status_;                   \
  } while (0)

/* Fills err (NULL is allowed) and returns status.
 *
 * The format is a literal with a small grammar, so that messages read as sentences where they
 * arise: "problem; remedy", whose parts become fields of the error.  A finished message is never
 * taken apart, and a place is given as data (pc_fail_row, pc_fail_line, pc_fail_at):
 *   - "%s" at the very start is the subject: a file, an array, a metric, a method;
 *   - the first "; " separates the problem from the remedy;
 *   - {probs} names an argument (base/argument_names.def), which pcal_error_text replaces by
 *     its name in the program or in Python.  The first one before the remedy is the argument at
 *     fault;
 *   - %s inserts a text from outside: unsafe characters become visible (base/escape.h), and of
 *     more than 300 bytes the rest is left out.  Braces in it have no special meaning;
 *   - %-s inserts a text of the library, in which braces and "; " have the same meaning as in
 *     the format.
 * Numbers with a decimal point go through pc_show (base/number.h), as %g depends on the
 * locale. */
pcal_status pc_fail(pcal_error *err, pcal_status status, const char *format, ...)
    PC_PRINTF(3, 4);

/* The same for a fault in one row, which the format names too. */
pcal_status pc_fail_row(pcal_error *err, pcal_status status, uint64_t row, const char *format,
                        ...) PC_PRINTF(4, 5);

/* A place in the input. */
typedef struct pc_place {
  const char *subject;     /* file or array */
  uint64_t row;            /* in the data set, from 0 */
  uint64_t line;           /* of a text file, from 1; 0: none, and the message gives the row */
  size_t column;           /* or PCAL_NO_COLUMN */
  const char *column_name; /* or NULL: its number is named */
  const char *field;       /* of an object on the line, or NULL */
} pc_place;

/* The same for a fault at a place; the message begins "subject, line 7, column 3: ". */
pcal_status pc_fail_at(pcal_error *err, pcal_status status, const pc_place *place,
                       const char *format, ...) PC_PRINTF(4, 5);

/* The same for a line of a text file; the message begins "file, line 7: ". */
pcal_status pc_fail_line(pcal_error *err, pcal_status status, const char *file, uint64_t line,
                         const char *format, ...) PC_PRINTF(5, 6);

/* The same for a failure that another one caused: {cause} in the format is the message of
 * `cause`, {cause_problem} the same without the place. */
pcal_status pc_fail_because(pcal_error *err, pcal_status status, const pcal_error *cause,
                            const char *format, ...) PC_PRINTF(4, 5);

/* "out of memory while ..."; `activity`, a literal, becomes the activity of the error. */
pcal_status pc_fail_memory(pcal_error *err, const char *activity);

/* Room for pcal_error_text. */
#define PC_ERROR_TEXT 1536

/* Copies a stored failure to err (NULL is allowed); returns its status. */
pcal_status pc_error_pass(pcal_error *err, const pcal_error *failure);

/* Resets err (NULL is allowed) to PCAL_OK. */
void pc_error_clear(pcal_error *err);

#endif

/* Errors: one sentence, filled into the caller's optional pcal_error. */
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

/* Passes a failure on to the caller. */
#define PC_TRY(call)                       \
  do {                                     \
    const pcal_status pc_status_ = (call); \
    if (pc_status_ != PCAL_OK)             \
      return pc_status_;                   \
  } while (0)

/* Fills err (which may be NULL) and returns status.  Numbers with a decimal
 * point go through pc_show (number.h), never %g: the sentence must not depend on
 * the locale.  Unsafe characters become visible (base/escape.h), and of names longer than 300
 * bytes the rest is left out.  What %s inserts is a quote (pcal_error.quotes), which no program
 * rewords; words of the library, such as the name of a flag, are inserted with %-s. */
pcal_status pc_fail(pcal_error *err, pcal_status status, const char *format, ...)
    PC_PRINTF(3, 4);

/* The same for a fault in one row. */
pcal_status pc_fail_row(pcal_error *err, pcal_status status, uint64_t row, const char *format,
                        ...) PC_PRINTF(4, 5);

/* "out of memory while ..." */
pcal_status pc_fail_memory(pcal_error *err, const char *doing);

/* Was err filled by pc_fail_memory? */
int pc_error_is_memory(const pcal_error *err);

/* Puts `by` in the place of the first `words` outside quotes. */
void pc_error_reword(pcal_error *err, const char *words, const char *by);

/* Hands on a failure that was kept apart; returns its status. */
pcal_status pc_error_pass(pcal_error *err, const pcal_error *failure);

/* Resets err, if given, to PCAL_OK. */
void pc_error_clear(pcal_error *err);

#endif

/* Each reason of the system has the remedy of its kind. */
#include "system/paths.h"

#include <errno.h>

#include "../unit.h"

TEST(kinds_of_reasons) {
  static const struct {
    int code;
    pc_error_kind kind;
  } cases[] = {
    {ENOENT, PC_ERROR_MISSING},
    {ENOTDIR, PC_ERROR_MISSING},
    {EACCES, PC_ERROR_DENIED},
    {EPERM, PC_ERROR_DENIED},
    {EROFS, PC_ERROR_READ_ONLY},
    {ENOSPC, PC_ERROR_NO_SPACE},
#if defined(EDQUOT)
    {EDQUOT, PC_ERROR_NO_SPACE},
#endif
    {EFBIG, PC_ERROR_TOO_LARGE},
    {ENXIO, PC_ERROR_NOT_A_FILE},
    {EBUSY, PC_ERROR_IN_USE},
    {EIO, PC_ERROR_OTHER},
    {0, PC_ERROR_OTHER}
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    assert_int_equal(pc_error_classify(cases[i].code), cases[i].kind);
}

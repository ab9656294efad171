/* Not every system has every errno. */
#include <errno.h>

#include "system/paths.h"

pc_error_kind pc_error_classify(int code) {
  switch (code) {
  case ENOENT:
  case ENOTDIR:
    return PC_ERROR_MISSING;
  case EACCES:
  case EPERM:
    return PC_ERROR_DENIED;
  case EROFS:
    return PC_ERROR_READ_ONLY;
  case ENOSPC:
#if defined(EDQUOT)
  case EDQUOT:
#endif
    return PC_ERROR_NO_SPACE;
  case EFBIG:
    return PC_ERROR_TOO_LARGE;
  case ENXIO:
    return PC_ERROR_NOT_A_FILE;
  case EBUSY:
    return PC_ERROR_IN_USE;
  default:
    return PC_ERROR_OTHER;
  }
}

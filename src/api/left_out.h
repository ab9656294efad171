/* The error of public calls whose part was left out of this build (meson_options.txt). */
#ifndef PC_LEFT_OUT_H
#define PC_LEFT_OUT_H

#include "base/error.h"

/* part: "figures", the subject of the sentence; option: that of the build. */
#define PC_FAIL_LEFT_OUT(err, part, option) \
  pc_fail((err), PCAL_USAGE,                \
          part " are not part of this build of propercal; build it with -D" option "=true")

#endif

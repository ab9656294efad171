/* Drivers that are not there, or too old, and errors without a text.  The functions of
 * system/shared_library.h are replaced by those below. */
#include "../unit.h"

#include "device/cuda_driver.h"
#include "system/shared_library.h"

static int library; /* its address stands for the library */
static int library_is_there, library_closed, program_is_static;
static const char *library_lacks;

void *pc_shared_library_open(const char *unix_name, const char *windows_name) {
  assert_string_equal(unix_name, "libcuda.so.1");
  assert_string_equal(windows_name, "nvcuda.dll");
  return library_is_there ? &library : NULL;
}

int pc_shared_libraries_can_open(void) {
  return !program_is_static;
}

void pc_shared_library_close(void *opened) {
  assert_ptr_equal(opened, &library);
  library_closed++;
}

int pc_shared_library_find(void *opened, const char *symbol, void *function) {
  static const uintptr_t somewhere = 16;
  assert_ptr_equal(opened, &library);
  memcpy(function, &somewhere, sizeof somewhere);
  return library_lacks == NULL || strcmp(symbol, library_lacks) != 0;
}

TEST(no_driver) {
  pc_cuda_driver driver;
  pcal_error err;
  library_is_there = 0;
  assert_int_equal(pc_cuda_driver_open(&driver, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "the scores are on a GPU, and there is no NVIDIA driver (libcuda.so.1) here; "
                  "copy them into the memory of the process");
  pc_cuda_driver_close(&driver);
  assert_int_equal(library_closed, 0);
}

TEST(a_static_program) {
  pc_cuda_driver driver;
  pcal_error err;
  library_is_there = 0;
  program_is_static = 1;
  assert_int_equal(pc_cuda_driver_open(&driver, &err), PCAL_USAGE);
  program_is_static = 0;
  assert_sentence(
      err, PCAL_USAGE,
      "this build of propercal cannot open the NVIDIA driver, because it is static; "
      "take a package or a wheel, or build it from source");
  pc_cuda_driver_close(&driver);
}

/* Each function is needed. */
TEST(a_driver_without_a_function) {
#define SYMBOL(field, symbol, parameters) symbol,
  static const char *const symbols[] = {CUDA_DRIVER_LIST(SYMBOL)};
#undef SYMBOL
  library_is_there = 1;
  for (size_t i = 0; i < UNIT_COUNT(symbols); i++) {
    pc_cuda_driver driver;
    pcal_error err;
    char sentence[256];
    library_lacks = symbols[i];
    library_closed = 0;
    snprintf(
        sentence, sizeof sentence,
        "the NVIDIA driver here has no function %s; install a driver of CUDA 12 or later, or "
        "copy the scores into the memory of the process",
        symbols[i]);
    assert_int_equal(pc_cuda_driver_open(&driver, &err), PCAL_USAGE);
    assert_sentence(err, PCAL_USAGE, sentence);
    assert_int_equal(library_closed, 1);
    assert_null(driver.library);
  }
}

TEST(a_driver_with_all_functions) {
  pc_cuda_driver driver;
  pcal_error err;
  library_is_there = 1;
  library_lacks = NULL;
  library_closed = 0;
  assert_int_equal(pc_cuda_driver_open(&driver, &err), PCAL_OK);
  assert_non_null(driver.launch);
  pc_cuda_driver_close(&driver);
  assert_int_equal(library_closed, 1);
}

/* ---- errors ---- */

/* 700 has a text, 701 an empty answer, and all others are not known. */
static cuda_result error_string(cuda_result result, const char **out) {
  *out = result == 700 ? "an illegal memory access" : NULL;
  return result != 700 && result != 701;
}

TEST(errors_with_and_without_a_text) {
  const pc_cuda_driver driver = {.error_string = error_string};
  pcal_error err;
  assert_int_equal(pc_cuda_check(&driver, 0, "reading", &err), PCAL_OK);
  assert_int_equal(pc_cuda_check(&driver, 700, "reading", &err), PCAL_IO);
  assert_sentence(
      err, PCAL_IO,
      "reading failed: an illegal memory access (CUDA error 700); check the program "
      "that uses the GPU");
  for (cuda_result result = 701; result <= 702; result++) {
    char sentence[128];
    snprintf(
        sentence, sizeof sentence,
        "reading failed: unknown error (CUDA error %d); check the program that uses the GPU",
        result);
    assert_int_equal(pc_cuda_check(&driver, result, "reading", &err), PCAL_IO);
    assert_sentence(err, PCAL_IO, sentence);
  }
  assert_int_equal(pc_cuda_check(&driver, CUDA_OUT_OF_MEMORY, "reading", &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY, "the GPU is out of memory while reading; free some of it");
}

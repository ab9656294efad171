/* A driver for tests of GPUs: our own, without a GPU (fake_cuda.c), or with PROPERCAL_GPU in the
 * environment NVIDIA's (tools/check-gpu); tests of failures are then skipped. */
#ifndef GPU_FIXTURE_H
#define GPU_FIXTURE_H

#include <dlfcn.h>

#include "propercal.h"
#include "unit.h"

static struct {
  void *library;
  int (*alloc)(uint64_t *out, size_t bytes);
  int (*release)(uint64_t address);
  int (*copy)(uint64_t to, const void *from, size_t bytes, void *stream);
  int (*get)(void *to, uint64_t from, size_t bytes, void *stream);
  int (*wait)(void *stream);
  void (*break_down)(const char *symbol, int result);
  void (*capability)(int capability);
  void (*use)(int ordinal); /* the GPU of upload(): 0 or 1 */
  long (*blocks)(void);
  size_t (*read)(void); /* bytes copied to the host so far */
  void (*stream)(const void *stream);
  long (*strays)(void);
  int is_real; /* NVIDIA's driver */
} fake;

static inline void find(const char *symbol, void *function) {
  void *found = dlsym(fake.library, symbol);
  assert_non_null(found);
  memcpy(function, &found, sizeof found);
}

static inline long no_blocks(void) {
  return 0;
}

static inline size_t no_bytes(void) {
  return 0;
}

/* A context for upload(). */
static inline void set_up_gpu(void) {
  int (*init)(unsigned), (*retain)(void **, int), (*use)(void *);
  void *context;
  find("cuInit", (void *)&init);
  find("cuDevicePrimaryCtxRetain", (void *)&retain);
  find("cuCtxSetCurrent", (void *)&use);
  assert_int_equal(init(0), 0);
  assert_int_equal(retain(&context, 0), 0);
  assert_int_equal(use(context), 0);
}

/* The library is found by its name once it is loaded. */
static inline int set_up(void **state) {
  (void)state;
  fake.is_real = getenv("PROPERCAL_GPU") != NULL;
  fake.library = dlopen(fake.is_real ? "libcuda.so.1" : FAKE_CUDA, RTLD_NOW);
  assert_non_null(fake.library);
  fake.blocks = no_blocks;
  fake.read = no_bytes;
  find("cuMemAlloc_v2", (void *)&fake.alloc);
  find("cuMemFree_v2", (void *)&fake.release);
  find("cuMemcpyHtoDAsync_v2", (void *)&fake.copy);
  find("cuMemcpyDtoHAsync_v2", (void *)&fake.get);
  find("cuStreamSynchronize", (void *)&fake.wait);
  if (fake.is_real) {
    set_up_gpu();
    return 0;
  }
  find("fake_cuda_fail", (void *)&fake.break_down);
  find("fake_cuda_capability", (void *)&fake.capability);
  find("fake_cuda_use", (void *)&fake.use);
  find("fake_cuda_blocks", (void *)&fake.blocks);
  find("fake_cuda_read", (void *)&fake.read);
  find("fake_cuda_stream", (void *)&fake.stream);
  find("fake_cuda_strays", (void *)&fake.strays);
  return 0;
}

/* No call has left work on the GPU that nobody waited for. */
static inline int tear_down(void **state) {
  (void)state;
  if (!fake.is_real) {
    long (*unfinished)(void);
    find("fake_cuda_unfinished", (void *)&unfinished);
    if (unfinished() != 0) { /* cmocka does not count a failure here */
      print_error("%ld calls left work on the GPU that they had not waited for\n",
                  unfinished());
      exit(1);
    }
  }
  return dlclose(fake.library);
}

/* A copy of an array on the GPU. */
static inline void *upload(const void *data, size_t bytes) {
  uint64_t address;
  assert_int_equal(fake.alloc(&address, bytes), 0);
  assert_int_equal(fake.copy(address, data, bytes, NULL), 0);
  return (void *)(uintptr_t)address;
}

/* A stream other than the default, which all calls must use until stream_end; NULL with NVIDIA's driver. */
static inline void *stream_begin(void) {
  static char own;
  if (fake.is_real)
    return NULL;
  fake.stream(&own);
  return &own;
}

static inline void stream_end(void) {
  if (fake.is_real)
    return;
  assert_int_equal(fake.strays(), 0);
  fake.stream(NULL);
}

/* Removes the members "device" of JSON, which only results of rows on a GPU have.  Returns json. */
static inline char *without_device(char *json) {
  for (char *at = strstr(json, "\"device\""); at != NULL; at = strstr(at, "\"device\"")) {
    char *end = strchr(strchr(at + 8, '"') + 1, '"') + 1;
    while (*at != ',')
      at--;
    memmove(at, end, strlen(end) + 1);
  }
  return json;
}

static inline void drop(void *address) {
  fake.release((uint64_t)(uintptr_t)address);
}

#endif

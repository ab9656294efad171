/* Copies to and from a GPU through the two halves of the page-locked memory: the bytes arrive whether the
 * driver copies as late as it may or at once (fake_queue.h), so that no half is filled while it is still being
 * copied, and none is read before.  The driver is that of test_device.c. */
#include "unit.h"

#include "base/rng.h"
#include "device/device.h"
#include "gpu_fixture.h"

#define COPIES_BYTES (3 * PC_DEVICE_PIECE + 4099) /* each half is used twice */

TEST_GROUP(set_up, tear_down)

static unsigned char *copies_bytes(void) {
  const pc_rng rng = {17, 2};
  unsigned char *bytes = malloc(COPIES_BYTES);
  assert_non_null(bytes);
  for (size_t i = 0; i < COPIES_BYTES; i += 8) {
    const uint64_t word = pc_rng_bits(&rng, i);
    const size_t left = COPIES_BYTES - i;
    memcpy(bytes + i, &word, left < 8 ? left : 8);
  }
  return bytes;
}

static void copies_early(int early) {
  void (*set)(int);
  if (fake.is_real)
    return;
  find("fake_cuda_early", (void *)&set);
  set(early);
}

static pcal_device *copies_device(void) {
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(NULL, NULL, &device, NULL), PCAL_OK);
  return device;
}

/* Uploads, puts into memory that is there, and reads back. */
static void copies_run(const unsigned char *bytes, void *stream) {
  pcal_device *device = copies_device();
  unsigned char *back = calloc(COPIES_BYTES, 1);
  void *first = NULL, *second = NULL;
  assert_int_equal(pc_device_upload(device, stream, bytes, COPIES_BYTES, &first, NULL),
                   PCAL_OK);
  assert_int_equal(pc_device_copy(device, stream, first, COPIES_BYTES, back, NULL), PCAL_OK);
  assert_memory_equal(bytes, back, COPIES_BYTES);
  memset(back, 0, COPIES_BYTES);
  assert_int_equal(pc_device_allocate(device, COPIES_BYTES, &second, NULL), PCAL_OK);
  assert_int_equal(pc_device_put(device, stream, bytes, COPIES_BYTES, second, NULL), PCAL_OK);
  assert_int_equal(pc_device_copy(device, stream, second, COPIES_BYTES, back, NULL), PCAL_OK);
  assert_memory_equal(bytes, back, COPIES_BYTES);
  free(back);
  pc_device_drop(device, first);
  pc_device_drop(device, second);
  pcal_device_free(device);
}

TEST(test_halves_take_turns) {
  unsigned char *bytes = copies_bytes();
  for (int early = 0; early < 2; early++) {
    copies_early(early);
    void *stream = stream_begin();
    copies_run(bytes, stream);
    stream_end();
  }
  copies_early(0);
  free(bytes);
  assert_int_equal(fake.blocks(), 0);
}

/* Calls on different streams, which are not ordered, use the same halves. */
TEST(test_streams_share_the_halves) {
  static char streams[2];
  enum { FEW = 1000 };
  unsigned char bytes[2][FEW], back[FEW];
  void *there[2];
  pcal_device *device = copies_device();
  for (int s = 0; s < 2; s++) {
    memset(bytes[s], 7 + s, FEW);
    assert_int_equal(pc_device_upload(device, fake.is_real ? NULL : &streams[s], bytes[s], FEW,
                                      &there[s], NULL),
                     PCAL_OK);
  }
  for (int s = 0; s < 2; s++) {
    assert_int_equal(
        pc_device_copy(device, fake.is_real ? NULL : &streams[!s], there[s], FEW, back, NULL),
        PCAL_OK);
    assert_memory_equal(bytes[s], back, FEW);
    pc_device_drop(device, there[s]);
  }
  pcal_device_free(device);
  assert_int_equal(fake.blocks(), 0);
}

/* A receiver that takes long to use its piece: the next one is copied meanwhile, into the other half. */
typedef struct copies_found {
  const unsigned char *expected;
  size_t pieces, position;
} copies_found;

static pcal_status copies_receive(void *user, const void *bytes, size_t begin, size_t count,
                                  pcal_error *err) {
  copies_found *found = user;
  (void)err;
  assert_int_equal(begin, found->position);
  assert_memory_equal(bytes, found->expected + begin, count);
  found->position += count;
  found->pieces++;
  return PCAL_OK;
}

TEST(test_pieces_stay_while_they_are_used) {
  static const size_t pieces[] = {PC_DEVICE_PIECE, PC_DEVICE_PIECE - 24};
  unsigned char *bytes = copies_bytes();
  pcal_device *device = copies_device();
  void *there = NULL;
  assert_int_equal(pc_device_upload(device, NULL, bytes, COPIES_BYTES, &there, NULL), PCAL_OK);
  for (size_t i = 0; i < 4; i++) {
    copies_found found = {bytes, 0, 0};
    copies_early(i % 2 == 1);
    assert_int_equal(pc_device_read(device, NULL, there, COPIES_BYTES, pieces[i / 2],
                                    copies_receive, &found, NULL),
                     PCAL_OK);
    assert_int_equal(found.position, COPIES_BYTES);
    assert_int_equal(found.pieces, 4);
  }
  copies_early(0);
  free(bytes);
  pc_device_drop(device, there);
  pcal_device_free(device);
  assert_int_equal(fake.blocks(), 0);
}

/* Nothing is left on its way when a call fails: the memory that it used may be filled again. */
TEST(test_failed_copies_leave_nothing_behind) {
  if (fake.is_real)
    skip();
  static const char *const symbols[] = {"cuMemcpyHtoDAsync_v2", "cuStreamSynchronize"};
  unsigned char *bytes = copies_bytes();
  for (size_t s = 0; s < UNIT_COUNT(symbols); s++) {
    pcal_device *device = copies_device();
    pcal_error err = PCAL_ERROR_INIT;
    void *there = NULL;
    fake.break_down(symbols[s], 700);
    assert_int_equal(pc_device_upload(device, NULL, bytes, COPIES_BYTES, &there, &err),
                     PCAL_IO);
    assert_string_equal(err.message,
                        "copying to the GPU failed: an illegal memory access was encountered "
                        "(CUDA error 700); check the program that uses the GPU");
    assert_null(there);
    fake.break_down("", 0);
    pcal_device_free(device);
    assert_int_equal(fake.blocks(), 0);
    copies_run(bytes, NULL);
  }
  free(bytes);
}

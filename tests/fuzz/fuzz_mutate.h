/* The custom mutator of a target: most inputs are valid ones made anew or changed in their
 * structure; some have their bytes changed by libFuzzer.  A target includes this header once,
 * after it has defined
 *
 *   static void fuzz_make(fuzz_choice *choice, fuzz_out *out);
 *   static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out
 * *out);
 *
 * PROPERCAL_FUZZ_PLAIN=1 switches it off, for comparison. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "fuzz_choice.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  fuzz_choice choice = fuzz_choice_of_seed(seed);
  const size_t how = fuzz_below(&choice, 8);
  fuzz_out out = {malloc(max_size), 0, max_size};
  if (getenv("PROPERCAL_FUZZ_PLAIN") != NULL || how == 7 || out.bytes == NULL) {
    free(out.bytes);
    return LLVMFuzzerMutate(data, size, max_size);
  }
  if (how < 2 || size == 0)
    fuzz_make(&choice, &out);
  else
    fuzz_change(&choice, data, size, &out);
  memcpy(data, out.bytes, out.length);
  free(out.bytes);
  return out.length > 0 ? out.length : LLVMFuzzerMutate(data, size, max_size);
}

#endif

/* Valid specs, states and calibrator files, made by the library itself from choices. */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H

#include "fuzz_choice.h"
#include "fuzz_files.h"
#include "propercal.h"

/* A spec of a row of a registry with values for some options. */
void fuzz_write_spec(pcal_registry kind, fuzz_choice *choice, fuzz_out *out);
/* What a measure of a small data set has seen, as pcal_measure_save writes it; nothing where
 * the chosen metrics do not fit the data. */
void fuzz_write_state(fuzz_choice *choice, fuzz_out *out);
/* A calibrator fitted to a small data set; nothing where it cannot be. */
void fuzz_write_calibrator(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out);

/* Options and names of a spec changed. */
void fuzz_change_spec(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);
/* Numbers inside a state changed; the target gives it a head and a checksum that fit. */
void fuzz_change_state(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);

#endif

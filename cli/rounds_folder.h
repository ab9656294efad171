/* The folder of `propercal rounds`, all files of which are written whole or not at all:
 *
 *   parts        number of parts
 *   request-N    request of round N, from 1
 *   answer-N-P   tally of part P in round N, P from 1
 *   tally-N      merged tally of round N, once all parts have answered */
#ifndef CLI_ROUNDS_FOLDER_H
#define CLI_ROUNDS_FOLDER_H

#include "read_file.h"

#define CLI_ROUNDS_PATH 4096
#define CLI_ROUNDS_PARTS_MAX 1000000

typedef struct cli_rounds_folder {
  const char *path;
  uint64_t parts;
  unsigned round; /* of the last request */
  int merged;     /* there is a merged tally of that round */
} cli_rounds_folder;

/* The path of a file of the folder; `part` is for answers. */
typedef enum cli_rounds_file {
  CLI_ROUNDS_PARTS,
  CLI_ROUNDS_REQUEST,
  CLI_ROUNDS_ANSWER,
  CLI_ROUNDS_TALLY
} cli_rounds_file;
pcal_status cli_rounds_name(const char *folder, cli_rounds_file file, unsigned round,
                            uint64_t part, char out[CLI_ROUNDS_PATH], pcal_error *err);
int cli_rounds_has(const char *path);

/* Looks which rounds a folder holds.  PCAL_USAGE: none. */
pcal_status cli_rounds_folder_open(const cli_session *session, const char *path,
                                   cli_rounds_folder *out, pcal_error *err);

/* The rounds after all merged tallies.  The caller frees *out. */
pcal_status cli_rounds_folder_resume(cli_session *session, const cli_rounds_folder *folder,
                                     pcal_rounds **out, pcal_error *err);

/* Merges the answers of all parts into `out`, which the caller frees.  Fails with PCAL_DATA if
 * an answer is missing and, unless options.allow_repeat, if two parts have the same rows. */
pcal_status cli_rounds_folder_merge(cli_session *session, const cli_rounds_folder *folder,
                                    cli_text_buffer *out, pcal_error *err);

#endif

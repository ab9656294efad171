/* Standard streams and arguments of the program. */
#ifndef PC_PROGRAM_STREAMS_H
#define PC_PROGRAM_STREAMS_H

/* Opens standard streams that are closed, so that no other file takes their place, and lets
 * bytes pass unchanged.  Replaces the arguments where the system's are not UTF-8. */
void pc_program_streams_start(int *argc, char ***argv);

/* True if the descriptor is a pipe that its reader has closed. */
int pc_program_reader_gone(int descriptor);

#endif

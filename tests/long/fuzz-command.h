/* fuzz-command.h: the command's verbs, each with its levels and forms, on bytes that nobody wrote.
 *
 * What the verbs print goes nowhere; the files that they make stand in a folder that is the
 * process's own.  A verb may find fault with the bytes (status 1, diff 2); anything else, and
 * whatever a sanitizer finds, ends the process.
 */
#ifndef FUZZ_COMMAND_H
#define FUZZ_COMMAND_H

#include <stddef.h>

/* beside: a sound store that merge, diff and report have beside the bytes. */
void fuzz_command_begin(const char *beside);
void fuzz_command_end(void);		/* removes what was made */

/* Bytes that somebody else writes over the file, just before the verb's at-th read of any file (0:
 * nobody writes). */
struct fuzz_writer {
	unsigned at;
	const unsigned char *bytes;
	size_t n;
};

extern const unsigned fuzz_commands;
void fuzz_command(const unsigned char *bytes, size_t n, const struct fuzz_writer *beside,
		  unsigned which);
const char *fuzz_command_line(unsigned which);

#endif

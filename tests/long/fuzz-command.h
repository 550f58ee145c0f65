/*
 * fuzz-command.h: runs the command's verbs, each with its levels and formats, on random bytes.
 *
 * Their output is discarded; the files that they make are in a folder of the process. A verb may
 * reject the bytes (status 1, diff 2); any other status and any report of a sanitizer ends the
 * process.
 */
#ifndef FUZZ_COMMAND_H
#define FUZZ_COMMAND_H

#include <stddef.h>

/* @sound_file: a sound store that merge, diff and report get in addition. */
void fuzz_command_begin(const char *sound_file);
void fuzz_command_end(void);		/* removes the created files */

/*
 * Bytes that another writer puts over the file, just before the verb's at-th read of any file (0:
 * never).
 */
struct fuzz_writer {
	unsigned at;
	const unsigned char *bytes;
	size_t n;
};

extern const unsigned fuzz_commands;
void fuzz_command(const unsigned char *bytes, size_t n, const struct fuzz_writer *harm,
		  unsigned which);
const char *fuzz_command_line(unsigned which);

#endif

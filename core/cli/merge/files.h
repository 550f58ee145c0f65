/* files.h: several stores' files, opened as one. */
#ifndef SP_FILES_H
#define SP_FILES_H

#include "../files/file.h"

/* Reports to make besides an error: bad files; also those that are left because another holds their process; or neither,
 * since the same files were opened before, when *n_bad of them were bad. */
enum sp_files_tell { SP_FILES_BAD, SP_FILES_ALL, SP_FILES_AGAIN };

/* Several as one run: merged, in memory, if they are more than one or only some events
 * (E,E; NULL: all) are wanted.  A process that several hold counts once.  A status as sp_file_open's; *n_bad: bad files, which
 * were left out. */
int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n, const char *events,
		  enum sp_files_tell tell, unsigned *n_bad);

#endif

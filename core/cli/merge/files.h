/* files.h: several stores' files, opened as one. */
#ifndef SP_FILES_H
#define SP_FILES_H

#include "../files/file.h"

/* Several as one run: merged, in memory, if they are more than one or only some events
 * (E,E; NULL: all) are wanted.  A process that several hold counts once (tell: a line for each file that
 * is left; verb NULL: nothing is said, which was said when they were opened before).  A status as sp_file_open's; *n_bad: files that were named and left out. */
int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n, const char *events,
		  bool tell, unsigned *n_bad);

#endif

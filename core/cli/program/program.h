/* program.h: what can be told of a program from its file, before it starts.
 *
 * Nothing of it is run: ELF headers are read, and the loader lists what the program links, as for
 * ldd(1). A program with DT_AUDIT is not given to it: it would run those libraries. The file may be
 * anything: no number in it is trusted here, but the loader uses its addresses.
 */
#pragma once

#include <limits.h>

#include "../../base/base.h"

enum sp_program_kind {
	SP_PROGRAM_DYNAMIC,
	SP_PROGRAM_STATIC,
	SP_PROGRAM_FOREIGN		/* of another word size or machine than ours */
};

struct sp_program {
	char path[PATH_MAX];		/* where execvp finds it */
	char script[PATH_MAX];		/* not empty: that was a script (this one), and path is its
					 * interpreter */
	char missing[PATH_MAX];		/* the interpreter of a script, as named there, that cannot
					 * be run; "" */
	enum sp_program_kind kind;
	char loader[256];		/* another C library's, by which it starts; what is made for
					 * ours stops it.  "" */
	bool set_id;			/* set-user-ID, set-group-ID or with capabilities: the
					 * loader is careful */
	bool set_id_other;		/* ... for who asks now; else only for others */
	char papi[PATH_MAX];		/* the libpapi that it is linked to, as the loader would
					 * find it; "" */
	bool papi_missing;		/* it is linked to one (papi is its soname) that is not
					 * found */
	char papi_object[PATH_MAX];	/* an object that it links and that has libpapi.a in it;
					 * "" */
	bool names_papi;		/* has "libpapi" in its bytes: it may dlopen one */
	bool loads_or_starts;		/* it, or what it links (libpython), imports dlopen, exec or
					 * posix_spawn */
	bool static_papi;		/* defines PAPI_library_init itself */
	bool unread;			/* may be run, not read: no more than set_id is known */
};

/* 0; or -errno: -ENOENT no such program, -EACCES not executable, -ENOEXEC nothing that could be
 * run. */
int sp_program_inspect(struct sp_program *p, const char *name);

/* Such an error in words, with the interpreter if it is that; in text, or static. */
const char *sp_program_why(const struct sp_program *p, int error, char *text, size_t room);

/* The libpapi that the loader would find; path stays as it is where it has one already, and ""
 * where there is none. */
void sp_program_libpapi(char path[PATH_MAX]);

/* Before a library is preloaded: lets the runtime of AddressSanitizer start behind it, in this
 * process's children and theirs. */
void sp_program_precede_asan(void);

/* Says why execvp did not start it, whose error may be of what the program needs to be started by;
 * 126 or 127. */
int sp_not_started(const char *verb, const char *name, int error);

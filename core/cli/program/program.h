/* program.h: inspects a program's file before it starts.
 *
 * Nothing of the program is run: ELF headers are read, and the loader lists its libraries, as
 * for ldd(1). A program with DT_AUDIT is not given to the loader, which would run the audit
 * libraries. The file may be anything, so its numbers are checked here; but the loader uses its
 * addresses.
 */
#pragma once

#include <limits.h>

#include "../../base/base.h"

enum sp_program_kind {
	SP_PROGRAM_DYNAMIC,
	SP_PROGRAM_STATIC,
	SP_PROGRAM_FOREIGN		/* other word size or architecture */
};

struct sp_program {
	char path[PATH_MAX];		/* as execvp finds it */
	char script[PATH_MAX];		/* if not empty: the script, whose interpreter is path */
	char missing[PATH_MAX];		/* interpreter that cannot be run, as the script names
					 * it; "" */
	enum sp_program_kind kind;
	char loader[256];		/* ELF interpreter of another C library, which fails on
					 * libraries made for ours; "" */
	bool set_id;			/* set-user-ID, set-group-ID or with capabilities: the
					 * loader restricts LD_PRELOAD */
	bool set_id_other;		/* that is so for the caller, not only for others */
	char papi[PATH_MAX];		/* libpapi that it links, as the loader would find it; "" */
	bool papi_missing;		/* it links one that is not found; papi is its soname */
	char papi_object[PATH_MAX];	/* a linked object that contains libpapi.a; "" */
	bool names_papi;		/* its bytes contain "libpapi": it may dlopen one */
	bool loads_or_starts;		/* it, or a library that it links (libpython), imports
					 * dlopen, exec or posix_spawn */
	bool static_papi;		/* defines PAPI_library_init itself */
	bool unread;			/* executable but not readable: only set_id is known */
};

/* 0 or -errno: -ENOENT no such program, -EACCES not executable, -ENOEXEC not a program. */
int sp_program_inspect(struct sp_program *p, const char *name);

/* Describes such an error, with the interpreter if that is the cause; in text, or static. */
const char *sp_program_why(const struct sp_program *p, int error, char *text, size_t room);

/* Sets an empty path to the libpapi that the loader would find; "": none. */
void sp_program_libpapi(char path[PATH_MAX]);

/* Call this before preloading a library: lets AddressSanitizer's runtime start after it, in this
 * process's descendants. */
void sp_program_precede_asan(void);

/* Reports why execvp failed, perhaps for lack of an interpreter; returns 126 or 127. */
int sp_not_started(const char *verb, const char *name, int error);

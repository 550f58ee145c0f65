/* function-name.h: shortens a function's name: C++ functions lose arguments and return type. */
#pragma once

#include "../base/out.h"
#include "../store/layout.h"

#define SP_FUNCTION_NAME 1024u	/* bytes; longer names are cut */

#define SP_NAME_BRIEF	1u	/* without namespaces */
#define SP_NAME_ARGUMENTS 2u	/* with template arguments, if addr2line reported them */

/* symbol: the linker's name, or the output of addr2line -C. */
const char *sp_function_name(char text[SP_FUNCTION_NAME], const char *symbol, unsigned how);

/* A call site's word: begin, read or end of a region, or the PAPI function; NULL: unknown. */
const char *sp_site_call_name(enum sp_site_call call);

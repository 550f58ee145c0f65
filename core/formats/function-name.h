/* function-name.h: a function by its name alone: of C++ without arguments and what it returns. */
#pragma once

#include "../base/out.h"

#define SP_FUNCTION_NAME 1024u	/* bytes; what is longer is cut */

#define SP_NAME_BRIEF	1u	/* without the namespaces that it is in */
#define SP_NAME_ARGUMENTS 2u	/* with template arguments, if addr2line has said them */

/* From the symbol as the linker knows it or as addr2line -C says it. */
const char *sp_function_name(char text[SP_FUNCTION_NAME], const char *symbol, unsigned how);

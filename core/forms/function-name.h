/* function-name.h: a function by its name alone: of C++ without arguments, template arguments and what it returns. */
#ifndef SP_FUNCTION_NAME_H
#define SP_FUNCTION_NAME_H

#include "../out.h"

#define SP_FUNCTION_NAME 1024u	/* bytes; what is longer is cut */

/* From the symbol as the linker knows it or as addr2line -C says it; brief: without the namespaces that it is in. */
const char *sp_function_name(char text[SP_FUNCTION_NAME], const char *symbol, bool brief);

#endif

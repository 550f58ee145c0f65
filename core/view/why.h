/* why.h: how counts were told to CPUs, and why not better, in words. */
#ifndef SP_WHY_H
#define SP_WHY_H

#include "../store/format.h"

/* enum sp_attribution, as SSPAPI_ATTRIBUTION has it; "approximate" is a relation's only. */
const char *sp_attribution_name(uint32_t how);

/* With what can be done, where something can; "" of SP_WHY_NONE. */
const char *sp_why_text(enum sp_why why);

#endif

/* sites.h: where in the application PAPI was called from.
 *
 * A site is a call path of SSPAPI_CALLSITES frames (and a region's name, where the high
 * level was called), numbered from 1 when it is first met; 0: not known, or no room.
 * With one frame, the default, it is found by the return address alone.  Numbers and
 * addresses are in the store from then on; the module, its build id and its exported
 * symbol follow when the store may be written to at leisure: before a start, after a
 * stop, before something is unloaded.
 *
 * sp_site_here is on the path of a reading and may be called from signal handlers: no
 * lock, no memory, no system call; room is made by sp_sites_prepare.
 */
#ifndef SP_SITES_H
#define SP_SITES_H

#include "../sets/sets.h"

/* A site in one word: the address, the number below it.  What differs from an address of the same is the number. */
#define SP_SITE_OF(address) ((uint64_t)(address) << 16)
#define SP_SITE_MOST	0xffffull

/* What is not the last one's address, or no address that fits into 48 bits. */
uint32_t sp_site_find(struct sp_sites_seen *seen, uintptr_t caller);

/* The site of a call that returns to `caller`. */
static inline uint32_t sp_site_here(struct sp_sites_seen *seen, uintptr_t caller)
{
	uint64_t differs = sp_get(&seen->last) ^ SP_SITE_OF(caller);

	return SP_LIKELY(differs <= SP_SITE_MOST) ? (uint32_t)differs : sp_site_find(seen, caller);
}

/* Before a start: room for sites to come, and the modules of those met. */
void sp_sites_prepare(void);

/* The modules of addresses that a handler meets can be looked up from now on (sp_module_at). */
void sp_sites_modules(void);

/* The modules of those met since; where nothing counts that this could disturb. */
void sp_sites_resolve(void);

/* The functions of those, from the symbol tables of the modules' files: for a dump, which must
 * be safe already. */
void sp_sites_name(void);

/* Around the real dlclose: what was met until now, and what is gone. */
void sp_sites_before_unload(void);
void sp_sites_after_unload(void);

void sp_sites_forget_all(void);		/* in a child of fork */

#endif

/* sites.h: where in the application PAPI was called from.
 *
 * A site is a call path of SSPAPI_CALLSITES frames (and a region's name, where the high
 * level was called), numbered from 1 when it is first met; 0: not known, or no room.
 * With one frame it is found by the return address alone.  Numbers and
 * addresses are in the store from then on; the module, its build id and its exported
 * symbol follow when the store may be written to at leisure: before a start, after a
 * stop, before something is unloaded.
 *
 * SSPAPI_CALLSITES=auto: callers are kept, three at most, while the frames below them lie in
 * one or two functions, or in a library that all calls of PAPI stand in: helpers, which say
 * nothing of the program.  What more frames was told apart meanwhile is cut at leisure, so
 * that in the end all sites are as if so many frames had been kept from the beginning.
 *
 * sp_site_here is on the path of a reading and may be called from signal handlers: no
 * lock, no memory, and no system call but for a path that was not met on this stack before
 * (unwind.h); room is made by sp_sites_prepare.
 */
#ifndef SP_SITES_H
#define SP_SITES_H

#include "../sets/sets.h"
#include "../walker/rule.h"

#define SP_SITES_AUTO 4u		/* frames, at most */

/* Of a site at most; 0: none are kept. */
static inline uint32_t sp_sites_frames(void)
{
	return sp_conf.callsites < 0 ? SP_SITES_AUTO : (uint32_t)sp_conf.callsites;
}

/* A site in one word: the address, the number below it.  What differs from an address of the same is the number. */
#define SP_SITE_OF(address) ((uint64_t)(address) << 16)
#define SP_SITE_MOST	0xffffull
#define SP_SITE_BELOW(address) SP_SITE_OF(~(address))	/* with callers the address is not all: another word for those who ask by it alone */

/* What is not the last one's address, or no address that fits into 48 bits. */
uint32_t sp_site_find(struct sp_sites_seen *seen, const struct sp_stack *at);

/* The site of a call: to where it returns, with the registers after it. */
static inline uint32_t sp_site_here(struct sp_sites_seen *seen, const struct sp_stack *at)
{
	uint64_t differs = sp_get(&seen->last) ^ SP_SITE_OF(at->to);

	return SP_LIKELY(differs <= SP_SITE_MOST) ? (uint32_t)differs : sp_site_find(seen, at);
}

/* The same, if it was met before, by a look at its callers (unwind.h); 0: it was not. */
uint32_t sp_site_below(struct sp_sites_seen *seen, const struct sp_stack *at);

/* What a reading of this site is known by from now on (the writer's `steady`): its address; with callers another word, and
 * *below; 0: by nothing, they are too many.  sp_at: from the wrapper's frame on, the stack
 * pointer after the call. */
uint64_t sp_site_known_by(uint32_t id, uintptr_t caller, int32_t sp_at, struct sp_below *below);

/* A start's, before it: what its callers' code needs is in memory then. */
uint32_t sp_site_of_start(struct sp_sites_seen *seen, const struct sp_stack *at);

/* With the first event set: what finds callers. */
void sp_sites_load(void);

/* Before a start: room for sites to come, and the modules of those met. */
void sp_sites_prepare(void);

/* The modules of addresses that a handler meets can be looked up from now on (sp_module_at). */
void sp_sites_modules(void);

/* The modules of those met since; where nothing counts that this could disturb, and before the real dlclose. */
void sp_sites_resolve(void);

/* The functions of those, from the symbol tables of the modules' files: for a dump, which must
 * be safe already.  by_loader: dladdr may be called for the rest, which takes the loader's lock. */
void sp_sites_name(bool by_loader);

void sp_sites_after_unload(void);	/* after it: what is gone */

void sp_sites_forget_all(void);		/* in a child of fork */

#endif

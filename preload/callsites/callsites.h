/* callsites.h: where in the application PAPI was called from.
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
 * sp_site_find is on the path of a reading and may be called from signal handlers: no
 * lock, no memory, and no system call but for a path that was not met on this stack before
 * (unwind.h); room is made by sp_sites_prepare.
 */
#ifndef SP_CALLSITES_H
#define SP_CALLSITES_H

#include "../../core/base/conf.h"
#include "../sets/sets.h"
#include "../walker/rule.h"

#define SP_SITES_AUTO 4u		/* frames, at most */

/* Of a site at most; 0: none are kept. */
static inline uint32_t sp_sites_frames(void)
{
	return sp_conf.callsites < 0 ? SP_SITES_AUTO : (uint32_t)sp_conf.callsites;
}

/* A site in one word: the address, the number below it.  What differs from an address of the same
 * is the number. */
#define SP_SITE_OF(address) ((uint64_t)(address) << 16)
#define SP_SITE_MOST	0xffffull

/* Frames that new sites get. */
extern uint32_t sp_sites_depth SP_HIDDEN;

/* The site of a call: to where it returns, with the registers after it. Met before, it is found by
 * its steps (stack-hash.h), else by the rules of its frames (unwind.h). */
uint32_t sp_site_find(const struct sp_stack *at);

/* The same, without a walk; 0: it was not met before. */
uint32_t sp_site_find_known(const struct sp_stack *at);

/* A start's, before it: what its callers' code needs is in memory then. */
uint32_t sp_site_find_at_start(const struct sp_stack *at);

/* A call from there is of this site, which is not the known one. It becomes the known one if it is
 * the first one, met twice in turn, or if the known one was missed so often: to know a site takes
 * longer than to find it, and of two in turn one stays known for a while. By the thread that may
 * take the set's fast path. */
#define SP_SITE_MISSES	32u
void sp_site_set_known(struct sp_known_site *known, const struct sp_stack *at, uint32_t id);
static inline void sp_site_update_known(struct sp_known_site *known, const struct sp_stack *at,
					uint32_t id)
{
	const uint32_t misses = load_relaxed(&known->misses) + 1,
		       last_site = load_relaxed(&known->last_site);

	store_relaxed(&known->last_site, id);
	store_relaxed(&known->misses, misses);
	if (SP_UNLIKELY(misses % SP_SITE_MISSES == 0) ||
	    SP_UNLIKELY(misses == 2 && last_site == id))
		sp_site_set_known(known, at, id);
}

/* With the first event set: what finds callers. */
void sp_sites_load(void);

/* Before a start: room for sites to come, and the modules of those met. */
void sp_sites_prepare(void);

/* The modules of addresses that a handler meets can be looked up from now on (sp_module_at). */
void sp_sites_modules(void);

/* The modules of those met since; where nothing counts that this could disturb, and before the real
 * dlclose. */
void sp_sites_resolve(void);

/* The functions of those, from the symbol tables of the modules' files: for a dump, which must
 * be safe already.  by_loader: dladdr may be called for the rest, which takes the loader's lock. */
void sp_sites_name(bool by_loader);

void sp_sites_after_unload(void);	/* after it: what is gone */

void sp_sites_forget_all(void);		/* in a child of fork */

#endif

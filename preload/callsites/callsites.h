/* callsites.h: numbers the places in the application from which PAPI is called.
 *
 * A site is a PAPI function and a call path of SSPAPI_CALLSITES frames, with the region's name for
 * the high-level interface. Sites are numbered from 1 when they are first seen; 0: unknown, or no
 * room. Numbers and addresses are in the store at once. The module, its build id and the symbol
 * follow when nothing counts: before a start, after a stop, before an object is unloaded.
 *
 * SSPAPI_CALLSITES=auto keeps three callers at most, and none of a function that is no helper: of
 * three or more functions of the program in one call of which there are several sites, as a start
 * and a stop. Libraries are always helpers. Such callers are cut before a start or after a stop, so
 * that sites do not depend on the time of the decision.
 *
 * sp_site_find() runs at readings and in signal handlers: no lock, no memory, and a system call
 * only for a path that is new on this stack (unwind.h). sp_sites_prepare() makes room.
 */
#ifndef SP_CALLSITES_H
#define SP_CALLSITES_H

#include "../../core/base/conf.h"
#include "../sets/sets.h"
#include "../walker/rule.h"

#define SP_SITES_AUTO 4u		/* frames at most */

/* The number of frames of a site, at most; 0: none. */
static inline uint32_t sp_sites_frames(void)
{
	return sp_conf.callsites < 0 ? SP_SITES_AUTO : (uint32_t)sp_conf.callsites;
}

/* A site in one word: the address and, below it, the number. */
#define SP_SITE_OF(address) ((uint64_t)(address) << 16)
#define SP_SITE_MOST	0xffffull

/* Finds or adds a call site, given the return address and the registers after it. Known sites
 * are found by their steps (stack-hash.h), else by the rules of their frames (unwind.h). */
uint32_t sp_site_find(const struct sp_stack *at, enum sp_op op);

/* Finds a known site without unwinding; 0: unknown. */
uint32_t sp_site_find_known(const struct sp_stack *at, enum sp_op op);

/* Finds the site of a start before it, and loads what its callers' code needs. */
uint32_t sp_site_find_at_start(const struct sp_stack *at);

/* Counts a call from a site other than the known one of its kind. Replaces the known one if the
 * new site is the first, calls twice in succession, or comes after many misses: to replace it
 * takes longer than to find a site, so two alternating sites do not replace each other each
 * time. Called by the thread that may take the set's fast path. */
#define SP_SITE_MISSES	32u
void sp_site_set_known(struct sp_known_site *known, enum sp_op op, const struct sp_stack *at,
		       uint32_t id);
static inline void sp_site_update_known(struct sp_known_site *known, enum sp_op op,
					const struct sp_stack *at, uint32_t id)
{
	const uint32_t misses = load_relaxed(&known->misses) + 1,
		       last_site = load_relaxed(&known->last_site);

	store_relaxed(&known->last_site, id);
	store_relaxed(&known->misses, misses);
	if (SP_UNLIKELY(misses % SP_SITE_MISSES == 0) ||
	    SP_UNLIKELY(misses == 2 && last_site == id))
		sp_site_set_known(known, op, at, id);
}

/* Loads the unwinder, with the first event set. */
void sp_sites_load(void);

/* Makes room for new sites and resolves modules, before a start. */
void sp_sites_prepare(void);

/* Prepares sp_module_at() for addresses seen in signal handlers. */
void sp_sites_modules(void);

/* Resolves the modules of new sites. Called while nothing counts, and before the real dlclose. */
void sp_sites_resolve(void);

/* Finds the functions of resolved sites in the symbol tables of their files; the dump is already
 * safe then. by_loader: allow dladdr, which takes the loader's lock, for the rest. */
void sp_sites_name(bool by_loader);

void sp_sites_after_unload(void);	/* forget sites in unloaded code */

void sp_sites_forget_all(void);		/* in a child of fork */

#endif

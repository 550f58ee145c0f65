/* histograms.h: the histograms of PAPI_profil and PAPI_sprofil, which PAPI writes into the
 * program's own memory.
 *
 * PAPI calls nobody when it counts a hit.  So each buffer is compared, when PAPI_stop has answered,
 * with what it was at PAPI_start: what came since is booked as an overflow handler's calls are
 * (core/store/overflow.h), on no CPU, for none is told.  Buffers are read by process_vm_readv,
 * which refuses where the program has unmapped them.  Histograms whose buckets are no numbers of
 * hits (PAPI_PROFIL_RANDOM, _WEIGHTED, _COMPRESS) are not read.
 */
#ifndef SP_HISTOGRAMS_H
#define SP_HISTOGRAMS_H

#include "../sets/sets.h"

/* PAPI has accepted them for this event of the set, from now on and in place of those before; n 0:
 * there are none. */
void sp_histograms_set(struct sp_set *s, int code, const PAPI_sprofil_t *prof, int n, int flags);

/* It is about to be started: what the buffers have is none of its hits.  It was stopped: what came
 * since is. */
void sp_histograms_begin(const struct sp_set *s, int id);
void sp_histograms_read(const struct sp_set *s);

/* The set with this serial number is gone. */
void sp_histograms_forget(uint32_t alive);

#endif

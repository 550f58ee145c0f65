/* histograms.h: records the hits of PAPI_profil and PAPI_sprofil, which PAPI writes into the
 * program's own memory.
 *
 * PAPI reports no single hit, so each buffer is compared after PAPI_stop with its contents at
 * PAPI_start. The difference is recorded like calls of an overflow handler (core/store/overflow.h),
 * on no CPU. Buffers are read by process_vm_readv, which fails if the program has unmapped them.
 * Histograms whose buckets are not numbers of hits (PAPI_PROFIL_RANDOM, _WEIGHTED, _COMPRESS) are
 * not read.
 */
#ifndef SP_HISTOGRAMS_H
#define SP_HISTOGRAMS_H

#include "../sets/sets.h"

/* Replaces the histograms of an event of the set by those that PAPI has accepted; n 0: by none. */
void sp_histograms_set(struct sp_set *s, int code, const PAPI_sprofil_t *prof, int n, int flags);

/* Begin before PAPI_start saves the buffers; read after PAPI_stop records the hits since then. */
void sp_histograms_begin(const struct sp_set *s, int id);
void sp_histograms_read(const struct sp_set *s);

/* Forgets the histograms of the set with this serial number. */
void sp_histograms_forget(uint32_t alive);

#endif

/* histograms.c: see histograms.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "../../core/store/overflow.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../callsites/modules.h"
#include "histograms.h"

#define MOST		128u		/* of a process */
#define BYTES_MOST	(64u << 20)	/* of the buffers of all of them */
#define NO_HITS		(PAPI_PROFIL_RANDOM | PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_COMPRESS)

static struct histogram {
	uint32_t set;			/* struct sp_set's `alive`; 0: free */
	int code;
	uint32_t event;			/* of the relation */
	uint32_t scale, width;		/* width: bytes of a bucket */
	uint64_t offset, bytes;
	uintptr_t base;
	unsigned char *was, *is;	/* the buffer at PAPI_start; room for it at PAPI_stop */
	uint64_t room;			/* of each; kept for the next one, since a handler may be in
					 * the middle of a reading */
} histograms[MOST];

static uint64_t mapped;

static bool read_buffer(const struct histogram *h, unsigned char *to)
{
	long own_pid = sp_sys(SYS_getpid);
	struct iovec here = { .iov_base = to, .iov_len = h->bytes },
		     there = { .iov_base = (void *)h->base, .iov_len = h->bytes };

	return sp_sys(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0) == (long)h->bytes;
}

static bool make_room(struct histogram *h)
{
	if (h->bytes <= h->room)
		return true;
	if (sp_add(&mapped, 2 * h->bytes) + 2 * h->bytes > BYTES_MOST)
		return false;
	h->was = sp_map(2 * h->bytes);
	h->is = h->was ? h->was + h->bytes : NULL;
	h->room = h->was ? h->bytes : 0;
	return h->was;
}

static bool add(uint32_t set, int code, const PAPI_sprofil_t *prof, int flags)
{
	uint32_t is = 0, i = 0;
	struct histogram *h;

	while (i < MOST && !sp_cas(&histograms[i].set, &is, UINT32_MAX)) {
		is = 0;
		i++;
	}
	if (i == MOST)
		return false;
	h = &histograms[i];
	h->code = code;
	h->base = (uintptr_t)prof->pr_base;
	h->bytes = prof->pr_size;
	h->offset = (uintptr_t)prof->pr_off;
	h->scale = prof->pr_scale;
	h->width = flags & PAPI_PROFIL_BUCKET_64 ? 8 : flags & PAPI_PROFIL_BUCKET_32 ? 4 : 2;
	if (!make_room(h)) {
		store_release(&h->set, 0);
		return false;
	}
	store_release(&h->set, set);
	return true;
}

static void forget(uint32_t set, int code, bool all)
{
	for (uint32_t i = 0; i < MOST; i++)
		if (load_relaxed(&histograms[i].set) == set && (all || histograms[i].code == code))
			store_release(&histograms[i].set, 0);
}

void sp_histograms_set(struct sp_set *s, int code, const PAPI_sprofil_t *prof, int n, int flags)
{
	bool fine = !(flags & NO_HITS);

	forget(load_relaxed(&s->alive), code, false);
	for (int i = 0; i < n; i++)
		fine = fine && add(load_relaxed(&s->alive), code, &prof[i], flags);
	if (n > 0) {
		s->has_histograms = true;
		store_relaxed(&s->fast_thread, 0);	/* the fast path does not look at them */
	}
	if (n <= 0)
		return;
	store_relaxed(&sp_process.histograms, true);
	sp_process_note_quiet("the program has histograms of PAPI_profil or PAPI_sprofil: their "
			      "hits are shown as of each PAPI_stop, on no "
			      "CPU, for PAPI tells none");
	if (!fine)
		sp_process_note_quiet("a histogram of PAPI_profil or PAPI_sprofil is not shown: "
				      "its buckets are no numbers of hits, or there are "
				      "too many");
}

void sp_histograms_forget(uint32_t alive)
{
	if (alive)
		forget(alive, 0, true);
}

static uint64_t bucket(const struct histogram *h, const unsigned char *at, uint64_t i)
{
	uint64_t n = 0;

	memcpy(&n, at + i * h->width, h->width);	/* (aarch64 and x86-64 are little-endian) */
	return n;
}

/* The first address that PAPI counts there (posix_profil in PAPI's extras.c). */
static uint64_t address_of(const struct histogram *h, uint64_t i)
{
	return h->scale > 2 ? h->offset + (uint64_t)(((unsigned __int128)i << 17) / h->scale)
			    : h->offset;
}

static void read_one(const struct sp_set *s, const struct histogram *h)
{
	uint32_t at = h->event * s->writer.cells + s->writer.cells - 1;
	uint64_t n = h->bytes / h->width;

	if (h->event >= s->writer.k || !read_buffer(h, h->is))
		return;
	if (memcmp(h->is, h->was, h->bytes) == 0)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t was = bucket(h, h->was, i), is = bucket(h, h->is, i),
			 more = is < was ? is : is - was, address = address_of(h, i);

		if (!more)		/* (what is less was cleared by the program) */
			continue;
		sp_overflow_count(&s->overflows, at, h->event, SP_NO_CPU, more);
		sp_overflow_hit(&s->overflows, at, more, address, sp_module_at(address));
	}
}

/* Which of the set's events it is. */
static void find_event(struct histogram *h, int id)
{
	const struct sp_real *papi = &sp_papi_used->real;
	int code[64], n = SP_COUNT(code), e = 0;

	if (!papi->PAPI_list_events || papi->PAPI_list_events(id, code, &n) != PAPI_OK)
		n = 0;
	while (e < n && e < (int)SP_COUNT(code) && code[e] != h->code)
		e++;
	h->event = e < n ? (uint32_t)e : UINT32_MAX;
}

void sp_histograms_begin(const struct sp_set *s, int id)
{
	for (uint32_t i = 0; i < MOST; i++)
		if (load_relaxed(&histograms[i].set) == load_relaxed(&s->alive)) {
			find_event(&histograms[i], id);
			(void)read_buffer(&histograms[i], histograms[i].was);
		}
}

void sp_histograms_read(const struct sp_set *s)
{
	for (uint32_t i = 0; s->overflows.block && i < MOST; i++)
		if (load_relaxed(&histograms[i].set) == load_relaxed(&s->alive))
			read_one(s, &histograms[i]);
}

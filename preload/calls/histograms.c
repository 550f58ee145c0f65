/* histograms.c: see histograms.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "../../core/store/overflow.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../callsites/modules.h"
#include "histograms.h"

#define HISTOGRAMS_MAX	128u		/* in a process */
#define BUFFERS_BYTES_MAX (64u << 20)	/* of all buffers */
#define NO_HITS		(PAPI_PROFIL_RANDOM | PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_COMPRESS)

static struct histogram {
	uint32_t set;			/* sp_set's `alive`; 0: unused */
	int code;
	uint32_t event;			/* index in the relation */
	uint32_t scale, width;		/* width: bytes of a bucket */
	uint64_t offset, bytes;
	uintptr_t base;
	unsigned char *before, *now;	/* contents at PAPI_start and at PAPI_stop */
	uint64_t room;			/* of each; kept, since a handler may interrupt a read */
} histograms[HISTOGRAMS_MAX];

static uint64_t mapped_bytes;

static bool read_buffer(const struct histogram *h, unsigned char *to)
{
	long own_pid = sp_sys(SYS_getpid);
	struct iovec here = { .iov_base = to, .iov_len = h->bytes },
		     there = { .iov_base = (void *)h->base, .iov_len = h->bytes };

	return sp_sys(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0) == (long)h->bytes;
}

static bool ensure_room(struct histogram *h)
{
	if (h->bytes <= h->room)
		return true;
	if (sp_add(&mapped_bytes, 2 * h->bytes) + 2 * h->bytes > BUFFERS_BYTES_MAX)
		return false;
	h->before = sp_map(2 * h->bytes);
	h->now = h->before ? h->before + h->bytes : NULL;
	h->room = h->before ? h->bytes : 0;
	return h->before;
}

static bool add_histogram(uint32_t set, int code, const PAPI_sprofil_t *prof, int flags)
{
	uint32_t unused = 0, i = 0;
	struct histogram *h;

	while (i < HISTOGRAMS_MAX && !sp_cas(&histograms[i].set, &unused, UINT32_MAX)) {
		unused = 0;
		i++;
	}
	if (i == HISTOGRAMS_MAX)
		return false;
	h = &histograms[i];
	h->code = code;
	h->base = (uintptr_t)prof->pr_base;
	h->bytes = prof->pr_size;
	h->offset = (uintptr_t)prof->pr_off;
	h->scale = prof->pr_scale;
	h->width = flags & PAPI_PROFIL_BUCKET_64 ? 8 : flags & PAPI_PROFIL_BUCKET_32 ? 4 : 2;
	if (!ensure_room(h)) {
		store_release(&h->set, 0);
		return false;
	}
	store_release(&h->set, set);
	return true;
}

static void forget_histograms(uint32_t set, int code, bool all)
{
	for (uint32_t i = 0; i < HISTOGRAMS_MAX; i++)
		if (load_relaxed(&histograms[i].set) == set && (all || histograms[i].code == code))
			store_release(&histograms[i].set, 0);
}

void sp_histograms_set(struct sp_set *s, int code, const PAPI_sprofil_t *prof, int n, int flags)
{
	bool is_usable = !(flags & NO_HITS);

	forget_histograms(load_relaxed(&s->alive), code, false);
	for (int i = 0; i < n; i++)
		is_usable =
			is_usable && add_histogram(load_relaxed(&s->alive), code, &prof[i], flags);
	if (n > 0) {
		s->has_histograms = true;
		store_relaxed(&s->fast_thread, 0);	/* the fast path does not read them */
	}
	if (n <= 0)
		return;
	store_relaxed(&sp_process.histograms, true);
	sp_process_note_quiet("the program has histograms of PAPI_profil or PAPI_sprofil: their "
			      "hits are shown as of each PAPI_stop, without a CPU, because PAPI "
			      "reports none");
	if (!is_usable)
		sp_process_note_quiet("a histogram of PAPI_profil or PAPI_sprofil is not shown: "
				      "its buckets do not count hits, or are too many");
}

void sp_histograms_forget(uint32_t alive)
{
	if (alive)
		forget_histograms(alive, 0, true);
}

static uint64_t read_bucket(const struct histogram *h, const unsigned char *at, uint64_t i)
{
	uint64_t n = 0;

	memcpy(&n, at + i * h->width, h->width);	/* aarch64 and x86-64 are little-endian */
	return n;
}

/* The first address that PAPI counts in the bucket (posix_profil in PAPI's extras.c). */
static uint64_t bucket_address(const struct histogram *h, uint64_t i)
{
	return h->scale > 2 ? h->offset + (uint64_t)(((unsigned __int128)i << 17) / h->scale)
			    : h->offset;
}

static void record_hits(const struct sp_set *s, const struct histogram *h)
{
	uint32_t at = h->event * s->writer.cells + s->writer.cells - 1;
	uint64_t n = h->bytes / h->width;

	if (h->event >= s->writer.k || !read_buffer(h, h->now))
		return;
	if (memcmp(h->now, h->before, h->bytes) == 0)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t before = read_bucket(h, h->before, i), now = read_bucket(h, h->now, i),
			 hits = now < before ? now : now - before, address = bucket_address(h, i);

		if (!hits)
			continue;
		sp_overflow_count(&s->overflows, at, h->event, SP_NO_CPU, hits);
		sp_overflow_hit(&s->overflows, at, hits, address, sp_module_at(address));
	}
}

/* Finds the index of the histogram's event in its set. */
static void find_event_index(struct histogram *h, int id)
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
	for (uint32_t i = 0; i < HISTOGRAMS_MAX; i++)
		if (load_relaxed(&histograms[i].set) == load_relaxed(&s->alive)) {
			find_event_index(&histograms[i], id);
			(void)read_buffer(&histograms[i], histograms[i].before);
		}
}

void sp_histograms_read(const struct sp_set *s)
{
	for (uint32_t i = 0; s->overflows.block && i < HISTOGRAMS_MAX; i++)
		if (load_relaxed(&histograms[i].set) == load_relaxed(&s->alive))
			record_hits(s, &histograms[i]);
}

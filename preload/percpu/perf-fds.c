/* perf-fds.c: intercepts the perf events that libpapi opens and closes; see perf-fds.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/base/elf-slots.h"
#include "../../core/base/seccomp.h"
#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../papi/elf.h"
#include "../papi/real.h"
#include "../process/process.h"
#include "perf-fds.h"

typedef long syscall_fn(long, ...);
typedef int close_fn(int);

/* The functions in libpapi's entries before ours; never NULL while ours are there. */
static syscall_fn *next_syscall;
static close_fn *next_close;
static struct sp_lock lock;
static uintptr_t watched;		/* base of the libpapi whose entries are ours; 0: none */

__thread uintptr_t sp_opening_set __attribute__((tls_model("initial-exec")));
static const struct sp_perf_fds_hooks *hooks;

void sp_perf_fds_forget(struct sp_perf_fds *o)
{
	o->n = o->unlisted = o->complete = o->to_reopen = o->reopening = 0;
	o->is_mixed = o->is_reordered = false;
	store_relaxed(&o->has_missed, false);
	sp_add(&o->changes, 1);
}

uint32_t sp_perf_fds_leaders(const struct sp_perf_fds *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++)
		n += o->at[i].is_leader;
	return n;
}

/* ---- recording ----------------------------------------------------------------- */

/* Prefaults, since another set of this thread may count page faults. The first room is in the set's
 * page. */
static bool make_room(struct sp_perf_fds *o)
{
	uint64_t bytes = SP_MAX_NATIVES * sizeof(*o->at);
	struct sp_native *more;

	if (o->n < o->room)
		return true;
	more = sp_map(bytes);
	if (!more)
		return false;
	(void)sp_sys(SYS_madvise, more, sp_align(bytes, 4096), MADV_POPULATE_WRITE);
	if (o->n)
		memcpy(more, o->at, o->n * sizeof(*more));
	store_release(&o->at, more);
	o->room = SP_MAX_NATIVES;
	return true;
}

static size_t size_of(const struct perf_event_attr *attr)
{
	return attr->size ? attr->size : PERF_ATTR_SIZE_VER0;
}

static void note_open(struct sp_perf_fds *o, const struct perf_event_attr *attr, int tid, int cpu,
		      int leader, int fd)
{
	struct sp_native *n;

	sp_add(&o->changes, 1);
	if (o->n == SP_MAX_NATIVES || !make_room(o)) {
		o->unlisted++;
		o->is_mixed = o->is_mixed || !o->n || tid != o->named_tid;
		return;
	}
	o->named_tid = tid;
	n = &o->at[o->n++];
	memset(n, 0, sizeof(*n));
	memcpy(&n->attr, attr, sp_min(size_of(attr), sizeof(n->attr)));
	n->attr.size = (uint32_t)sp_min(attr->size, sizeof(n->attr));
	n->fd = fd;
	n->cpu = cpu;
	n->tid = tid ? tid : sp_thread_state.tid;
	n->thread = tid && tid != sp_thread_state.tid ? 0 : sp_thread_state.id;
	n->is_leader = leader < 0;
	o->opener = sp_thread_state.tid;
	o->seccomp_filters = sp_seccomp_filters();
}

static void note_close(struct sp_perf_fds *o, int fd)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (o->at[i].fd != fd)
			continue;
		memmove(&o->at[i], &o->at[i + 1], (o->n - i - 1) * sizeof(o->at[0]));
		o->n--;
		sp_add(&o->changes, 1);
		return;
	}
	if (o->unlisted) {
		o->unlisted--;
		sp_add(&o->changes, 1);
	}
	o->is_mixed = o->is_mixed && o->unlisted;
}

/* The perf fds of the set for which this thread is inside PAPI; NULL: none. */
static struct sp_perf_fds *opening_set(void)
{
	return (struct sp_perf_fds *)(sp_opening_set & ~SP_IS_REOPENING);
}

/* ---- the same events again --------------------------------------------------
 *
 * PAPI_start closes a set's perf events and reopens them if the thread used another set meanwhile.
 * If they are the same, the list keeps all but the descriptors, and `changes` its value. Sets that
 * other threads use are excluded.
 */

/* Restores the list to the open events, since they differ. */
static void end_reopening(struct sp_perf_fds *o)
{
	uint32_t n = o->n;

	for (uint32_t i = 0; o->unclosed && i < o->reopening; i++)
		if (o->at[i].fd >= 0)
			o->at[n++] = o->at[i];
	if (o->reopening)
		sp_add(&o->changes, 1);
	o->reopening = o->unclosed = 0;
	o->n = n;
}

static bool begin_reopening(struct sp_perf_fds *o)
{
	if (!(sp_opening_set & SP_IS_REOPENING) || o->unlisted ||
	    o->opener != sp_thread_state.tid || !hooks->is_exclusive(o))
		return false;
	o->prev_changes = load_relaxed(&o->changes);
	sp_add(&o->changes, 1);
	o->to_reopen = o->reopening = o->unclosed = o->n;
	o->n = 0;
	return true;
}

static bool note_reclosed(struct sp_perf_fds *o, int fd)
{
	uint32_t i = 0, all = o->reopening ? o->reopening : o->n;

	while (i < all && o->at[i].fd != fd)
		i++;
	if (i == all || (o->reopening ? o->n != 0 : !begin_reopening(o)))
		return false;
	o->at[i].fd = -1;
	o->unclosed--;
	return true;
}

static bool note_reopened(struct sp_perf_fds *o, const struct perf_event_attr *attr, int tid,
			  int cpu, int leader, int fd)
{
	struct sp_native *n = &o->at[o->n];

	/* A thread's tid may be that of an ended thread. */
	if (o->n >= o->reopening || o->unclosed || (tid >= 0 && n->thread != sp_thread_state.id) ||
	    n->cpu != cpu || n->tid != (tid ? tid : sp_thread_state.tid) ||
	    n->is_leader != (leader < 0) || attr->inherit || attr->size != n->attr.size ||
	    memcmp(attr, &n->attr, size_of(attr)) != 0)
		return false;
	n->fd = fd;
	o->n++;
	return true;
}

static bool begin_note(struct sp_perf_fds *o, uint32_t *prev_state)
{
	if (sp_opening_set & SP_IS_REOPENING && !hooks->lock_fds(o, prev_state)) {
		store_relaxed(&o->has_missed, true);
		sp_add(&o->changes, 1);
		return false;
	}
	end_reopening(o);
	return true;
}

static void end_note(struct sp_perf_fds *o, uint32_t prev_state)
{
	if (sp_opening_set & SP_IS_REOPENING)
		hooks->unlock_fds(o, prev_state);
}

/* ---- libpapi's calls ----------------------------------------------------------- */

static SP_COLD void note_opened(struct sp_perf_fds *o, const struct perf_event_attr *attr, int tid,
				int cpu, int leader, int fd)
{
	int saved = errno;
	bool again;
	uint32_t prev_state;

	if (begin_note(o, &prev_state)) {
		note_open(o, attr, tid, cpu, leader, fd);
		again = sp_opening_set & SP_IS_REOPENING && sp_perf_fds_all(o) == o->to_reopen;
		if (again) {
			o->to_reopen = 0;
			o->complete = sp_perf_fds_all(o);
		}
		end_note(o, prev_state);
		if (again)
			hooks->reopened(o);
	}
	errno = saved;
}

/* True: nothing else has changed since the first was closed. */
static inline bool is_unchanged(struct sp_perf_fds *o)
{
	uint32_t changes = o->prev_changes + 1;

	o->complete = o->reopening;
	o->to_reopen = o->reopening = 0;
	return hooks->reopened_same(o) && sp_cas(&o->changes, &changes, o->prev_changes);
}

static SP_COLD void report_reopened(struct sp_perf_fds *o)
{
	int saved = errno;

	hooks->reopened(o);
	errno = saved;
}

/* Passes all six words on, as libc's does, whatever the call needs. */
static long on_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	long r = next_syscall(number, a, b, c, d, e, f);
	struct sp_perf_fds *o = opening_set();

	if (number != SYS_perf_event_open || r < 0 || !o)
		return r;
	if (!note_reopened(o, attr, (int)b, (int)c, (int)d, (int)r))
		note_opened(o, attr, (int)b, (int)c, (int)d, (int)r);
	else if (o->n == o->reopening && !is_unchanged(o))
		report_reopened(o);
	return r;
}

static SP_COLD void note_closed(struct sp_perf_fds *o, int fd)
{
	uint32_t prev_state;

	if (!begin_note(o, &prev_state))
		return;
	if (sp_opening_set & SP_IS_REOPENING && !o->to_reopen)
		o->to_reopen = sp_perf_fds_all(o);
	note_close(o, fd);
	end_note(o, prev_state);
}

static int on_close(int fd)
{
	struct sp_perf_fds *o = opening_set();

	if (o && !note_reclosed(o, fd))
		note_closed(o, fd);
	return next_close(fd);
}

/* ---- libpapi's entries --------------------------------------------------------- */

struct entries {
	struct sp_object of;		/* libpapi */
	uintptr_t *syscall, *close;	/* its entries; NULL: none */
};

static bool find_entry(uintptr_t at, const char *name, bool in_plt, void *arg)
{
	struct entries *e = arg;

	(void)in_plt;
	if (sp_same(name, "syscall"))
		e->syscall = (uintptr_t *)at;
	else if (sp_same(name, "close"))
		e->close = (uintptr_t *)at;
	return false;
}

struct first {
	const char *name;
	uintptr_t address;
};

static int find_symbol(const struct sp_object *o, void *arg)
{
	struct first *f = arg;

	f->address = sp_elf_symbol(o, f->name);
	return f->address != 0;
}

/* Has the loader made the entry read-only (RELRO)? It does with LD_BIND_NOW, for example. */
static bool is_relro(const struct entries *e, uintptr_t at)
{
	const struct sp_object *o = &e->of;

	for (unsigned i = 0; i < o->headers; i++)
		if (o->header[i].p_type == PT_GNU_RELRO &&
		    at - (o->base + o->header[i].p_vaddr) < o->header[i].p_memsz)
			return true;
	return false;
}

static bool write_entry(const struct entries *e, uintptr_t *entry, uintptr_t value)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)entry & ~(page - 1);
	bool relro = is_relro(e, (uintptr_t)entry);

	if (relro && sp_sys(SYS_mprotect, at, page, PROT_READ | PROT_WRITE) < 0)
		return false;
	store_release(entry, value);
	if (relro)
		(void)sp_sys(SYS_mprotect, at, page, PROT_READ);
	return true;
}

/* Returns the function that an entry calls. Before lazy binding the entry points into libpapi, and
 * the first call through it would overwrite ours. So the symbol is resolved here. */
static uintptr_t find_next(const uintptr_t *entry, const char *name)
{
	struct first f = { name, *entry };
	const struct sp_papi *p = sp_papi_used;

	if (*entry - p->low < p->span) {
		f.address = 0;
		sp_elf_each(find_symbol, &f);
	}
	return f.address;
}

static bool watch(void)
{
	struct entries e = { .syscall = NULL };
	uintptr_t to_syscall, to_close;

	if (sp_elf_find(&e.of, sp_papi_used->low))
		sp_elf_slots(e.of.base, e.of.dynamic, find_entry, &e);
	if (!e.syscall || !e.close)
		return false;
	/* A child of fork, for example, has its parent's. */
	if (*e.syscall == (uintptr_t)on_syscall || *e.close == (uintptr_t)on_close)
		return *e.syscall == (uintptr_t)on_syscall && *e.close == (uintptr_t)on_close;
	to_syscall = find_next(e.syscall, "syscall");
	to_close = find_next(e.close, "close");
	if (!to_syscall || !to_close)
		return false;
	next_syscall = (syscall_fn *)to_syscall;
	next_close = (close_fn *)to_close;
	return write_entry(&e, e.close, (uintptr_t)on_close) &&
	       write_entry(&e, e.syscall, (uintptr_t)on_syscall);
}

/* Locks: a second thread would save our functions as the previous ones, which would then call
 * themselves for ever. Seen in 4 of 60 runs of four threads that make their first sets at once. */
bool sp_perf_fds_watch(const struct sp_perf_fds_hooks *from)
{
	struct sp_lock_state lock_state;

	if (!sp_papi_used)
		return false;
	if (load_acquire(&watched) == sp_papi_used->low)
		return true;
	sp_lock_take(&lock, &lock_state);
	hooks = from;
	if (watched != sp_papi_used->low && watch())
		store_release(&watched, sp_papi_used->low);
	sp_lock_give(&lock, &lock_state);
	return watched == sp_papi_used->low;
}

void sp_perf_fds_child(void)
{
	lock.taken = 0;
}

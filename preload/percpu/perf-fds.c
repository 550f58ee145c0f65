/* perf-fds.c: sees what libpapi opens and closes; see perf-fds.h. */
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

/* What libpapi's entries held; never NULL while they hold ours. */
static syscall_fn *next_syscall;
static close_fn *next_close;
static struct sp_lock lock;
static uintptr_t watched;		/* the base of the libpapi whose entries are ours; 0:
					 * none */

__thread uintptr_t sp_opening __attribute__((tls_model("initial-exec")));
static const struct sp_perf_fds_hooks *hooks;

void sp_perf_fds_forget(struct sp_perf_fds *o)
{
	o->n = o->more = o->had = o->whole = o->kept = 0;
	o->odd = o->reordered = false;
	store_relaxed(&o->missed, false);
	sp_add(&o->changes, 1);
}

uint32_t sp_perf_fds_leaders(const struct sp_perf_fds *o)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++)
		n += o->at[i].leads;
	return n;
}

/* ---- what libpapi does --------------------------------------------------- */

/* Populated: another set of this thread may count page faults right now.  (The first room is the
 * set's page.) */
static bool make_room(struct sp_perf_fds *o)
{
	uint64_t bytes = SP_NATIVES_MOST * sizeof(*o->at);
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
	o->room = SP_NATIVES_MOST;
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
	if (o->n == SP_NATIVES_MOST || !make_room(o)) {
		o->more++;
		o->odd = o->odd || !o->n || tid != o->named_tid;
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
	n->leads = leader < 0;
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
	if (o->more) {
		o->more--;
		sp_add(&o->changes, 1);
	}
	o->odd = o->odd && o->more;
}

/* What is opened and closed right now is this set's. */
static struct sp_perf_fds *opening(void)
{
	return (struct sp_perf_fds *)(sp_opening & ~SP_OPENS_AGAIN);
}

/* ---- the same ones again --------------------------------------------------
 *
 * PAPI_start closes a set's perf events and opens them again if the thread used another set
 * meanwhile. If they are the same, the list keeps all but the descriptors, and `changes` its value.
 * Sets that other threads use are excluded. */

/* Makes the list that of the open events again, since they differ. */
static void end_again(struct sp_perf_fds *o)
{
	uint32_t n = o->n;

	for (uint32_t i = 0; o->left && i < o->kept; i++)
		if (o->at[i].fd >= 0)
			o->at[n++] = o->at[i];
	if (o->kept)
		sp_add(&o->changes, 1);
	o->kept = o->left = 0;
	o->n = n;
}

static bool begin_again(struct sp_perf_fds *o)
{
	if (!(sp_opening & SP_OPENS_AGAIN) || o->more || o->opener != sp_thread_state.tid ||
	    !hooks->alone(o))
		return false;
	o->before = o->changes;
	sp_add(&o->changes, 1);
	o->whole = o->kept = o->left = o->n;
	o->n = 0;
	return true;
}

static bool close_again(struct sp_perf_fds *o, int fd)
{
	uint32_t i = 0, all = o->kept ? o->kept : o->n;

	while (i < all && o->at[i].fd != fd)
		i++;
	if (i == all || (o->kept ? o->n != 0 : !begin_again(o)))
		return false;
	o->at[i].fd = -1;
	o->left--;
	return true;
}

static bool open_again(struct sp_perf_fds *o, const struct perf_event_attr *attr, int tid, int cpu,
		       int leader, int fd)
{
	struct sp_native *n = &o->at[o->n];

	/* The number of a thread that has ended may be a new one's. */
	if (o->n >= o->kept || o->left || (tid >= 0 && n->thread != sp_thread_state.id) ||
	    n->cpu != cpu || n->tid != (tid ? tid : sp_thread_state.tid) ||
	    n->leads != (leader < 0) || attr->inherit || attr->size != n->attr.size ||
	    memcmp(attr, &n->attr, size_of(attr)) != 0)
		return false;
	n->fd = fd;
	o->n++;
	return true;
}

static bool begin_note(struct sp_perf_fds *o, uint32_t *was)
{
	if (sp_opening & SP_OPENS_AGAIN && !hooks->lock_fds(o, was)) {
		store_relaxed(&o->missed, true);
		sp_add(&o->changes, 1);
		return false;
	}
	end_again(o);
	return true;
}

static void end_note(struct sp_perf_fds *o, uint32_t was)
{
	if (sp_opening & SP_OPENS_AGAIN)
		hooks->unlock_fds(o, was);
}

/* ---- what libpapi calls ----------------------------------------------------- */

static SP_COLD void note_opened(struct sp_perf_fds *o, const struct perf_event_attr *attr, int tid,
				int cpu, int leader, int fd)
{
	int saved = errno;
	bool again;
	uint32_t was;

	if (begin_note(o, &was)) {
		note_open(o, attr, tid, cpu, leader, fd);
		again = sp_opening & SP_OPENS_AGAIN && sp_perf_fds_all(o) == o->whole;
		if (again) {
			o->whole = 0;
			o->had = sp_perf_fds_all(o);
		}
		end_note(o, was);
		if (again)
			hooks->again(o);
	}
	errno = saved;
}

/* True: nothing else has changed since it was closed. */
static inline bool is_as_before(struct sp_perf_fds *o)
{
	uint32_t changes = o->before + 1;

	o->had = o->kept;
	o->whole = o->kept = 0;
	return hooks->same(o) && sp_cas(&o->changes, &changes, o->before);
}

static SP_COLD void opened_otherwise(struct sp_perf_fds *o)
{
	int saved = errno;

	hooks->again(o);
	errno = saved;
}

/* All six words, whatever the call needs, as libc's. */
static long on_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;
	long r = next_syscall(number, a, b, c, d, e, f);
	struct sp_perf_fds *o = opening();

	if (number != SYS_perf_event_open || r < 0 || !o)
		return r;
	if (!open_again(o, attr, (int)b, (int)c, (int)d, (int)r))
		note_opened(o, attr, (int)b, (int)c, (int)d, (int)r);
	else if (o->n == o->kept && !is_as_before(o))
		opened_otherwise(o);
	return r;
}

static SP_COLD void note_closed(struct sp_perf_fds *o, int fd)
{
	uint32_t was;

	if (!begin_note(o, &was))
		return;
	if (sp_opening & SP_OPENS_AGAIN && !o->whole)
		o->whole = sp_perf_fds_all(o);
	note_close(o, fd);
	end_note(o, was);
}

static int on_close(int fd)
{
	struct sp_perf_fds *o = opening();

	if (o && !close_again(o, fd))
		note_closed(o, fd);
	return next_close(fd);
}

/* ---- libpapi's entries ----------------------------------------------------- */

struct entries {
	struct sp_object of;		/* libpapi */
	uintptr_t *syscall, *close;	/* its entries; NULL: it has none */
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

static int find_first(const struct sp_object *o, void *arg)
{
	struct first *f = arg;

	f->address = sp_elf_symbol(o, f->name);
	return f->address != 0;
}

/* The loader has made it read-only where all is bound at the start (RELRO). */
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

/* Where the entry is bound at the first call it points into libpapi still; passing a call on to
 * there would bind it, past us.  Then what the loader would find is looked up here. */
static uintptr_t behind(const uintptr_t *entry, const char *name)
{
	struct first f = { name, *entry };
	const struct sp_papi *p = sp_papi_used;

	if (*entry - p->low < p->span) {
		f.address = 0;
		sp_elf_each(find_first, &f);
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
	/* A child of fork, say, has its parent's. */
	if (*e.syscall == (uintptr_t)on_syscall || *e.close == (uintptr_t)on_close)
		return *e.syscall == (uintptr_t)on_syscall && *e.close == (uintptr_t)on_close;
	to_syscall = behind(e.syscall, "syscall");
	to_close = behind(e.close, "close");
	if (!to_syscall || !to_close)
		return false;
	next_syscall = (syscall_fn *)to_syscall;
	next_close = (close_fn *)to_close;
	return write_entry(&e, e.close, (uintptr_t)on_close) &&
	       write_entry(&e, e.syscall, (uintptr_t)on_syscall);
}

/* One thread at a time: another would take our functions for those that stood there, and they would
 * call themselves for ever (seen in 4 of 60 runs of four threads that make their first sets at
 * once). */
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

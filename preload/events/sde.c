/* sde.c: reads libsde's records of its counters; see sde.h.
 *
 * libsde has one variable, a pointer to all its data, which is in no symbol table. So search
 * libsde's writable memory for a pointer to a list of libraries that includes the event's. The
 * library's table must have the event under its name, in a record that points back to the library.
 * process_vm_readv reads the memory: an invalid pointer is then an error, not a crash. The layouts
 * are those of libsde 1.0 (PAPI 7.0 to 7.3).
 */
#include <string.h>
#include <sys/uio.h>

#include "../../core/base/seccomp.h"
#include "../../core/base/sys.h"
#include "../papi/elf.h"
#include "sde.h"

#define TABLE		512u		/* lists of counters, by a hash of the name */
/* limits the search, since other memory may contain a ring */
#define LIBRARIES	256u
#define COUNTERS	256u		/* of one list */
#define NESTED		8u		/* depth of nested groups */
/* bytes of an object's writable memory; libsde's has less than 4 KB */
#define SEGMENT_MOST	(64u << 10)
#define READS		20000u		/* system calls for one event; about 100 are usual */

struct entry {
	uintptr_t counter, next;
};

struct library {
	uintptr_t name;
	struct entry counters[TABLE];
	uint32_t disabled, pad;
	uintptr_t next;
};

struct control {
	uint32_t registered, live, disabled, pad;
	uintptr_t libraries;
};

enum class {
	REGISTERED = 1,
	CREATED = 2,
	CALLED = 4,
	RECORDER = 8,
	SET = 0x10,
	PLACEHOLDER = 0x1000,
	GROUP = 0x2000
};
enum type { LONG, INT, DOUBLE, FLOAT };
#define INSTANT		0x10		/* in mode */

struct counter {
	uint32_t id, pad;
	uintptr_t name, description;
	uint32_t class, pad2;
	/* of[0]: a group's first entry; of[1]: a callback's argument */
	uintptr_t of[2];
	int64_t previous;
	int32_t overflow, type, mode, count;	/* count: since 7.1, unused before */
	uintptr_t library;
};

struct search {
	const char *name;		/* LIB::EVENT */
	size_t library;			/* length of the library's name in it */
	struct counter found;
};

static uint32_t seccomp_filters;		/* number of filters when PAPI was first called */
static uint32_t reads_left;		/* of READS */

void sp_sde_begin(void)
{
	seccomp_filters = sp_seccomp_filters();
}

static bool copy(void *to, uintptr_t from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)from, bytes };
	long own = sp_sys(SYS_getpid);

	return from && reads_left && reads_left-- &&
	       sp_sys(SYS_process_vm_readv, own, &local, 1, &remote, 1, 0) == (long)bytes;
}

static bool is_text(uintptr_t at, const char *text, size_t n)
{
	char remote[1024];

	return n < sizeof(remote) && copy(remote, at, n + 1) && memcmp(remote, text, n) == 0 &&
	       !remote[n];
}

static uint32_t list_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint32_t)(int)*name;
	return h % TABLE;
}

/* Find a counter of a library by its complete name. */
static bool find_counter(struct search *l, uintptr_t library, const char *name)
{
	struct entry e;
	uint32_t left = COUNTERS;

	for (uintptr_t at = library + offsetof(struct library, counters[list_of(name)]);
	     at && left--; at = e.next) {
		if (!copy(&e, at, sizeof(e)) || !copy(&l->found, e.counter, sizeof(l->found)))
			return false;
		if (l->found.library == library && is_text(l->found.name, name, strlen(name)))
			return true;
	}
	return false;
}

/* Returns whether `control` is libsde's data and has the event. */
static bool find_event(struct search *l, uintptr_t control)
{
	struct control c;
	struct library head;
	uint32_t left = LIBRARIES;

	if (!copy(&c, control, sizeof(c)) || c.live > c.registered)
		return false;
	for (uintptr_t at = c.libraries; at && left--; at = head.next) {
		if (!copy(&head.name, at, sizeof(head.name)) ||
		    !copy(&head.next, at + offsetof(struct library, next), sizeof(head.next)))
			return false;
		if (is_text(head.name, l->name, l->library))
			return find_counter(l, at, l->name) && l->found.id < c.registered;
	}
	return false;
}

static bool search(struct search *l, uintptr_t from, uintptr_t bytes)
{
	uintptr_t words[256];

	for (uintptr_t done = 0; done < bytes; done += sizeof(words)) {
		size_t n = (size_t)sp_min(sizeof(words), bytes - done) / sizeof(*words);

		if (!copy(words, from + done, n * sizeof(*words)))
			return false;
		for (size_t i = 0; i < n; i++)
			if (words[i] > 4096 && words[i] % sizeof(uintptr_t) == 0 &&
			    find_event(l, words[i]))
				return true;
	}
	return false;
}

/* Search each libsde in the global scope, which PAPI uses, for the event. */
static int find_sde(const struct sp_object *o, void *arg)
{
	if (!sp_elf_symbol(o, "sde_ti_read_counter"))
		return 0;
	for (unsigned i = 0; i < o->headers; i++) {
		const ElfW(Phdr) *h = &o->header[i];

		if (h->p_type == PT_LOAD && h->p_flags & PF_W && h->p_memsz <= SEGMENT_MOST &&
		    search(arg, (uintptr_t)sp_align(o->base + h->p_vaddr, sizeof(uintptr_t)),
			   h->p_memsz & ~(sizeof(uintptr_t) - 1)))
			return 1;
	}
	return 0;
}

/* Returns whether it is NAME:MIN or another value of a recorder, which is an address that a
 * callback of libsde's returns. The callback's argument begins with the recorder. */
static bool is_of_recorder(const struct counter *c)
{
	struct counter recorder;
	uintptr_t at;

	return c->class == CALLED && copy(&at, c->of[1], sizeof(at)) &&
	       copy(&recorder, at, sizeof(recorder)) && recorder.class == RECORDER &&
	       recorder.library == c->library;
}

/* The type of a counter, or of a group's counters. */
static int type_of(const struct counter *c)
{
	struct counter of = *c;
	struct entry e;

	for (unsigned depth = 0; of.class == GROUP && depth < NESTED; depth++)
		if (!copy(&e, of.of[0], sizeof(e)) || !copy(&of, e.counter, sizeof(of)))
			return LONG;
	return of.type;
}

enum sp_sde sp_sde_query(const char *name, enum sp_kind *kind, enum sp_data_type *type)
{
	const char *own = strstr(name, ":::"), *end;
	struct search l = { .name = own ? own + 3 : name };
	int of;

	end = strstr(l.name, "::");
	l.library = end ? (size_t)(end - l.name) : 0;
	reads_left = READS;
	/* Make no system call that a seccomp filter installed since then may forbid. */
	if (!l.library || sp_seccomp_filters() > seccomp_filters || !sp_elf_each(find_sde, &l))
		return SP_SDE_UNKNOWN;
	if (l.found.class == PLACEHOLDER)
		return SP_SDE_AWAITED;
	of = type_of(&l.found);
	*type = of == DOUBLE || of == FLOAT ? SP_FP64 : SP_INT64;
	*kind = l.found.mode & INSTANT ? SP_GAUGE : SP_COUNTER;
	switch (l.found.class) {
	case RECORDER:			/* an address */
	case SET:
		*kind = SP_GAUGE;
		*type = SP_BIT64;
		break;
	/* PAPI_start zeroes only counters that are in the set themselves */
	case GROUP:
		*kind = SP_GAUGE;
		break;
	default:
		if (is_of_recorder(&l.found)) {
			*kind = SP_GAUGE;
			*type = SP_BIT64;
		}
	}
	return SP_SDE_KNOWN;
}

/* sde.c: see sde.h.
 *
 * Libsde has one variable, a pointer to all that it holds; it is in no table of symbols.  So it is
 * looked for in libsde's writable memory: the word behind which a list of libraries stands, with
 * the event's library in it, whose table of counters has the event under its name, in a record that
 * points back to the library.  The kernel reads for us: a word that is no pointer is an error then,
 * not the end of the program.  The layouts are those of libsde 1.0 (PAPI 7.0 to 7.3).
 */
#include <string.h>
#include <sys/uio.h>

#include "../../core/base/seccomp.h"
#include "../../core/base/sys.h"
#include "../papi/elf.h"
#include "sde.h"

#define TABLE		512u		/* lists of counters, by a hash of the name */
#define LIBRARIES	256u		/* most that are looked at: memory that is none of libsde's
					 * may be a ring */
#define COUNTERS	256u		/* of one list */
#define NESTED		8u		/* groups in groups */
#define SEGMENT_MOST	(64u << 10)	/* bytes of an object's writable memory; libsde's has less
					 * than 4 KB */
#define READS		20000u		/* by the kernel, for one event; some 100 do */

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
	uintptr_t of[2];		/* a group's first entry; what a callback is called with:
					 * of[1] */
	int64_t previous;
	int32_t overflow, type, mode, count;	/* count: since 7.1; before, nothing */
	uintptr_t library;
};

struct looking {
	const char *name;		/* LIB::EVENT */
	size_t library;			/* how much of it is the library's name */
	struct counter found;
};

static uint32_t seccomp_filters;		/* of system calls, when PAPI was first called */
static uint32_t reads_left;		/* of READS */

void sp_sde_begin(void)
{
	seccomp_filters = sp_seccomp_filters();
}

static bool copy(void *to, uintptr_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	long own = sp_sys(SYS_getpid);

	return from && reads_left && reads_left-- &&
	       sp_sys(SYS_process_vm_readv, own, &here, 1, &there, 1, 0) == (long)bytes;
}

static bool is_text(uintptr_t at, const char *text, size_t n)
{
	char there[1024];

	return n < sizeof(there) && copy(there, at, n + 1) && memcmp(there, text, n) == 0 &&
	       !there[n];
}

static uint32_t list_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint32_t)(int)*name;
	return h % TABLE;
}

/* Of a library, by its whole name. */
static bool find_counter(struct looking *l, uintptr_t library, const char *name)
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

/* Is it libsde's one variable that points there? */
static bool find_event(struct looking *l, uintptr_t control)
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

static bool search(struct looking *l, uintptr_t from, uintptr_t bytes)
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

/* PAPI takes its functions from the program's global scope; of several libsde the one that has the
 * event is meant. */
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

/* NAME:MIN and others of a recorder hand out an address, by a callback that is libsde's own: what
 * it is called with begins with the recorder. */
static bool is_of_recorder(const struct counter *c)
{
	struct counter recorder;
	uintptr_t at;

	return c->class == CALLED && copy(&at, c->of[1], sizeof(at)) &&
	       copy(&recorder, at, sizeof(recorder)) && recorder.class == RECORDER &&
	       recorder.library == c->library;
}

/* Of a group, the type is its counters'. */
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
	struct looking l = { .name = own ? own + 3 : name };
	int of;

	end = strstr(l.name, "::");
	l.library = end ? (size_t)(end - l.name) : 0;
	reads_left = READS;
	/* A program may have forbidden itself calls that it does not make. */
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
	case GROUP:			/* PAPI_start zeroes its counters only where they are in the
					 * set themselves */
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

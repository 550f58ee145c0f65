/* watch.c: see watch.h. */
#include <errno.h>
#include <string.h>

#include "../../core/sys.h"
#include "moves.h"
#include "proof.h"
#include "watch.h"

#define PARTS	256			/* CPUs of one window that are told apart */
#define VALUES	512			/* events of a set that is read on a move */
#define AT_ONCE	1000000u		/* ns that the thread may have run when the move is read */
#define STACK	16384u			/* that PAPI_read may need of an alternate stack */

struct sp_watch {
	struct sp_switches switches;
	struct sp_moves moves;
	bool signals, tried;		/* moves has triggers; was asked for them */
	bool blocked;			/* the thread blocks the signal; */
	bool small;			/* its alternate stack is too small for it: */
	int quiet_on;			/* the CPU that it began on; no trigger is armed */
	struct sp_look latest;		/* before a real call */
	uint32_t followed;		/* moves at the last signal */
	struct sp_set *set;		/* that is read when the thread has moved; NULL: none runs */
	int set_id;
	int tid;
	uint32_t done;			/* stored to last, for the thread that takes it over */
	struct sp_watch *next;
	struct sp_part parts[PARTS];
	long long values[VALUES];
};

uint32_t sp_watching;
static struct sp_watch *watches, *unused;
static unsigned n_watches, reap_at = 16;
static struct sp_lock lock;
static uint32_t trouble, told;

/* ---- the thread's watch --------------------------------------------------- */

static struct sp_watch *own(void)
{
	return SP_LIKELY(sp_self.generation == sp_process.generation) ? sp_self.watch : NULL;
}

/* Under the lock, once its thread is no more, or has none. */
static void put_away(struct sp_watch *w)
{
	(void)sp_acquire(&w->done);
	sp_moves_close(&w->moves);
	sp_switches_close(&w->switches);
	w->next = unused;
	unused = w;
}

static struct sp_watch *take_unused(void)
{
	struct sp_watch *w;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	w = unused;
	if (w)
		unused = w->next;
	sp_lock_give(&lock, &held);
	if (!w) {
		w = sp_map(sizeof(*w));
		if (w)		/* a set may run on over fork: no page fault of ours */
			sp_wipe_on_fork(w, sp_align(sizeof(*w), SP_PAGE));
		return w;
	}
	memset(&w->latest, 0, offsetof(struct sp_watch, parts) - offsetof(struct sp_watch, latest));
	w->signals = w->tried = w->blocked = w->small = false;
	return w;
}

/* Of threads that have ended, or whose number is ours now.  Their events count against
 * the limit of locked memory until then. */
static void reap(void)
{
	struct sp_watch **at, *w;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (at = &watches; (w = *at) != NULL;) {
		if (w == sp_self.watch || (w->tid != sp_self.tid && !sp_thread_ended(w->tid))) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		sp_put(&n_watches, n_watches - 1);
		put_away(w);
	}
	sp_put(&reap_at, n_watches * 2 > 16 ? n_watches * 2 : 16);
	sp_lock_give(&lock, &held);
}

static int open_switches(struct sp_watch *w)
{
	bool reaped = false;
	int r = -ENOMEM;

	/* As much as the limit of locked memory allows: 48 bytes a nap. */
	for (unsigned pages = 64; pages; pages /= 4) {
		r = sp_switches_open(&w->switches, pages);
		if (r == -EPERM && !reaped) {
			reaped = true;
			reap();
			r = sp_switches_open(&w->switches, pages);
		}
		if (r == 0 || (r != -EPERM && r != -ENOMEM))
			break;
	}
	return r;
}

static void no_moves(int r)
{
	sp_process_note_quiet(r == -EPERM ?
		"SSPAPI_ATTRIBUTION=exact: too little locked memory for a trigger on each CPU (perf_event_mlock_kb, "
		"ulimit -l); some threads are booked as in residency" :
		r == -EMFILE || r == -ENFILE || r == -ENOMEM ?
		"SSPAPI_ATTRIBUTION=exact: no descriptor or no memory was left for a trigger on each CPU; some threads "
		"are booked as in residency" :
		"SSPAPI_ATTRIBUTION=exact: the kernel refuses a trigger on each CPU (seccomp, perhaps); some threads "
		"are booked as in residency");
}

static void open_moves(struct sp_watch *w)
{
	int r = sp_moves_open(&w->moves);

	if (r == -EPERM) {
		reap();
		r = sp_moves_open(&w->moves);
	}
	w->signals = r == 0;
	if (r < 0)
		no_moves(r);
}

static void no_switches(int r)
{
	sp_process_note_quiet(r == -EMFILE || r == -ENFILE ?
		"SSPAPI_ATTRIBUTION: no descriptor was left to follow some threads; they are booked as in reading" :
		r == -ENOMEM ? "SSPAPI_ATTRIBUTION: no memory to follow some threads; they are booked as in reading" :
		"SSPAPI_ATTRIBUTION: the kernel lets some threads not be followed (perf_event_paranoid above 2, "
		"seccomp, or the limit of locked memory: perf_event_mlock_kb, ulimit -l); they are booked as in reading");
	sp_proof_say();
}

static struct sp_watch *make(void)
{
	struct sp_watch *w;
	struct sp_held held;
	int r;

	if (sp_get(&n_watches) >= sp_get(&reap_at))
		reap();
	w = take_unused();
	r = w ? open_switches(w) : -ENOMEM;
	if (r < 0) {
		no_switches(r);
		sp_lock_take(&lock, &held);
		if (w)
			put_away(w);
		sp_lock_give(&lock, &held);
		return NULL;
	}
	w->tid = sp_self.tid;
	memset(w->switches.move, 0, sizeof(w->switches.move));	/* touched, all of it */
	memset(w->parts, 0, sizeof(w->parts));
	memset(w->values, 0, sizeof(w->values));
	sp_lock_take(&lock, &held);
	w->next = watches;
	sp_publish(&watches, w);
	sp_put(&n_watches, n_watches + 1);
	sp_lock_give(&lock, &held);
	return w;
}

bool sp_watch_ready(void)
{
	struct sp_watch *w;

	if (!sp_self.watch && !sp_self.unwatched) {
		sp_self.watch = make();
		sp_self.unwatched = !sp_self.watch;
	}
	w = sp_self.watch;
	if (!w || sp_get(&sp_watching) != SP_BY_EXACT)
		return w != NULL;
	w->blocked = !sp_moves_signal();
	w->small = sp_moves_stack_is_small(NULL);
	if (!w->blocked && !w->tried) {
		w->tried = true;
		open_moves(w);
	}
	return true;
}

void sp_watch_begin(void)
{
	if (sp_conf.attribution)
		sp_switches_clock();
	sp_put(&sp_watching, (uint32_t)sp_conf.attribution);
	sp_put(&sp_process.exact, sp_get(&sp_watching) == SP_BY_EXACT);
	if (sp_conf.attribution)
		sp_put(&sp_process.proof_works, false);	/* the long way: sp_proof_other */
	if (sp_get(&sp_watching) == SP_BY_EXACT && !sp_moves_signal())
		sp_process_note("SSPAPI_ATTRIBUTION=exact: the signal SIGSTKFLT is not free; as in residency");
}

/* The mappings are the parent's alone, and what stands at their place now is not ours. */
void sp_watch_forget(void)
{
	sp_process.exact = sp_get(&sp_watching) == SP_BY_EXACT;	/* a set of the parent's may be started */
	watches = unused = NULL;
	n_watches = 0;
	lock.taken = 0;
	trouble = told = 0;
}

/* ---- windows ---------------------------------------------------------------- */

uint32_t sp_watch_look(void)
{
	struct sp_watch *w = own();
	uint32_t serial;

	if (!w)
		return 0;
	sp_switches_look(&w->switches, &w->latest);
	serial = w->latest.serial ? w->latest.serial : w->switches.serial;	/* a handler's: known by none */
	sp_publish(&w->done, 1);
	return serial;
}

/* w->parts of the window between two looks. */
static int parts_between(struct sp_watch *w, const struct sp_look *from, const struct sp_look *to)
{
	int n = sp_switches_parts(&w->switches, from, to, w->parts, PARTS);

	if (!n) {
		w->parts[0] = (struct sp_part){ to->cpu, 1 };
		if (from->serial && to->serial)
			sp_watch_trouble(SP_TROUBLE_LOST);
		return 0;
	}
	return n;
}

static bool stayed(const struct sp_look *from, const struct sp_look *to)
{
	return from->serial && to->serial && from->lost == to->lost && from->moves == to->moves;
}

void sp_watch_book(struct sp_set *s, enum sp_op op, const long long *values, uint32_t open, uint32_t site, bool begun)
{
	struct sp_look from = s->look, to;
	struct sp_watch *w = own();
	int n;

	s->writer.opened = open;
	memset(&s->look, 0, sizeof(s->look));
	if (w && open && w->latest.serial == open)	/* a handler may have looked since */
		s->look = w->latest;
	if (!w || !values || op == SP_OP_WRITE) {
		(begun ? sp_ledger_begun : sp_ledger_book_at)(&s->writer, op, sp_cpu_here(), values, false, site);
		return;
	}
	sp_switches_look(&w->switches, &to);
	n = parts_between(w, &from, &to);
	if (w->blocked && w->set == s && from.moves != to.moves) {
		sp_watch_trouble(SP_TROUBLE_LATE);
		if (sp_moves_signal())		/* unblocked past masks.c: by siglongjmp */
			sp_watch_blocked(false);
	}
	sp_ledger_book_parts(&s->writer, op, values, w->parts, n ? n : 1, stayed(&from, &to), site, begun);
	sp_publish(&w->done, 1);
}

/* ---- exact -------------------------------------------------------------------- */

void sp_watch_starts(struct sp_set *s, int id)
{
	struct sp_watch *w = own();

	if (!w || sp_get(&sp_watching) != SP_BY_EXACT)
		return;
	if (w->blocked)
		sp_watch_trouble(SP_TROUBLE_MASKED);
	else if (w->small)
		sp_watch_trouble(SP_TROUBLE_SMALL);
	if (w->blocked || w->small || !w->signals || !s->readable || s->k > VALUES)
		return;
	sp_put(&w->set_id, id);
	sp_publish(&w->set, s);
	w->followed = w->switches.moves;
	sp_moves_arm(&w->moves);
	sp_publish(&w->done, 1);
}

void sp_watch_stops(struct sp_set *s)
{
	struct sp_watch *w = own();

	if (!w || w->set != s)
		return;
	sp_put(&w->set, NULL);
	sp_moves_disarm(&w->moves);
	sp_publish(&w->done, 1);
	sp_watch_tell();
}

/* Reads the running set; the counts so far are the CPU's that the thread has left, if
 * this is the first that it does on the other one. */
static void read_running(struct sp_watch *w, struct sp_set *s, bool late)
{
	struct sp_look from = s->look, before, after;
	const struct sp_real *papi = &sp_papi_used->real;
	int n;

	sp_switches_look(&w->switches, &before);
	if (stayed(&from, &before) || papi->PAPI_read(w->set_id, w->values) != PAPI_OK)
		return;
	sp_switches_look(&w->switches, &after);
	if (stayed(&before, &after) && from.serial && from.lost == before.lost && before.moves == from.moves + 1) {
		late = late || sp_switches_since_move(&w->switches, &before) > AT_ONCE;
		if (!late) {
			w->parts[0] = (struct sp_part){ from.cpu, 1 };
			if (sp_ledger_book_parts(&s->writer, SP_OP_OWN, w->values, w->parts, 1, true, 0, false))
				s->look = before;
			return;
		}
	}
	sp_watch_trouble(SP_TROUBLE_LATE);
	n = parts_between(w, &from, &after);
	if (sp_ledger_book_parts(&s->writer, SP_OP_OWN, w->values, w->parts, n ? n : 1, false, 0, false))
		s->look = before;
}

/* May it be read now?  Not on top of PAPI or of our booking, nor beside another thread
 * (PAPI has one buffer for a set). */
static bool may_read(const struct sp_set *s)
{
	return s && !sp_self.inside && s->started && s->bound && s->generation == sp_process.generation &&
	       sp_get(&s->watched) == sp_self.id && sp_get(&s->alive) && !sp_process.late &&
	       !(sp_get(&s->writer.slow) & (SP_SLOW_SHARED | SP_SLOW_SIDE)) && sp_papi_used->real.PAPI_read;
}

void sp_watch_moved(const void *context)
{
	struct sp_watch *w = own();
	struct sp_set *s;
	uint32_t moves;

	s = w && w->signals ? sp_acquire(&w->set) : NULL;
	if (!s)
		return;
	if (!s->started || !s->bound) {	/* another thread stopped it, or PAPI forgot it */
		sp_put(&w->set, NULL);
		sp_moves_disarm(&w->moves);
		return;
	}
	moves = w->switches.moves;
	sp_put(&s->being_read, true);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* who visits marks the set, then looks */
	if (may_read(s)) {
		if (sp_moves_has_stack(context, STACK)) {
			sp_put(&sp_self.inside, (uintptr_t)__builtin_frame_address(0));
			read_running(w, s, sp_moves_was_blocked(context));
			sp_touch(s);
			sp_put(&sp_self.inside, 0);
		} else {
			sp_watch_trouble(SP_TROUBLE_STACK);
		}
		moves = w->switches.moves;
	}
	sp_publish(&s->being_read, false);
	if (w->small)			/* it was on its way */
		sp_moves_disarm(&w->moves);
	else if (moves == w->followed + 1)
		sp_moves_follow(&w->moves);
	else
		sp_moves_arm(&w->moves);
	w->followed = moves;
	sp_publish(&w->done, 1);
}

/* A reset that was answered and not booked yet looked like counts that had gone back (tests/scenes/visits.c
 * loses them so).  The wait is as long as one PAPI_read; not for ever, since that thread may be stopped. */
void sp_watch_visits(struct sp_set *s)
{
	struct timespec nap = { 0, 20000 };

	if (sp_get(&sp_watching) != SP_BY_EXACT || !s || !sp_get(&s->alive) || !s->bound || !s->started ||
	    !sp_get(&s->watched) || sp_get(&s->watched) == sp_self.id || s->generation != sp_process.generation)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* behind sp_ledger_visits */
	for (int tries = 0; tries < 1000 && sp_acquire(&s->being_read); tries++)
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
}

static bool is_quiet(const struct sp_watch *w)
{
	return w->blocked || w->small;
}

static void keep_quiet(bool *why, struct sp_watch *w, bool now)
{
	bool was = is_quiet(w);

	*why = now;
	if (is_quiet(w) && !was) {
		w->quiet_on = sp_cpu_here();
		sp_moves_disarm(&w->moves);
	} else if (was && !is_quiet(w) && w->set) {
		if (w->quiet_on != sp_cpu_here())
			sp_watch_trouble(SP_TROUBLE_LATE);
		w->followed = w->switches.moves;
		sp_moves_arm(&w->moves);
	}
}

/* A signal that is pending can be waited for: none is made. */
void sp_watch_blocked(bool blocked)
{
	struct sp_watch *w = own();

	if (w && w->signals && w->blocked != blocked && sp_process_is_ours())
		keep_quiet(&w->blocked, w, blocked);
}

void sp_watch_small(bool small)
{
	struct sp_watch *w = own();

	if (!w || !w->signals || w->small == small || !sp_process_is_ours())
		return;
	if (small && w->set)
		sp_watch_trouble(SP_TROUBLE_SMALL);
	keep_quiet(&w->small, w, small);
}

void sp_watch_off(bool off)
{
	struct sp_watch *w = own();

	if (!w || !sp_process_is_ours())
		return;
	if (off)
		sp_watch_trouble(SP_TROUBLE_OFF);
	sp_switches_off(&w->switches, off);
}

bool sp_watch_armed(void)
{
	struct sp_watch *w = own();

	return w && w->signals && !is_quiet(w) && w->set;
}

struct sp_set *sp_watch_before_exec(void)
{
	struct sp_watch *w = own();
	struct sp_set *s = w && sp_process_is_ours() ? w->set : NULL;

	if (s) {
		sp_put(&w->set, NULL);
		sp_moves_disarm(&w->moves);
	}
	return s;
}

void sp_watch_after_exec(struct sp_set *s)
{
	struct sp_watch *w = own();

	if (!s || !w || w->set)		/* a handler may have started another */
		return;
	sp_publish(&w->set, s);
	if (!is_quiet(w)) {
		w->followed = w->switches.moves;
		sp_moves_arm(&w->moves);
	}
}

/* Other threads' triggers, too: their pages are stored to, nothing else of theirs. */
void sp_watch_disarm_all(void)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (struct sp_watch *w = watches; w; w = w->next)
		if (w->signals)
			sp_moves_disarm(&w->moves);
	sp_lock_give(&lock, &held);
}

/* ---- what is said -------------------------------------------------------------- */

void sp_watch_trouble(uint32_t which)
{
	if (!(sp_get(&trouble) & which))
		__atomic_fetch_or(&trouble, which, __ATOMIC_RELAXED);
}

void sp_watch_tell(void)
{
	static const struct {
		uint32_t which;
		const char *text;
	} texts[] = {
		{ SP_TROUBLE_LOST, "SSPAPI_ATTRIBUTION: where a thread was is not known for some windows (there were more "
				   "switches than the kernel could record, or a handler jumped out of PAPI); they are "
				   "booked as in reading" },
		{ SP_TROUBLE_TAKEN, "SSPAPI_ATTRIBUTION=exact: the application took the signal SIGSTKFLT for itself; "
				    "from then on as in residency" },
		{ SP_TROUBLE_LATE, "SSPAPI_ATTRIBUTION=exact: some moves were not read at once (the signal was blocked, or "
				   "the thread moved again); these windows are booked as in residency" },
		{ SP_TROUBLE_MASKED, "SSPAPI_ATTRIBUTION=exact: the application blocks the signal SIGSTKFLT in some "
				     "threads; they are booked as in residency" },
		{ SP_TROUBLE_STACK, "SSPAPI_ATTRIBUTION=exact: a signal stack was too small to read on; some windows are "
				    "booked as in residency" },
		{ SP_TROUBLE_SMALL, "SSPAPI_ATTRIBUTION=exact: some threads have an alternate signal stack that is too small "
				    "for two handlers (sigaltstack); they are booked as in residency" },
		{ SP_TROUBLE_OFF, "SSPAPI_ATTRIBUTION: the application turned perf events off "
				  "(PR_TASK_PERF_EVENTS_DISABLE); until it turns them on, counts are booked as in reading, and "
				  "none is called proven" },
	};
	uint32_t new = sp_get(&trouble) & ~sp_get(&told);

	if (SP_LIKELY(!new))
		return;
	new &= ~__atomic_fetch_or(&told, new, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < SP_COUNT(texts); i++)
		if (new & texts[i].which)
			sp_process_note_quiet(texts[i].text);
}

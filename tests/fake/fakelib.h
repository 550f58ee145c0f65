/* fakelib.h: what the files of the scripted libpapi share; no test includes it. */
#ifndef FAKELIB_H
#define FAKELIB_H

#ifndef FAKE_PAPI_VERSION
#define FAKE_PAPI_VERSION 0x0700	/* 0x0507, 0x0600, 0x0701, 0x0702, ... */
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* This one differs between the versions in declaration only. */
#define PAPI_hl_stop fk_hide_hl_stop
#include <papi.h>
#undef PAPI_hl_stop

#include "fake.h"

#define FK_API		__attribute__((visibility("default")))
#define fk_unlikely(x)	__builtin_expect(!!(x), 0)

FK_API int PAPI_hl_stop(void);
#if FAKE_PAPI_VERSION < 0x0600
FK_API int PAPI_start_counters(int *events, int n);
FK_API int PAPI_read_counters(long long *values, int n);
FK_API int PAPI_accum_counters(long long *values, int n);
FK_API int PAPI_stop_counters(long long *values, int n);
#endif

enum fk_id {
	FK_NONE,
#define FK(name) F_##name,
#include "calls.def"
#undef FK
#define FORT(name, caps, params, ...) F_papif_##name,
#include "fortran.def"
#undef FORT
	FK_IDS
};

#define FK_SETS		65536
#define FK_PER_SET	384
#define FK_EVENTS	4096
#define FK_COMPONENTS	32
#define FK_HIDDEN	32
#define FK_CPUS		1024
#define FK_VERSION	((int)((unsigned)FAKE_PAPI_VERSION << 16))
#define FK_ERRNO	4242

struct fk_set;

/* PAPI's record of a thread.  It outlives the thread unless it is unregistered. */
struct fk_master {
	struct fk_master *next;
	int tid;
	unsigned long id;			/* what the application's id function said */
	int used;
	int target;				/* made by PAPI_attach: no thread takes it for its
						 * own */
	struct fk_set *last;			/* the last touched set: PAPI_start opens another
						 * one again */
	struct fk_set *running[FK_COMPONENTS];
};

struct fk_counters {			/* PAPI 5's high level: one set a thread */
	int set, n, running;
};

struct fk_hl {				/* the high level's sets of a thread */
	int n, set[FK_COMPONENTS], size[FK_COMPONENTS];
	int running;
};

/* The fake's own record of a thread; goes with it. */
struct fk_thread {
	struct fk_thread *next;
	int tid;
	int expect;				/* the function that libpapi itself calls next */
	struct fk_master *master;
	unsigned generation;			/* of fk.generation: master, counters, hl */
	struct fk_counters counters;
	struct fk_hl hl;
};

struct fk_event {
	char *name, *descr, *natives;
	char units[64], derived[64], postfix[256];
	int code;				/* 0: nobody asked yet */
	int cidx;
	int data_type, value_type, timescope, update_type, update_freq, location;
	int divides;				/* DERIVED_PS, DERIVED_ADD_PS */
	long long total;			/* since the process began */
};

struct fk_component {
	char name[128], short_name[64];
	struct fake_component c;
	int domain;
	char info[4096] __attribute__((aligned(16)));
};

#define FK_DIVIDES	1u
#define FK_SWMPX	2u

#define FK_LOOK		(-1)	/* counts_for: not simply one thread */

struct fk_set {
	/* The thread whose doings this running set counts; 0 none.  All that
	 * another thread looks at before it knows that the set concerns it. */
	int counts_for;
	int used, id;
	int state, cidx, n;
	unsigned slow;				/* FK_*: what PAPI_read must not hurry past */
	struct fk_master *master;
	int opener, ctl_tid;			/* ctl_tid 0: who opens */
	int attached, cpu;
	int ctl_cpu;				/* -1; what was set last: an attached CPU, or that
						 * of the call that set PAPI_GRN_SYS */
	int granularity, domain, inherit;
	int opens;
	int mpx_flags, mpx_ns;
	int hidden_of;				/* -1 */
	int n_open, fd[FK_PER_SET];		/* of the kernel's (open.c) */
	int hidden[FK_HIDDEN], n_hidden, current;
	int code[FK_PER_SET];
	short event[FK_PER_SET];
	long long live[FK_PER_SET], saved[FK_PER_SET];
};

struct fk_state {
	int initialised;			/* the low level */
	int threads;				/* PAPI_thread_init was called */
	pid_t pid;
	unsigned generation;
	unsigned long (*id_fn)(void);
	int n_sets;				/* slots ever used */
	struct fk_set *set[FK_SETS];
	struct fk_master *masters;
	struct fk_set *last_on[FK_CPUS];	/* as fk_master.last, of sets attached to a CPU */
	int n_events, n_natives, n_presets;
	struct fk_event event[FK_EVENTS];
	short native[FK_EVENTS], preset[256];	/* code -> index, -1 */
	int n_components;
	struct fk_component component[FK_COMPONENTS];
};

extern struct fk_state fk;
extern int fk_hooks;				/* failures or a script: look closer at every
						 * call */
extern __thread struct fk_thread *fk_self __attribute__((tls_model("initial-exec")));

struct fk_thread *fk_thread_new(void);
int fk_hook(int id, int nested);
_Noreturn void fk_die(const char *what);
int fk_id_of(const char *name);
void fk_lock(void);
void fk_unlock(void);

/* script.c */
void fk_script_start(void);
#define FK_HOOK_FAIL	2
#define FK_HOOK_SCRIPT	4

/* library.c */
struct fk_master *fk_master_of_self(void);
struct fk_master *fk_master_of_target(unsigned long id);
int fk_gettid(void);

/* events.c */
int fk_component_like(const char *name);
int fk_event_of_code(int code);			/* index or -1 */
int fk_event_of_name(const char *name);
int fk_code_of_event(int index);		/* hands one out */
void fk_events_start(void);

/* sets.c */
struct fk_set *fk_set_uninitialised(int es);
int fk_set_new(struct fk_master *m);		/* its id, or an error */
void fk_set_free(struct fk_set *s);
void fk_set_open(struct fk_set *s);
void fk_kernel_open(struct fk_set *s);
void fk_kernel_close(struct fk_set *s);
void fk_set_open_only(struct fk_set *s);	/* it is not the one that was touched last for it */
void fk_set_touch(struct fk_set *s);
int fk_set_touched(const struct fk_set *s);
int fk_set_drop(struct fk_set *s, int code);
void fk_set_empty(struct fk_set *s);

/* mpx.c */
int fk_mpx_add(struct fk_set *s, int code);
int fk_mpx_drop(struct fk_set *s, int i);
int fk_mpx_start(struct fk_set *s);
int fk_mpx_read(struct fk_set *s);
int fk_mpx_stop(struct fk_set *s);
void fk_mpx_cleanup(struct fk_set *s);
int fk_mpx_convert(struct fk_set *s);

/* Every public function starts with FK_ENTER (or FK_NOTE if it returns no
 * code) and leaves through fk_leave, which scribbles on errno. */
static inline int fk_enter(int id)
{
	struct fk_thread *t = fk_self;
	int nested;

	if (fk_unlikely(!t))
		t = fk_thread_new();
	nested = t->expect == id;
	if (nested)
		t->expect = FK_NONE;
	return fk_unlikely(fk_hooks) ? fk_hook(id, nested) : 0;
}

static inline int fk_leave(int id, int rc)
{
	errno = FK_ERRNO + id;
	return rc;
}

#define FK_ENTER(fn)						\
	enum { fk_me = F_##fn };					\
	int fk_failed = fk_enter(fk_me);				\
	if (fk_unlikely(fk_failed))					\
		return fk_leave(fk_me, fk_failed)
#define FK_NOTE(fn)							\
	enum { fk_me = F_##fn };					\
	(void)fk_enter(fk_me)
#define FK_RETURN(rc) return fk_leave(fk_me, rc)

/* A call of a public function from inside: through the PLT, so that a shim
 * sees it, and known as ours when it comes through. */
static inline void fk_expect(int id)
{
	if (fk_unlikely(!fk_self))
		fk_thread_new();
	fk_self->expect = id;
}
#define FK_CALL(fn, ...) (fk_expect(F_##fn), fn(__VA_ARGS__))

/* The end of a function where PAPI's compiler makes a jump: what is called
 * returns to the shim or to the application and looks as if called from there.
 * errno is then the callee's. */
#define FK_JUMP(fn, ...) do { fk_expect(F_##fn); return fn(__VA_ARGS__); } while (0)

static inline struct fk_set *fk_lookup(int es)
{
	struct fk_set *s;

	if (fk_unlikely(!fk.initialised))
		return fk_set_uninitialised(es);
	if (fk_unlikely((unsigned)es >= FK_SETS))
		return NULL;
	s = __atomic_load_n(&fk.set[es], __ATOMIC_ACQUIRE);
	return s && s->used ? s : NULL;
}

static inline int fk_sw_multiplexed(const struct fk_set *s)
{
	return s->slow & FK_SWMPX;
}

#endif

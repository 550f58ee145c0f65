/*
 * own.c: a thread that counts itself, with a special set or event: its first affinity mask is
 * widened; the set is multiplexed; or has an overflow handler, which is not counted; the process
 * gets a seccomp filter, loses descriptors, or has its events switched off.
 */
#include "proven.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static struct walker self, in_handler;
static int set, may_ask;

/* Called between two calls, or NULL. */
static void (*befalls)(void);

static void call(enum call c)
{
	unsigned least = least_now();
	long long value = papi_call(set, c);

	entered(c, least, value, most_now());
	if (may_ask)
		self_asked(&self);
}

static void warm(void)
{
	for (int i = 0; i < 2; i++) {
		papi_call(set, START);
		for (enum call c = READ; c <= STOP; c++)
			papi_call(set, c);
	}
}

static void count_once(void)
{
	call(START);
	for (int i = (int)rnd(20); i > 0; i--) {
		walk(&self, (int)rnd(100));
		if (befalls)
			befalls();
		call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
	}
	walk(&self, (int)rnd(100));
	call(STOP);
}

/* Called with the set made and the thread in its first place. */
static void count(int only)
{
	warm();
	walker_make(&self, only);
	quiet = may_ask = 1;
	for (int i = 1 + (int)rnd(10); i > 0; i--)
		count_once();
	inside = NULL;
	walker_end(&self);
}

static int anywhere(void)
{
	return rnd(2) ? -1 : (int)rnd(cpus);
}

/* ---- in the middle of a reading ---------------- */

static void step_inside(void)
{
	if (rnd(3) == 0)
		walker_go(&self, (int)rnd(cpus));
	for (int i = (int)rnd(4); i > 0; i--)
		walker_touch(&self);
	if (rnd(3) == 0)
		walker_go(&self, (int)rnd(cpus));
	if (self.only >= 0 && self.at != self.only)
		walker_go(&self, self.only);
}

static void turn_inside_on(void)
{
	inside = rnd(4) ? step_inside : NULL;
}

void inside_read(void)
{
	begin_papi();
	set = set_with(fault_event);
	befalls = turn_inside_on;
	count(anywhere());
}

/* ---- widened: as under taskset, and then not ---------------- */

/* A short visit to a CPU that is not watched. */
static void visit_elsewhere(void)
{
	walker_go(&self, 1 + (int)rnd(cpus - 1));
	for (int i = (int)rnd(3); i > 0; i--)
		walker_touch(&self);
	walker_go(&self, 0);
}

static void visit_often(void)
{
	call(START);
	for (int i = (int)rnd(200); i > 0; i--) {
		for (int n = (int)rnd(10); n > 0; n--)
			walker_touch(&self);
		for (int n = rnd(3) ? 1 : (int)rnd(30); n > 0; n--)
			visit_elsewhere();
		call(rnd(20) ? READ : ACCUM);
	}
	call(STOP);
}

void widened(void)
{
	go_to(0);
	begin_papi();
	set = set_with(fault_event);
	warm();
	walker_make(&self, 0);
	self.stays = quiet = may_ask = 1;
	for (int i = 1 + (int)rnd(3); i > 0; i--) {
		count_once();
		visit_often();
	}
	walker_end(&self);
}

/* ---- multiplexed: an estimate ---------------- */

void multiplexed(void)
{
	begin_papi();
	must("PAPI_multiplex_init", PAPI_multiplex_init());
	set = core_set();
	may("PAPI_set_multiplex", PAPI_set_multiplex(set));
	must(fault_event, PAPI_add_named_event(set, fault_event));
	nothing_can_be_proven = 1;
	count(anywhere());
}

/* ---- overflow: PAPI's counter stands still in the handler ---------------- */

static void on_overflow(int id, void *at, long long vector, void *context)
{
	(void)id, (void)at, (void)vector, (void)context;
	if (rnd(2))
		walker_go(&in_handler, (int)rnd(cpus));
	for (int i = (int)rnd(5); i > 0; i--)
		walker_touch(&in_handler);
	go_to(self.at);
}

void overflown(void)
{
	begin_papi();
	set = set_with(fault_event);
	may("PAPI_overflow", PAPI_overflow(set, fault_code, 20 + (int)rnd(200), 0, on_overflow));
	walker_make(&in_handler, -1);
	in_handler.hidden = 1;
	warm();
	walker_make(&self, anywhere());
	self.narrow = 1;
	for (int i = 1 + (int)rnd(5); i > 0; i--)
		count_once();
}

/* ---- changes of the process ---------------- */

/* Denies opening events and reading sspapi's: PAPI's are open, up to @last. */
static void filter(unsigned last)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 3, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
	    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
}

static void filter_once(void)
{
	static int done;

	if (!done && rnd(10) == 0) {
		done = 1;
		filter(rnd(2) ? 99 : ~0u);
	}
}

void filtered(void)
{
	begin_papi();
	set = set_with(fault_event);
	befalls = filter_once;
	count(anywhere());
}

static int is_ours(int fd)
{
	char name[64], path[64] = "";

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return readlink(name, path, sizeof(path) - 1) > 0 && strstr(path, "perf_event") &&
	       fcntl(fd, F_GETFD) & FD_CLOEXEC && fd != fault_counter();
}

/* PAPI's own are not closed at exec; some of the others become another file, some another event. */
static void close_some(void)
{
	for (int fd = 3; fd < sysconf(_SC_OPEN_MAX) && fd < 1 << 16; fd++) {
		if (fcntl(fd, F_GETFD) < 0 || !is_ours(fd) || rnd(2))
			continue;
		close(fd);
		if (rnd(2))
			dup3(rnd(2) ? eventfd(1000000, 0) : fault_counter(), fd, O_CLOEXEC);
	}
}

/* This faults, and PAPI's set counts that: it is entered afterwards. */
static void close_once(void)
{
	static int done;

	if (done || rnd(10))
		return;
	done = 1;
	close_some();
	walker_catch_up(&self);
}

void closed(void)
{
	begin_papi();
	set = set_with(fault_event);
	befalls = close_once;
	count(anywhere());
}

/* ---- switched off: what the caller opened ---------------- */

static void *start_it(void *arg)
{
	rnd_seed((unsigned long)arg);
	prefault();
	call(START);
	if (rnd(2))
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
	return NULL;
}

/* Sometimes another thread starts it, and so has opened the events. */
static void start(void)
{
	pthread_t t;

	if (rnd(2)) {
		call(START);
		return;
	}
	pthread_create(&t, NULL, start_it, (void *)(unsigned long)rnd(1u << 30));
	pthread_join(t, NULL);
	call(RESET);
}

void switched_off(void)
{
	begin_papi();
	set = set_with(fault_event);
	warm();
	walker_make(&self, anywhere());
	quiet = 1;
	for (int i = 1 + (int)rnd(5); i > 0; i--) {
		start();
		for (int n = (int)rnd(20); n > 0; n--) {
			walk(&self, (int)rnd(100));
			if (rnd(5) == 0) {
				self.hidden = !self.hidden;
				prctl(self.hidden ? PR_TASK_PERF_EVENTS_DISABLE
						  : PR_TASK_PERF_EVENTS_ENABLE);
			}
			call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
		}
		call(STOP);
		self.hidden = 0;
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	}
}

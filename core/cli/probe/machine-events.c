/* machine-events.c: counts events of packages, devices and the machine (rapl, cuda, net ...)
 * with PAPI while a program runs.
 *
 * This is done in a child, since libpapi may be of any version, and crash. The command sends a
 * byte, 's' to start, 'r' to read and 'e' to stop; the child answers with its whole state. It ends
 * when the command closes the socket or dies.
 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../base/sys.h"
#include "probe.h"
#include "libpapi.h"

#define SECONDS 10			/* for libpapi to answer */
#define GAUGES_MS 100			/* between readings of gauges; more if one takes long */
#define GAUGES_SHARE 20			/* times as long as it takes */

/* One event set per component. */
struct sets {
	const struct sp_stat_plan *plan;
	uint32_t n;
	int set[SP_STAT_EVENTS];
	int r[SP_STAT_EVENTS];		/* PAPI's result; an error ends the set */
	uint32_t of[SP_STAT_EVENTS];	/* set of each event of the plan */
	/* values at the start, where PAPI_start does not zero them */
	int64_t before[SP_STAT_EVENTS];
};

static int add(const struct sp_probe_papi *p, struct sets *s, uint32_t event)
{
	const struct sp_stat_event *e = &s->plan->event[event];
	uint32_t same = 0;
	int code, r;

	while (same < event && (!sp_stat_is_of_papi(&s->plan->event[same]) ||
				strcmp(s->plan->event[same].component, e->component) != 0))
		same++;
	s->of[event] = same < event ? s->of[same] : s->n++;
	if (same == event) {
		s->set[s->of[event]] = PAPI_NULL;
		r = p->PAPI_create_eventset(&s->set[s->of[event]]);
		if (r != PAPI_OK)
			return r;
	}
	r = p->PAPI_event_name_to_code((char *)e->name, &code);
	return r == PAPI_OK ? p->PAPI_add_event(s->set[s->of[event]], code) : r;
}

static bool has_gauge(const struct sets *s, uint32_t set)
{
	for (uint32_t e = 0; e < s->plan->n_events; e++)
		if (s->plan->event[e].is_gauge && s->of[e] == set)
			return true;
	return false;
}

/* Values of a set are in the order in which its events were added. */
static int read_set(const struct sp_probe_papi *p, const struct sets *s, uint32_t set, bool stop,
		    int64_t *value)
{
	long long counted[SP_STAT_EVENTS];
	int r = stop ? p->PAPI_stop(s->set[set], counted) : p->PAPI_read(s->set[set], counted);

	for (uint32_t e = 0, k = 0; r == PAPI_OK && e < s->plan->n_events; e++)
		if (sp_stat_is_of_papi(&s->plan->event[e]) && s->of[e] == set)
			value[e] = sp_stat_minus(&s->plan->event[e], counted[k++], s->before[e]);
	return r;
}

/* Adds the gauges' values to their readings. */
static void record_gauges(const struct sets *s, struct sp_stat_answer *a)
{
	const struct sp_stat_plan *plan = s->plan;
	uint64_t ns = sp_now_ns();

	for (uint32_t e = 0; e < plan->n_events; e++) {
		struct sp_gauge_kind kind = { e, plan->event[e].data_type };
		struct sp_gauge *g = &a->gauge[e];
		struct sp_gauge_writer w = {
			.n = 1, .cells = 1, .running = 1, .at = g, .kind = &kind
		};

		/* A sensor without a value returns NaN. */
		if (!plan->event[e].is_gauge || s->r[s->of[e]] != PAPI_OK ||
		    (kind.data_type == SP_FP64 && isnan(sp_float(a->value[e]))))
			continue;
		if (!g->readings)
			*g = (struct sp_gauge){ .min = a->value[e],
						.max = a->value[e],
						.data_type = kind.data_type,
						.cpu = SP_NO_CPU };
		sp_gauges_record(&w, SP_OP_READ, 0, (const long long *)a->value, ns);
	}
}

static void start(struct sp_probe_papi *p, struct sets *s)
{
	for (uint32_t e = 0; e < s->plan->n_events; e++)
		if (sp_stat_is_of_papi(&s->plan->event[e])) {
			int r = add(p, s, e);

			s->r[s->of[e]] = s->r[s->of[e]] ?: r;
		}
	for (uint32_t i = 0; i < s->n; i++) {
		s->r[i] = s->r[i] ?: p->PAPI_start(s->set[i]);
		s->r[i] = s->r[i] ?: read_set(p, s, i, false, s->before);
	}
	for (uint32_t e = 0; e < s->plan->n_events; e++)
		if (!s->plan->event[e].keeps_on_start || s->plan->event[e].is_gauge)
			s->before[e] = 0;
}

/* Ignores terminal signals, which are for the program; keeps the alarm. */
static void be_quiet(void)
{
	int null = sp_open("/dev/null", O_RDWR, 0);
	sigset_t set;

	dup2(null, STDOUT_FILENO);	/* libraries may print */
	dup2(null, STDERR_FILENO);
	signal(SIGALRM, SIG_DFL);
	sigfillset(&set);
	sigdelset(&set, SIGALRM);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

struct server {
	struct sp_probe_papi p;
	struct sets s;
	struct sp_stat_answer a;
	const char *bad;		/* why libpapi cannot be used; NULL */
	int pause_ms;			/* until gauges are read again; -1: never */
};

/* The readings of a gauge remain. */
static void mark_failed(struct sp_stat_answer *a, uint32_t event)
{
	a->failed[event] = !a->gauge[event].readings;
	a->ended_early[event] = !a->failed[event];
}

/* Marks the event; its first reason is kept. */
static void fail(struct sp_stat_answer *a, uint32_t event, char what, const char *why)
{
	mark_failed(a, event);
	if (!*a->wrong[event])
		snprintf(a->wrong[event], sizeof(a->wrong[event]),
			 "not counted: PAPI does not %s it here (%s)",
			 what == 's'   ? "start"
			 : what == 'e' ? "stop"
				       : "read", why);
}

/* what: a request, or 'g' to read gauges only. */
static void serve_one(struct server *v, char what)
{
	uint64_t since = sp_boot_ns();
	struct sets *s = &v->s;
	bool any = false;

	alarm(SECONDS);
	if (!v->bad && what == 's')
		start(&v->p, s);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->r[i] != PAPI_OK)
			continue;
		any = any || has_gauge(s, i);
		if (what == 'r' || what == 'e' || has_gauge(s, i))
			s->r[i] = read_set(&v->p, s, i, what == 'e', v->a.value);
	}
	alarm(0);
	record_gauges(s, &v->a);
	for (uint32_t e = 0; e < s->plan->n_events; e++)
		if (sp_stat_is_of_papi(&s->plan->event[e]) && (v->bad || s->r[s->of[e]]))
			fail(&v->a, e, what,
			     v->bad ? v->bad : v->p.PAPI_strerror(s->r[s->of[e]]));
	v->pause_ms = any && what != 'e' ? (int)sp_max(GAUGES_MS, GAUGES_SHARE *
								 (sp_boot_ns() - since) /
								 1000000)
					 : -1;
}

static _Noreturn void serve(const struct sp_stat_plan *plan, int requests)
{
	static struct server v;
	struct pollfd request = { .fd = requests, .events = POLLIN };
	char what;
	int r;

	be_quiet();
	v.s.plan = plan;
	v.pause_ms = -1;
	alarm(SECONDS);
	v.bad = sp_probe_load(&v.p, plan->papi);
	if (!v.bad && (r = sp_probe_init(&v.p, plan->papi)) <= 0)
		v.bad = v.p.PAPI_strerror(r ? r : PAPI_ENOINIT);
	alarm(0);
	for (;;) {
		if (poll(&request, 1, v.pause_ms) == 0) {
			serve_one(&v, 'g');
			continue;
		}
		if (read(requests, &what, 1) != 1)
			break;
		serve_one(&v, what);
		if (send(requests, &v.a, sizeof(v.a), MSG_NOSIGNAL) != sizeof(v.a))
			break;
	}
	_exit(0);
}

static void fail_all(struct sp_machine_events *b, const char *why)
{
	for (uint32_t e = 0; e < b->plan->n_events; e++) {
		char *wrong = b->answer.wrong[e];

		mark_failed(&b->answer, e);
		if (!*wrong)
			snprintf(wrong, sizeof(b->answer.wrong[e]), "not counted: %s", why);
	}
}

void sp_machine_events_begin(struct sp_machine_events *b, const struct sp_stat_plan *p)
{
	bool any = false;
	int both[2];

	for (uint32_t e = 0; e < p->n_events; e++)
		any = any || sp_stat_is_of_papi(&p->event[e]);
	if (!any)
		return;
	b->plan = p;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) < 0) {
		fail_all(b, strerror(errno));
		return;
	}
	fflush(NULL);
	b->pid = fork();
	if (b->pid == 0) {
		close(both[0]);
		serve(p, both[1]);
	}
	close(both[1]);
	b->request = both[0];
}

void sp_machine_events_request(struct sp_machine_events *b, char what)
{
	struct sp_stat_answer a;

	if (!b->pid)
		return;
	if (b->pid > 0 && send(b->request, &what, 1, MSG_NOSIGNAL) == 1 &&
	    recv(b->request, &a, sizeof(a), MSG_WAITALL) == sizeof(a)) {
		b->answer = a;
		return;
	}
	fail_all(b, "PAPI does not answer");
}

void sp_machine_events_end(struct sp_machine_events *b)
{
	if (!b->pid)
		return;
	close(b->request);
	while (b->pid > 0 && waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

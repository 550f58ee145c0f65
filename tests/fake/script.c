/* script.c: what a test tells the scripted libpapi: counts, values, failures, FAKE_PAPI_SCRIPT. */
#include <sched.h>
#include <stdio.h>

#include "fakelib.h"

/* ---- counts ------------------------------------------------------------ */

/* Does what happens in thread `tid` show in this set? A set that is attached to a CPU counts its
 * thread while on that CPU. */
static int counts(const struct fk_set *s, int tid)
{
	int who = __atomic_load_n(&s->counts_for, __ATOMIC_ACQUIRE), cidx;

	if (who != tid && who != FK_LOOK)
		return 0;
	cidx = s->cidx;
	if (cidx < 0)			/* it ends at this moment */
		return 0;
	if (fk.component[cidx].c.granularity != PAPI_GRN_THR)
		return 1;
	if (s->granularity == PAPI_GRN_SYS)
		return sched_getcpu() == (s->state & PAPI_CPU_ATTACHED ? s->cpu : s->ctl_cpu);
	return !(s->state & PAPI_CPU_ATTACHED) || s->cpu == sched_getcpu();
}

static void add_double(long long *to, double more)
{
	long long old = __atomic_load_n(to, __ATOMIC_RELAXED), new;
	double d;

	do {
		memcpy(&d, &old, sizeof(d));
		new = fake_fp64(d + more);
	} while (!__atomic_compare_exchange_n(to, &old, new, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

/* n whole ones, or that much of a floating-point event. */
static int count(int event, long long n, double more)
{
	int floats = event >= 0 && fk.event[event].data_type == PAPI_DATATYPE_FP64;
	int tid = fk_gettid(), hit = 0, sets = __atomic_load_n(&fk.n_sets, __ATOMIC_ACQUIRE);

	if (event < 0)
		return -1;
	if (floats)
		add_double(&fk.event[event].total, more);
	else
		__atomic_fetch_add(&fk.event[event].total, n, __ATOMIC_RELAXED);
	for (int i = 0; fk.initialised && i < sets; i++) {
		struct fk_set *s = __atomic_load_n(&fk.set[i], __ATOMIC_ACQUIRE);

		if (!s || !counts(s, tid))
			continue;
		for (int k = 0; k < s->n; k++)
			if (s->event[k] == event) {
				if (floats)
					add_double(&s->live[k], more);
				else
					__atomic_fetch_add(&s->live[k], n, __ATOMIC_RELAXED);
				hit += s->hidden_of < 0;
			}
	}
	return hit;
}

FAKE_API int fake_count(const char *event, long long n)
{
	return count(fk_event_of_name(event), n, (double)n);
}

FAKE_API int fake_count_fp64(const char *event, double n)
{
	return count(fk_event_of_name(event), 0, n);
}

FAKE_API int fake_count_code(int code, long long n)
{
	return count(fk_event_of_code(code), n, (double)n);
}

static struct fk_set *set_of(int es)
{
	struct fk_set *s = fk.initialised && es >= 0 && es < FK_SETS ? fk.set[es] : NULL;

	return s && s->used ? s : NULL;
}

FAKE_API int fake_count_set(int event_set, const char *event, long long n)
{
	struct fk_set *s = set_of(event_set);
	int e = fk_event_of_name(event);

	for (int k = 0; s && e >= 0 && k < s->n; k++)
		if (s->event[k] == e) {
			if (fk.event[e].data_type == PAPI_DATATYPE_FP64)
				add_double(&s->live[k], (double)n);
			else
				__atomic_fetch_add(&s->live[k], n, __ATOMIC_RELAXED);
			return 1;
		}
	return -1;
}

FAKE_API int fake_set_values(int event_set, const long long *values, int n)
{
	struct fk_set *s = set_of(event_set);

	if (!s || n < 0 || n > s->n)
		return -1;
	for (int i = 0; i < n; i++) {
		if (s->state & PAPI_RUNNING)
			__atomic_store_n(&s->live[i], values[i], __ATOMIC_RELAXED);
		else
			s->saved[i] = values[i];
	}
	return 0;
}

/* What every set that holds the event shows from now on: a temperature, which PAPI_start does not
 * zero. */
static int set_level(const char *event, long long value)
{
	int e = fk_event_of_name(event);

	if (e < 0)
		return -1;
	__atomic_store_n(&fk.event[e].total, value, __ATOMIC_RELAXED);
	for (int i = 0; i < fk.n_sets; i++)
		for (int k = 0; fk.set[i] && k < fk.set[i]->n; k++)
			if (fk.set[i]->event[k] == e)
				__atomic_store_n(&fk.set[i]->live[k], value, __ATOMIC_RELAXED);
	return 0;
}

FAKE_API int fake_set_info(int event_set, struct fake_set *out)
{
	struct fk_set *s = set_of(event_set);

	if (!s)
		return -1;
	*out = (struct fake_set){ .state = s->state,
				  .opens = s->opens,
				  .live = __atomic_load_n(&s->live[0], __ATOMIC_RELAXED) };
	return 0;
}

/* ---- failures ---------------------------------------------------------- */

#define FAILS 64
static struct { int id, code, after, times; } fails[FAILS];
static int n_fails;

FAKE_API int fake_fail(const char *name, int code, int after, int times)
{
	int id = fk_id_of(name), ok = 0;

	fk_lock();
	if (id && n_fails < FAILS) {
		fails[n_fails].id = id;
		fails[n_fails].code = code;
		fails[n_fails].after = after;
		fails[n_fails].times = times;
		__atomic_store_n(&n_fails, n_fails + 1, __ATOMIC_RELEASE);
		fk_hooks |= FK_HOOK_FAIL;
		ok = 1;
	}
	fk_unlock();
	return ok ? 0 : -1;
}

FAKE_API void fake_fail_clear(void)
{
	fk_lock();
	n_fails = 0;
	fk_hooks &= ~FK_HOOK_FAIL;
	fk_unlock();
}

static int failure(int id)
{
	for (int i = 0; i < n_fails; i++) {
		if (fails[i].id != id)
			continue;
		if (__atomic_fetch_sub(&fails[i].after, 1, __ATOMIC_RELAXED) > 0)
			continue;
		__atomic_store_n(&fails[i].after, 0, __ATOMIC_RELAXED);
		if (fails[i].times < 0 ||
		    __atomic_fetch_sub(&fails[i].times, 1, __ATOMIC_RELAXED) > 0)
			return fails[i].code;
		__atomic_store_n(&fails[i].times, 0, __ATOMIC_RELAXED);
	}
	return 0;
}

/* ---- lines that wait for a call ---------------------------------------- */

#define TRIGGERS 256
static struct { int id, each; long long at, seen; char line[256]; } triggers[TRIGGERS];
static int n_triggers;

static int add_trigger(const char *fn, int each, long long at, const char *line)
{
	int id = fk_id_of(fn);

	if (!id || n_triggers == TRIGGERS || strlen(line) >= sizeof(triggers[0].line))
		return -1;
	triggers[n_triggers].id = id;
	triggers[n_triggers].each = each;
	triggers[n_triggers].at = at;
	strcpy(triggers[n_triggers].line, line);
	__atomic_store_n(&n_triggers, n_triggers + 1, __ATOMIC_RELEASE);
	fk_hooks |= FK_HOOK_SCRIPT;
	return 0;
}

static void fire(int id)
{
	for (int i = 0; i < n_triggers; i++) {
		long long seen;

		if (triggers[i].id != id)
			continue;
		seen = __atomic_add_fetch(&triggers[i].seen, 1, __ATOMIC_RELAXED);
		if (triggers[i].each || seen == triggers[i].at)
			fake_do(triggers[i].line);
	}
}

int fk_hook(int id, int nested)
{
	if (fk_hooks & FK_HOOK_SCRIPT && !nested)
		fire(id);
	return fk_hooks & FK_HOOK_FAIL ? failure(id) : 0;
}

/* ---- the language ------------------------------------------------------ */

static int word_value(const char *s, long long *out)
{
	char *end;

	if (strchr(s, '.') && strncmp(s, "0x", 2))
		*out = fake_fp64(strtod(s, &end));
	else
		*out = strtoll(s, &end, 0);
	return *s && !*end ? 0 : -1;
}

/* The value of "key=..." among the words; NULL. */
static char *option(char **w, int n, const char *key)
{
	size_t len = strlen(key);

	for (int i = 0; i < n; i++)
		if (!strncmp(w[i], key, len) && w[i][len] == '=')
			return w[i] + len + 1;
	return NULL;
}

static int number(char **w, int n, const char *key)
{
	const char *s = option(w, n, key);

	return s ? (int)strtol(s, NULL, 0) : 0;
}

static int do_event(char **w, int n)
{
	static const char *const types[] = { "int64", "uint64", "fp64", "bit64" };
	struct fake_event e = {
		.component = option(w, n, "component"), .units = option(w, n, "units"),
		.descr = option(w, n, "descr"), .derived = option(w, n, "derived"),
		.postfix = option(w, n, "postfix"), .natives = option(w, n, "natives"),
		.value_type = number(w, n, "value_type"), .timescope = number(w, n, "timescope"),
		.location = number(w, n, "location"), .code = number(w, n, "code"),
	};
	const char *type = option(w, n, "data_type");

	for (int i = 0; type && i < 4; i++)
		if (!strcmp(types[i], type))
			e.data_type = i;
	return n < 1 ? -1 : fake_event(w[0], &e);
}

/* a,b: they stay, as PAPI's do */
static void pmus(struct fake_component *c, const char *list)
{
	char *names = strdup(list), *save;

	for (unsigned i = 0; i + 1 < sizeof(c->pmus) / sizeof(*c->pmus); i++)
		c->pmus[i] = strtok_r(i ? NULL : names, ",", &save);
}

static int do_component(char **w, int n)
{
	struct fake_component c;
	int i;

	if (n < 1 || (i = fk_component_like(w[0])) < 0)
		return -1;
	c = fk.component[i].c;
	if (option(w, n, "granularity"))
		c.granularity = c.granularities = number(w, n, "granularity");
	if (option(w, n, "keeps_on_start"))
		c.keeps_on_start = number(w, n, "keeps_on_start");
	if (option(w, n, "keeps_on_reset"))
		c.keeps_on_reset = number(w, n, "keeps_on_reset");
	if (option(w, n, "no_attach"))
		c.no_attach = number(w, n, "no_attach");
	if (option(w, n, "no_kernel_multiplex"))
		c.no_kernel_multiplex = number(w, n, "no_kernel_multiplex");
	if (option(w, n, "disabled"))
		c.disabled = number(w, n, "disabled");
	if (option(w, n, "pmus"))
		pmus(&c, option(w, n, "pmus"));
	return fake_component(&c) < 0 ? -1 : 0;
}

static int do_values(char **w, int n)
{
	long long v[64];

	if (n < 2 || n > 65)
		return -1;
	for (int i = 1; i < n; i++)
		if (word_value(w[i], &v[i - 1]))
			return -1;
	fake_set_values(atoi(w[0]), v, n - 1);
	return 0;
}

static int verb(const char *v, char **w, int n)
{
	long long x;

	if (!strcmp(v, "event"))
		return do_event(w, n);
	if (!strcmp(v, "component"))
		return do_component(w, n);
	if (!strcmp(v, "count"))
		return n == 2 && !word_value(w[1], &x) && fake_count(w[0], x) >= 0 ? 0 : -1;
	if (!strcmp(v, "level"))
		return n == 2 && !word_value(w[1], &x) ? set_level(w[0], x) : -1;
	if (!strcmp(v, "values"))
		return do_values(w, n);
	if (!strcmp(v, "fail"))
		return n >= 2 ? fake_fail(w[0], atoi(w[1]), n > 2 ? atoi(w[2]) : 0,
					  n > 3 ? atoi(w[3]) : -1)
			      : -1;
	return -1;
}

/* "each FUNCTION LINE" and "at FUNCTION K LINE": the rest of the line waits. */
static int wait_for(const char *line, int each)
{
	char fn[64];
	long long at = 0;
	int rest = 0;

	if (each)
		sscanf(line, "each %63s %n", fn, &rest);
	else
		sscanf(line, "at %63s %lld %n", fn, &at, &rest);
	return rest && line[rest] ? add_trigger(fn, each, at, line + rest) : -1;
}

FAKE_API int fake_do(const char *line)
{
	char copy[512], *w[72], *save, *p;
	int n = 0, rc;

	line += strspn(line, " \t");
	if (!*line || *line == '#' || *line == '\n')
		return 0;
	if (!strncmp(line, "each ", 5) || !strncmp(line, "at ", 3)) {
		rc = wait_for(line, line[0] == 'e');
	} else {
		snprintf(copy, sizeof(copy), "%s", line);
		for (p = strtok_r(copy, " \t\n", &save); p && n < 71;
		     p = strtok_r(NULL, " \t\n", &save))
			w[n++] = p;
		rc = n ? verb(w[0], w + 1, n - 1) : 0;
	}
	if (rc)
		fprintf(stderr, "scripted libpapi: cannot do '%s'\n", line);
	return rc ? -1 : 0;
}

void fk_script_start(void)
{
	const char *path = getenv("FAKE_PAPI_SCRIPT");
	char line[512];
	FILE *f;

	if (!path)
		return;
	f = fopen(path, "re");
	if (!f) {
		fprintf(stderr, "scripted libpapi: FAKE_PAPI_SCRIPT: '%s': %m\n", path);
		return;
	}
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		fake_do(line);
	}
	fclose(f);
}

/* format-text.c: writes the dump for people (sspapi-dump(5)): the program, the proven share of its
 * counts, the tables, notes, and the command that shows more.
 */
#include "../base/cpu-list.h"
#include "../model/repeats.h"
#include "format-text-levels.h"
#include "format-text-places.h"
#include "format-text-table.h"

/* ---- the first line --------------------------------------------------------- */

static uint64_t cpus_in_list(const char *list)
{
	uint64_t from, to, n = 0;

	while (list && *list && (list = sp_cpu_range(list, &from, &to)) != NULL)
		n += from <= to ? to - from + 1 : 0;
	return n;
}

static int32_t only_cpu(const struct sp_model *m)
{
	for (uint32_t c = 0; c < m->n_components; c++)
		if (m->sums.counted[c] && sp_component_is(&m->component[c], "PU"))
			return m->component[c].os_index;
	return m->outside[0];
}

/* "on CPU 0, allowed 0-1", or "on 2 of 2 CPUs" (of the allowed ones) */
static void on_cpus(struct sp_out *o, const struct sp_model *m)
{
	const char *list = sp_model_text(m, sp_process_header(m, 0)->cpus_allowed);
	uint64_t n = m->tally.cpus_counted + m->n_outside, of = cpus_in_list(list);

	if (!n)
		return;
	if (n == 1 && of > 1)
		sp_out_f(o, " on CPU %d, allowed %s", only_cpu(m), list);
	else if (n == 1)
		sp_out_f(o, " on CPU %d", only_cpu(m));
	else if (of >= n && !sp_is_job(m))
		sp_out_f(o, " on %'lu of %'lu CPUs", n, of);
	else
		sp_out_f(o, " on %'lu CPUs", n);
}

static void on_host(struct sp_out *o, const struct sp_model *m)
{
	const char *host = sp_model_text(m, m->h.process.host);
	char text[300];

	sp_out_text(o, sp_is_job(m) || sp_elapsed(m) ? " on " : "on ");
	if (!*host && sp_is_job(m))
		sp_out_f(o, "%'u host%s", m->n_machines, SP_MANY(m->n_machines));
	else
		sp_clip(o, sp_text_f(text, sizeof(text), "%s", *host ? host : "an unknown host"),
			32);
}

/* Writes "killed" if the process did not end by itself. */
static void how_it_ended(struct sp_out *o, const struct sp_model *m)
{
	bool runs = m->h.end == SP_END_NONE || (m->h.stat && m->h.end == SP_END_SNAPSHOT);
	const char *how = m->h.end == SP_END_RECOVERED	? "recovered"
			  : m->h.end == SP_END_EXEC	? "until exec"
			  : runs && !m->n_killed	? "still running"
			  : m->h.end == SP_END_SNAPSHOT ? "a snapshot"
							: "killed";

	if (m->h.end == SP_END_EXIT || m->h.end == SP_END__EXIT)
		return;
	if (m->n_killed && sp_is_job(m))
		sp_out_f(o, ", %'u of them %s", m->n_killed, how);
	else
		sp_out_f(o, ", %s", how);
}

/* Writes the spread of a mean. */
static void spread_of(struct sp_out *o, const struct sp_spread *s)
{
	if (s->n > 1 && s->mean > 0.0)
		sp_out_f(o, " \xc2\xb1 %.1f %%", sp_deviation(s) / s->mean * 100.0);
}

/* Returns the sum of the processes' times in ns, or 0 if it is not less than the elapsed time. If
 * it is less, none of them ran for a while. */
static uint64_t apart_ns(const struct sp_model *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = m->process[i].h;

		if (h->process.end_ns <= h->process.start_ns)
			return 0;
		sum += h->process.end_ns - h->process.start_ns;
	}
	return sum < sp_elapsed(m) ? sum : 0;
}

/* Writes the duration; for repeats the mean, and for processes of different times the sum. */
static void how_long(struct sp_out *o, const struct sp_model *m, const struct sp_spread *elapsed)
{
	uint64_t apart = sp_is_job(m) && elapsed->n < 2 ? apart_ns(m) : 0;

	if (!sp_elapsed(m))
		return;
	sp_out_text(o, sp_is_job(m) ? ", " : "");
	sp_out_duration(o, elapsed->n > 1 ? (uint64_t)elapsed->mean : apart ?: sp_elapsed(m));
	spread_of(o, elapsed);
	if (elapsed->n > 1 || apart)
		sp_out_text(o, apart ? " in all" : " each");
}

static void how_busy(struct sp_out *o, const struct sp_spread *busy)
{
	if (!busy->n)
		return;
	sp_out_f(o, ", %.2f CPU%s busy", busy->mean,
		 busy->mean > 0.995 && busy->mean < 1.005 ? "" : "s");
	spread_of(o, busy);
}

/* Writes the counted share of the CPU time. Nothing if it may be 90 % or more, or was last measured
 * at a snapshot. */
static void how_much(struct sp_out *o, const struct sp_model *m)
{
	int64_t counted = sp_counted_ns(&m->h);
	double share = counted < 0 ? 1.0 : (double)counted / (double)m->h.time.cpu_ns;
	char buf[48];

	if (m->n_killed || m->h.end == SP_END_RECOVERED)
		return;
	if ((double)m->h.time.counted_more_ns / 2 + (double)counted <
		    0.9 * (double)m->h.time.cpu_ns &&
	    share < 0.895)
		sp_out_f(o, ", counted %s of the process%s CPU time", sp_share(buf, share, 1.0),
			 sp_is_job(m) ? "es'" : "'s");
}

static void first_line(struct sp_out *o, struct sp_model *m)
{
	char what[200], tail[300];
	uint64_t threads = m->tally.threads_counted;
	struct sp_spread elapsed = { 0 }, busy = { 0 };
	struct sp_out line;

	sp_memory_init(&line, tail, sizeof(tail));
	sp_out_text(&line, ": ");
	if (sp_n_repeats(m))
		sp_out_f(&line, "%'u run%s together%s", sp_n_repeats(m), SP_MANY(sp_n_repeats(m)),
			 sp_is_job(m) ? ", " : "");
	if (sp_is_job(m)) {
		uint32_t ranks = sp_text_n_ranks(m);

		if (sp_text_have_ranks(m))
			sp_out_f(&line, "%'u rank%s%s", ranks, SP_MANY(ranks),
				 ranks < m->n_processes ? ", " : "");
		if (!sp_text_have_ranks(m) || ranks < m->n_processes)
			sp_out_f(&line, "%'u processes", m->n_processes);
		on_host(&line, m);
	}
	if (m->h.stat)
		sp_repeats_times(m, &elapsed, &busy);
	how_long(&line, m, &elapsed);
	if (!sp_is_job(m)) {
		on_host(&line, m);
		if (m->h.process.rank >= 0)
			sp_out_f(&line, ", rank %ld", m->h.process.rank);
	}
	if (m->tally.readings && threads)
		sp_out_f(&line, ", %'lu thread%s", threads, SP_MANY(threads));
	else if (m->tally.cpus_counted + m->n_outside)
		sp_out_char(&line, ',');
	if (m->tally.readings)
		on_cpus(&line, m);
	if (m->tally.readings)
		how_much(&line, m);
	how_busy(&line, &busy);
	how_it_ended(&line, m);
	sp_memory_text(&line);
	sp_memory_init(&line, what, sizeof(what));
	sp_text_command(&line, m,
			(unsigned)sp_max(SP_TEXT_WIDTH - sp_min(sp_columns(tail), 66), 14));
	sp_paragraph(o, sp_memory_text(&line), 2, tail);
}

/* ---- proven shares ------------------------------------------------------------------ */

/* Returns the proven share of an event's total; -1: it has no column, or is 0. */
static double proven_share(const struct sp_model *m, uint32_t e)
{
	return sp_event_has_column(m, e)
		       ? sp_proven_share(sp_event_type(m, e), m->sums.total[e],
					 m->sums.total_exact[e])
		       : -1.0;
}

static bool is_unproven(const struct sp_model *m, uint32_t e)
{
	return sp_event_has_column(m, e) &&
	       sp_is_unproven(sp_event_type(m, e), m->sums.total[e], m->sums.total_exact[e]);
}

/* Writes the unproven part of an event: "4.200 us of 127.2 ms". */
static void unproven_of_total(struct sp_out *o, const struct sp_model *m, uint32_t e)
{
	enum sp_data_type type = sp_event_type(m, e);
	double part = sp_value_double(type, m->sums.total[e]) -
		      sp_value_double(type, m->sums.total_exact[e]);
	char buf[48];

	sp_short_text(buf, m, e, sp_round_to_type(type, part));
	sp_out_text(o, buf);
	sp_short_text(buf, m, e, m->sums.total[e]);
	sp_out_f(o, " of %s", buf);
}

/* "3 % of A (at most 12 of 400) and <1 % of B (at most 4.200 us of 127.2 ms) are not proven on
 * their CPU (~)" */
static void unproven_events(struct sp_out *o, const struct sp_model *m, uint32_t n)
{
	uint32_t n_listed = 0, last = 0;
	char text[256], buf[48];

	for (uint32_t e = 0; e < m->n_events && n_listed < (n == 4 ? 4 : 3); e++) {
		if (!is_unproven(m, e))
			continue;
		sp_out_f(o, "%s%s of %s",
			 !n_listed	     ? ""
			 : n_listed + 1 == n ? " and "
					     : ", ",
			 sp_share(buf, 1.0 - proven_share(m, e), 1.0), sp_text_event(m, e, text));
		if (n > 1) {
			sp_out_text(o, " (at most ");
			unproven_of_total(o, m, e);
			sp_out_char(o, ')');
		}
		last = e;
		n_listed++;
	}
	if (n > n_listed)
		sp_out_f(o, " and some of %'u more event%s", n - n_listed, SP_MANY(n - n_listed));
	sp_out_text(o, n == 1 ? " is not proven on its CPU (~): at most "
			      : " are not proven on their CPU (~)");
	if (n == 1) {
		unproven_of_total(o, m, last);
		sp_out_text(o, " may be elsewhere");
	}
}

static bool has_column(const struct sp_model *m, const struct sp_row *row)
{
	for (uint32_t i = 0; i < row->k; i++)
		if (sp_event_has_column(m, row->event[i]))
			return true;
	return false;
}

/* Writes each reason why counts are not proven, and its fix. No reason if the setting requires no
 * proof. */
static void why_unproven(struct sp_out *o, struct sp_model *m)
{
	struct sp_unwatched unwatched[SP_WHYS] = { 0 };
	struct sp_row row = { .only_cells = true };
	enum sp_why whys[SP_WHYS];
	char text[SP_WHY_TEXT];
	uint64_t n_listed = 0;
	uint32_t n = 0;

	while (sp_model_next(m, &row)) {
		if (row.proven || !has_column(m, &row))
			continue;
		sp_unwatched_add(&unwatched[row.why], &row);
		if (!(n_listed >> row.why & 1))
			whys[n++] = row.why;
		n_listed |= 1ull << row.why;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (whys[i] != SP_WHY_NONE)
			sp_paragraph(o, "  why: ", 2,
				     sp_why_text_with_cpus(text, whys[i], &unwatched[whys[i]]));
		else if (m->h.attribution == SP_BY_READING)
			sp_paragraph(o, "  ", 2,
				     "each count is attributed to the CPU of its reading: pin "
				     "the threads, or set SSPAPI_ATTRIBUTION=auto");
		else if (m->h.attribution == SP_BY_RESIDENCY)
			sp_paragraph(o, "  ", 2,
				     "counts are divided by the thread's time on each CPU: pin the "
				     "threads, or set SSPAPI_ATTRIBUTION=auto");
	}
}

/* Returns whether a package, device or the machine counted anything, or a gauge has a value. */
static bool any_elsewhere(const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (m->event_counted[e] &&
		    (sp_event_is_gauge(m, e) || (!sp_event_has_column(m, e) && m->sums.total[e])))
			return true;
	return false;
}

/* Writes "all counts proven per CPU (error margin 5.500 us of 106.0 ms)", for the event with the
 * largest unproven share, which is below 0.1 %. */
static void all_proven(struct sp_out *o, const struct sp_model *m, bool missing)
{
	uint32_t least = m->n_events;

	for (uint32_t e = 0; e < m->n_events; e++) {
		double share = proven_share(m, e);

		if (share >= 0.0 && share < (least < m->n_events ? proven_share(m, least) : 1.0))
			least = e;
	}
	sp_out_text(o, "all counts proven per CPU");
	if (least < m->n_events) {
		char text[256];

		sp_out_text(o, " (error margin ");
		unproven_of_total(o, m, least);
		if (!sp_event_is_time(m, least))
			sp_out_f(o, " %s", sp_text_event(m, least, text));
		sp_out_char(o, ')');
	}
	sp_out_text(o, missing ? "; some counts are missing\n" : "\n");
}

static void how_sure(struct sp_out *o, struct sp_model *m)
{
	bool any = false, missing = m->h.stat && !(m->h.stat & SP_STAT_WHOLE);
	uint32_t unproven = 0, none = 0, counted = 0;
	char text[900];
	struct sp_out line;

	for (uint32_t e = 0; e < m->n_events; e++) {
		double share = proven_share(m, e);

		any = any || sp_event_has_column(m, e);
		counted += share >= 0.0;
		unproven += is_unproven(m, e);
		none += share >= 0.0 && !(share > 0.0);
	}
	if (!counted) {
		sp_out_text(o, !any		  ? "no counts per CPU\n"
			       : missing	  ? "no count is above 0; some are missing\n"
			       : any_elsewhere(m) ? "all counts per CPU are 0\n"
						  : "every count is 0\n");
		return;
	}
	if (!unproven) {
		all_proven(o, m, missing);
		return;
	}
	sp_memory_init(&line, text, sizeof(text));
	if (none == counted)
		sp_out_text(&line, "no count is proven on its CPU (~)");
	else
		unproven_events(&line, m, unproven);
	sp_paragraph(o, "", 2, sp_memory_text(&line));
	why_unproven(o, m);
}

static uint64_t calls_of(const struct sp_model *m, const char *prefix)
{
	uint64_t n = 0;
	const char *name;

	for (uint32_t i = 0; i < SP_CALLS_MAX && (name = sp_model_call_name(m, i)); i++)
		if (!strncmp(name, prefix, strlen(prefix)))
			n += m->tally.calls[i];
	return n;
}

/* Returns the word only if a note has the reason. */
static const char *refused(const struct sp_model *m, const char *n_listed, const char *else_)
{
	const char *note;

	for (uint32_t i = 0; (note = sp_model_note(m, i)); i++)
		if (strncmp(note, "PAPI refused ", 13) == 0 ||
		    strncmp(note, "PAPI's component ", 17) == 0)
			return n_listed;
	return else_;
}

static void why_nothing(struct sp_out *o, const struct sp_model *m)
{
	char text[256];
	const char *why;

	if (sp_is_torn(m) && m->h.lists.n_relations && !m->tally.relations) {
		sp_text_f(text, sizeof(text), "%s before any count was stored.",
			  sp_torn_text(m->h.torn));
		why = text;
	} else if (m->tally.damaged)
		why = "the store is damaged; counts of the damaged blocks are missing.";
	else if (m->h.stat)
		why = "no event was counted; see the notes.";
	else if (m->tally.starts)
		why = "event sets were started, but no PAPI_read, PAPI_accum or PAPI_stop "
		      "succeeded, and PAPI returns no earlier counts.";
	else if (m->h.dropped_readings)
		why = "event sets were started, but sspapi could not store their counts; see the "
		      "notes.";
	else if (calls_of(m, "PAPI_start") || calls_of(m, "papif_start"))
		why = refused(m,
			      "PAPI refused every PAPI_start of the program (see the notes); run "
			      "sspapi doctor.",
			      "no PAPI_start of the program succeeded; run sspapi doctor.");
	else if (calls_of(m, "PAPI_add_") || calls_of(m, "papif_add_"))
		why = refused(m,
			      "PAPI refused events (see the notes), and the program never called "
			      "PAPI_start; run sspapi doctor.",
			      "the program added events, but never called PAPI_start.");
	else
		why = "the program never called PAPI_start.";
	sp_paragraph(o, "Nothing to show: ", 2, why);
}

/* ---- notes ---------------------------------------------------- */

struct notes {
	struct sp_out *o;
	bool all;
	uint32_t lines, left;
	/* of the rows seen by notes_of_sets */
	bool any_attached, any_without_cpu, any_overflows;
};

static void note(struct notes *n, const char *text)
{
	if (!n->all && n->lines == SP_TEXT_ROWS) {
		n->left++;
		return;
	}
	if (!n->lines++)
		sp_out_char(n->o, '\n');
	sp_paragraph(n->o, "- ", 2, text);
}

/* The same for a formatted text. */
#define NOTE(n, ...) do { \
	char note_[2000]; \
	note(n, sp_text_f(note_, sizeof(note_), __VA_ARGS__)); \
} while (0)

/* Notes about an event set, one bit each. */
static const char *const of_sets[] = {
	"multiplexed: PAPI's estimates",
	"a count decreased: it is a difference of two counts, or something other than PAPI reset "
	"it",
	"a signal handler called PAPI for the set during another call, or jumped out of one: "
	"counts that only such calls returned may be missing",
	"still running at the end: PAPI did not return the counts after the last reading",
	"never read, and still running at the end: PAPI did not return its counts",
	"started, but never read",
	"read by another thread than the counted one: attributed to the CPU where the counted "
	"one last ran",
	"attached to a CPU: counts all activity there",
	"counts the whole process",
	"more than 1,024 pairs of calls: the rest is listed by the second call only",
	"read again within a second; PAPI refreshes these counts once per second, so a window "
	"may include counts of another",
};

/* The sets of the high level's regions keep running. */
static bool is_of_regions(struct sp_model *m, struct sp_row *row)
{
	struct sp_interval_counts at;
	struct sp_callsite c;

	for (uint32_t i = 0; sp_row_interval(m, row, i, &at); i++)
		if (at.to && sp_model_callsite(m, at.to, &c) && *c.name)
			return true;
	return false;
}

static uint32_t of_set(struct sp_model *m, struct sp_row *row)
{
	bool back = (row->flags & SP_RELATION_BACKWARDS) && !(row->flags & SP_RELATION_ESTIMATED);
	bool running = (row->flags & SP_RELATION_RUNNING) && !is_of_regions(m, row);
	bool foreign = (row->flags & SP_RELATION_FOREIGN) && row->attribution == SP_BY_READING;

	return (row->flags & SP_RELATION_ESTIMATED ? 1u : 0) | (back ? 2u : 0) |
	       (row->flags & SP_RELATION_UNSURE ? 4u : 0) | (running && row->readings ? 8u : 0) |
	       (running && !row->readings ? 16u : 0) |
	       (!running && row->starts && !row->readings ? 32u : 0) | (foreign ? 64u : 0) |
	       (row->target == SP_TARGET_CPU ? 128u : 0) |
	       (row->scope == SP_SCOPE_PROCESS ? 256u : 0) |
	       (row->flags & SP_RELATION_CROWDED ? 512u : 0) |
	       (row->flags & SP_RELATION_HASTY ? 1024u : 0);
}

/* Returns the word for the event's place; NULL: the topology may lack that place. */
static const char *place_word(const struct sp_event *v)
{
	static const char *const words[] = { [SP_PLACE_PACKAGE] = "package",
					     [SP_PLACE_MEMORY] = "package",
					     [SP_PLACE_DIE] = "die",
					     [SP_PLACE_GPU] = "GPU" };

	return v && v->place < SP_COUNT(words) ? words[v->place] : NULL;
}

static bool has_no_cpu(const struct sp_model *m, const struct sp_row *row, uint32_t i)
{
	return row->scope != SP_SCOPE_THREAD && place_word(m->event[row->event[i]]) &&
	       sp_row_place(row, i) < 0;
}

/* A pass of its own, only in runs that have such rows. */
static void note_rare(struct notes *n, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_overflowed at;
	uint32_t next = 0;

	n->any_attached |= sp_row_watched(m, row) != NULL;
	n->any_overflows |= sp_row_overflow(m, row, &next, &at);
	for (uint32_t i = 0; i < row->k; i++)
		n->any_without_cpu |= has_no_cpu(m, row, i);
}

static void notes_of_sets(struct notes *n, struct sp_model *m)
{
	struct { uint64_t n; int32_t event_set, tid; } is[SP_COUNT(of_sets)] = { { 0 } };
	struct sp_row row = { 0 };

	while (sp_model_next(m, &row)) {
		uint32_t bits = of_set(m, &row);

		note_rare(n, m, &row);
		if (row.event_set < 0)	/* sspapi stat: not a set of the program */
			continue;
		for (unsigned i = 0; i < SP_COUNT(is); i++)
			if (bits >> i & 1) {
				is[i].n++;
				is[i].event_set = row.event_set;
				is[i].tid = row.tid;
			}
	}
	for (unsigned i = 0; i < SP_COUNT(is); i++) {
		if (is[i].n == 1 && is[i].tid)
			NOTE(n, "event set %d of thread %d: %s", is[i].event_set, is[i].tid,
			     of_sets[i]);
		else if (is[i].n == 1)
			NOTE(n, "event set %d: %s", is[i].event_set, of_sets[i]);
		else if (is[i].n)
			NOTE(n, "%'lu event sets: %s", is[i].n, of_sets[i]);
	}
}

/* Notes each thread once: rows of a thread are close to each other. */
static void attached(struct notes *n, struct sp_model *m)
{
	static const char *const over[] = { "", ", and still ran at the end", ", and had ended" };
	const struct sp_watched *w, *before = NULL;
	struct sp_row row = { .only_cells = true };

	while (sp_model_next(m, &row)) {
		struct sp_out line;
		char text[560], name[17];
		const char *word;

		w = sp_row_watched(m, &row);
		if (!w || w == before)
			continue;
		before = w;
		sp_memory_init(&line, text, sizeof(text));	/* a long text is cut */
		sp_out_f(&line, "%d (%s", w->tid, sp_fixed_text(name, w->name, 16));
		for (uint32_t i = 0; (word = sp_store_reader_text_at(m->reader, w->args, i)); i++)
			sp_out_f(&line, i ? " %s" : ": %s", word);
		NOTE(n, "%s) was counted by attaching to it%s", sp_memory_text(&line),
		     over[w->over < SP_COUNT(over) ? w->over : 0]);
	}
}

/* Notes once each event that counts in one place that the topology lacks. */
static void note_without_cpu(struct notes *n, struct sp_model *m)
{
	struct sp_row row = { .only_cells = true };
	bool is_listed[1024] = { 0 };

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; i < row.k; i++) {
			uint32_t e = row.event[i];
			char buf[32];

			if (e >= SP_COUNT(is_listed) || is_listed[e] || !has_no_cpu(m, &row, i))
				continue;
			is_listed[e] = true;
			NOTE(n,
			     "%s: the topology shows no such %s; these counts are on no component",
			     sp_event_name(m, e, buf), place_word(m->event[e]));
		}
}

static void overflows(struct notes *n, struct sp_model *m)
{
	struct sp_row row = { .only_cells = true };
	char text[1024];

	while (sp_model_next(m, &row))
		for (uint32_t next = 0; sp_text_overflow(m, &row, &next, text);)
			note(n, text);
}

static bool is_this_machine(const struct sp_model *m)
{
	return m->topology_source && !strcmp(m->topology_source, "system");
}

static void topology_source(struct notes *n, const struct sp_model *m)
{
	if (!m->topology_source || is_this_machine(m))
		return;
	if (!strcmp(m->topology_source, "flat"))
		note(n,
		     "the CPUs are shown without the machine's structure: hwloc could not read it");
	else if (!strcmp(m->topology_source, "merged"))
		note(n, "the machines are shown as described by several files");
	else
		NOTE(n, "the machine is shown as described by %s", m->topology_source);
}

static void outside(struct notes *n, const struct sp_model *m)
{
	struct sp_out line;
	char text[512];

	if (!m->n_outside)
		return;
	sp_memory_init(&line, text, sizeof(text));
	for (uint32_t i = 0; i < m->n_outside; i++)
		sp_out_f(&line, "%s%d", i ? ", " : "", m->outside[i]);
	sp_out_text(&line, m->n_outside == SP_UNLISTED_CPUS_MOST ? " and perhaps more" : "");
	NOTE(n, "CPU%s %s %s not in the topology, but counted: %s", SP_MANY(m->n_outside),
	     sp_memory_text(&line), m->n_outside == 1 ? "is" : "are",
	     is_this_machine(m) ? "brought online later"
				: "the topology does not describe all of this machine");
}

static bool is_of_pmu(const struct sp_model *m, uint32_t e, const char *pmu)
{
	return sp_event_has_column(m, e) && strcmp(SP_EVENT_TEXT(m, e, pmu), pmu) == 0;
}

/* Notes that the PMU is of one kind of cores: its events do not count while the thread is on
 * another kind. (For sspapi stat a note has this, with the time.) */
static void of_one_pmu(struct notes *n, const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events && !m->h.stat; e++) {
		const char *pmu = SP_EVENT_TEXT(m, e, pmu), *between = ":";
		char text[1000], name[256];
		struct sp_out line;
		uint32_t first = 0;

		while (first < e && !is_of_pmu(m, first, pmu))
			first++;
		if (!*pmu || first < e || !sp_event_has_column(m, e))
			continue;
		sp_memory_init(&line, text, sizeof(text));	/* a long text is cut */
		sp_out_f(&line,
			 "counted by the PMU %s, which only some cores have; counts of the "
			 "others are missing",
			 pmu);
		for (uint32_t i = e; i < m->n_events; i++, between = ",")
			if (is_of_pmu(m, i, pmu))
				sp_out_f(&line, "%s %s", between, sp_text_event(m, i, name));
		note(n, sp_memory_text(&line));
	}
}

static void metrics_of_sets(struct notes *n, const struct sp_selection *s)
{
	char text[1024];

	for (int32_t i = s->metrics ? sp_metrics_next(s->metrics, -1) : -1; i >= 0;
	     i = sp_metrics_next(s->metrics, i))
		if (sp_metric_sets_text(text, sizeof(text), s->metrics, &s->metrics->at[i]))
			note(n, text);
}

/* PAPI itself reads twice when a region begins. */
static bool is_nested(const struct sp_model *m, const struct sp_interval_counts *at)
{
	struct sp_callsite from = { 0 }, to = { 0 };

	sp_model_callsite(m, at->from, &from);
	sp_model_callsite(m, at->to, &to);
	return (from.call == SP_REGION_BEGINS || from.call == SP_REGION_READ) &&
	       to.call == SP_REGION_BEGINS && strcmp(from.name, to.name) != 0;
}

/* Notes that PAPI's own file includes the counts of inner regions in outer ones. */
static void regions(struct notes *n, struct sp_model *m)
{
	struct sp_row row = { 0 };
	struct sp_interval_counts at;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_interval(m, &row, i, &at); i++)
			if (is_nested(m, &at)) {
				note(n, "high-level regions exclude the regions inside them; "
					"PAPI's own file counts these in both");
				return;
			}
}

static void python(struct notes *n, const struct sp_model *m)
{
	struct sp_callsite c;
	bool any = false;

	for (uint32_t id = 1; id < m->n_callsites && !any; id++)
		any = sp_model_callsite(m, id, &c) && !*c.name;
	if (any && !strncmp(sp_base_name(sp_model_text(m, m->h.process.exe)), "python", 6))
		note(n, "no Python function is named: Python calls PAPI from C code (ctypes, cffi "
			"or an extension), and call sites are there");
}

static void all_notes(struct sp_out *o, const struct sp_selection *s)
{
	struct notes n = { .o = o, .all = s->all };
	struct sp_model *m = s->m;
	char text[SP_MISSING_TEXT], observed[512];
	const char *said;

	for (unsigned i = 0; sp_missing_text(m, &i, text);)
		note(&n, text);
	if (m->tally.kept && !sp_selection_keeps_nothing(s))
		NOTE(&n, "%'lu permanent reading%s stored", m->tally.kept, SP_MANY(m->tally.kept));
	for (uint32_t i = 0; (said = sp_model_note(m, i)); i++)
		NOTE(&n, "%s", said);
	metrics_of_sets(&n, s);
	notes_of_sets(&n, m);
	if (n.any_attached)
		attached(&n, m);
	if (n.any_without_cpu)
		note_without_cpu(&n, m);
	for (uint32_t e = 0; sp_text_observers(m, &e, observed);)
		note(&n, observed);
	if (n.any_overflows)
		overflows(&n, m);
	of_one_pmu(&n, m);
	outside(&n, m);
	regions(&n, m);
	python(&n, m);
	topology_source(&n, m);
	if (!n.left)
		return;
	sp_text_cut(s);
	sp_out_f(o, "… and %'u more notes", n.left);
	sp_text_shown_by(o, s, "all");
	sp_out_char(o, '\n');
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Returns the option of sspapi report that shows more; NULL: nothing more. */
static const char *shows_more(const struct sp_selection *s)
{
	if (s->all)
		return NULL;
	if (sp_is_job(s->m) && sp_text_have_ranks(s->m))
		return "--per-rank";
	if (s->m->h.stat & SP_STAT_GROUP)
		return "--per-core";
	/* The store of stat is named whatever it contains. */
	if (sp_is_job(s->m) || s->m->tally.threads_counted > 1 || s->m->h.stat)
		return "--per-thread";
	return s->cut && *s->cut ? "--all" : NULL;
}

static void further(struct sp_out *o, const struct sp_selection *s)
{
	const char *more = s->file && s->m->tally.readings ? shows_more(s) : NULL;

	if (!more)
		return;
	if (sp_selection_keeps_nothing(s))
		sp_out_text(o, "\nmore: add -o FILE.sspapi, then sspapi report\n");
	else if (strcmp(s->file, SP_FORMAT_NO_STORE) == 0)
		sp_out_text(o, "\nmore: SSPAPI_FORMAT=text,store, then sspapi report\n");
	else
		sp_out_f(o, "\nmore: sspapi report %s%s%s%s\n", more, s->again ? s->again : "",
			 *s->file ? " " : "", s->file);
}

void sp_text_begin(struct sp_out *o, const struct sp_selection *s)
{
	first_line(o, s->m);
	if (!s->m->tally.readings) {
		why_nothing(o, s->m);
		return;
	}
	how_sure(o, s->m);
	sp_text_repeats(o, s);
}

void sp_text_end(struct sp_out *o, const struct sp_selection *s)
{
	all_notes(o, s);
	further(o, s);
}

void sp_format_text(struct sp_out *o, const struct sp_selection *shown)
{
	struct sp_explained explained = { 0 };
	bool cut = false;
	struct sp_selection show = *shown;
	const struct sp_selection *s = &show;

	show.cut = &cut;
	show.explained = &explained;
	sp_text_begin(o, s);
	if (s->m->tally.readings) {
		if (sp_is_job(s->m))
			sp_text_heaviest(o, s, "process");
		sp_text_cpus(o, s);
		if (!sp_is_job(s->m) || s->all)
			sp_text_heaviest(o, s, "thread");
		sp_text_heaviest(o, s, "callsite");
		sp_text_other_events(o, s);
		sp_text_gauges(o, s);
	}
	sp_text_end(o, s);
}

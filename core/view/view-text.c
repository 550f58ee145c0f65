/* view-text.c: the dump for people (contract, section 7): what ran, how sure its
 * counts are, the tables, what is missing and why.
 */
#include "../cpu-list.h"
#include "view-text.h"
#include "why.h"

#define RELATIONS_SHOWN 64

/* ---- head ----------------------------------------------------- */

enum proven { PROVEN_NOTHING, PROVEN_NONE, PROVEN_SOME, PROVEN_ALL };

/* Each event weighs the same: cycles would drown cache misses. */
static enum proven how_proven(const struct sp_model *m, double *part, double *whole)
{
	bool all = true, some = false;

	*part = *whole = 0.0;
	for (uint32_t e = 0; e < m->n_events; e++) {
		double share;

		if (!sp_event_is_summed(m, e) || sp_event_is_placed(m, e))
			continue;
		share = sp_proven_share(sp_event_type(m, e), m->total[e], m->total_exact[e]);
		if (share < 0.0)
			continue;
		*part += share;
		*whole += 1.0;
		all = all && share >= 1.0;
		some = some || share > 0.0;
	}
	if (!(*whole > 0.0))
		return PROVEN_NOTHING;
	return all ? PROVEN_ALL : some ? PROVEN_SOME : PROVEN_NONE;
}

static bool counts_on_cpus(const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (sp_event_is_summed(m, e) && !sp_event_is_placed(m, e))
			return true;
	return false;
}

static void command(struct sp_out *o, const struct sp_model *m)
{
	const char *exe = sp_model_text(m, m->h.exe), *arg = sp_image_text_at(m->image, m->h.args, 0);

	if (sp_is_job(m)) {
		sp_out_grouped(o, m->n_processes);
		sp_out_text(o, " processes of ");
	}
	sp_out_plain(o, *exe ? sp_base_name(exe) : arg && *arg ? sp_base_name(arg) :
			sp_is_job(m) ? "several programs" : "an unknown program");
	for (uint32_t i = 1; !o->error && (arg = sp_image_text_at(m->image, m->h.args, i)); i++) {
		const char *quote = *arg && !strchr(arg, ' ') ? "" : "'";

		sp_out_char(o, ' ');
		sp_out_text(o, quote);
		sp_out_plain(o, arg);
		sp_out_text(o, quote);
	}
}

/* What ran, where, for how long, how much is proven. */
static void first_line(struct sp_out *o, const struct sp_model *m)
{
	struct sp_out line;
	char what[700], tail[256], host[200], buf[48];
	double part, whole;

	sp_memory_init(&line, host, sizeof(host));
	sp_out_plain(&line, sp_model_text(m, m->h.host));
	sp_memory_text(&line);
	sp_memory_init(&line, tail, sizeof(tail));
	sp_out_text(&line, " on ");
	if (!*host && sp_is_job(m))
		sp_out_amount(&line, m->n_machines, "host");
	else
		sp_clip(&line, *host ? host : "an unknown host", 40);
	if (sp_elapsed(m)) {
		sp_out_text(&line, ", ");
		sp_out_duration(&line, sp_elapsed(m));
	}
	switch (how_proven(m, &part, &whole)) {
	case PROVEN_NOTHING:
		sp_out_text(&line, !m->readings ? ": no counts" : counts_on_cpus(m) ? ": every count is 0" :
									    ": nothing was counted by CPU");
		break;
	case PROVEN_NONE:
		sp_out_text(&line, ": none of the counts is proven on its CPU");
		break;
	case PROVEN_ALL:
		sp_out_text(&line, ": all counts are proven on their CPU");
		break;
	case PROVEN_SOME:
		sp_out_text(&line, ": ");
		sp_percent(buf, part, whole);
		sp_out_text(&line, buf);
		sp_out_text(&line, " of the counts proven on their CPU");
		break;
	}
	sp_memory_text(&line);
	sp_memory_init(&line, what, sizeof(what));
	command(&line, m);
	sp_clip(o, sp_memory_text(&line), SP_WIDTH - sp_columns(tail));
	sp_out_text(o, tail);
	sp_out_char(o, '\n');
}

/* "ranks 0 to 7", if each process has one. */
static void ranks(struct sp_out *o, const struct sp_model *m)
{
	int64_t least = INT64_MAX, most = -1;

	for (uint32_t i = 0; i < m->n_processes; i++) {
		least = least < m->process[i].h->rank ? least : m->process[i].h->rank;
		most = most > m->process[i].h->rank ? most : m->process[i].h->rank;
	}
	if (least < 0 || least == most) {
		sp_out_text(o, "merged");
		return;
	}
	sp_out_text(o, "ranks ");
	sp_out_i64(o, least);
	sp_out_text(o, " to ");
	sp_out_i64(o, most);
}

static void how_it_ended(struct sp_out *o, const struct sp_model *m)
{
	static const char *const ends[] = {
		"still running", "ended by exit", "ended by _exit", "ended by exec", "recovered", "snapshot",
	};

	if (m->h.end != SP_END_NONE || !m->n_killed) {
		sp_out_text(o, ends[m->h.end < SP_COUNT(ends) ? m->h.end : 0]);
		return;
	}
	if (sp_is_job(m)) {
		sp_out_grouped(o, m->n_killed);
		sp_out_text(o, " of them ");
	}
	sp_out_text(o, "killed");
}

static void second_line(struct sp_out *o, const struct sp_model *m)
{
	const char *job = sp_model_text(m, m->h.job);
	struct sp_out line;
	char text[512];

	sp_memory_init(&line, text, sizeof(text));
	if (sp_is_job(m)) {
		ranks(&line, m);
	} else {
		sp_out_text(&line, "pid ");
		sp_out_u64(&line, m->h.pid);
	}
	if (m->h.rank >= 0) {
		sp_out_text(&line, ", rank ");
		sp_out_i64(&line, m->h.rank);
	}
	if (*job) {
		sp_out_text(&line, ", job ");
		sp_out_plain(&line, job);
	}
	if (m->h.start_ns) {
		sp_out_text(&line, ", started ");
		sp_out_date(&line, m->h.start_ns);
	}
	sp_out_text(&line, ", ");
	how_it_ended(&line, m);
	sp_out_text(&line, "; PAPI ");
	sp_out_papi_version(&line, m->h.papi_version);
	sp_clip(o, sp_memory_text(&line), SP_WIDTH);
	sp_out_char(o, '\n');
}

/* " (4 P, 2 E)" */
static void cpus_by_kind(struct sp_out *o, const struct sp_model *m)
{
	bool more = false;

	for (uint32_t k = 0; m->n_kinds > 1 && k < m->n_kinds; k++) {
		if (!m->kind[k].n_counted)
			continue;
		sp_out_text(o, more ? ", " : " (");
		sp_out_grouped(o, m->kind[k].n_counted);
		sp_out_char(o, ' ');
		sp_out_plain(o, m->kind[k].name);
		more = true;
	}
	if (more)
		sp_out_char(o, ')');
}

static void third_line(struct sp_out *o, const struct sp_model *m)
{
	sp_out_amount(o, m->n_threads, "thread");
	sp_out_text(o, ", ");
	sp_out_amount(o, m->n_relations, "relation");
	sp_out_text(o, ", ");
	sp_out_amount(o, m->readings, "reading");
	if (m->n_cpus_counted + m->n_outside) {
		sp_out_text(o, " on ");
		sp_out_amount(o, m->n_cpus_counted + m->n_outside, "CPU");
		cpus_by_kind(o, m);
	}
	if (m->h.attribution == SP_BY_RESIDENCY || m->h.attribution == SP_BY_EXACT)
		sp_out_text(o, m->h.attribution == SP_BY_EXACT ? ", attribution exact" : ", attribution residency");
	if (m->kept) {
		sp_out_text(o, "; ");
		sp_out_grouped(o, m->kept);
		sp_out_text(o, " kept");
	}
	sp_out_char(o, '\n');
}

/* How counts came to their CPUs, and why not all of them surely; only where some may have come to the wrong one. */
static void attribution(struct sp_out *o, struct sp_model *m)
{
	static const char *const how[] = {
		[SP_BY_READING] = "Counts are booked on the CPU of the reading that brought them. What is not proven may in part "
				  "have been counted where the thread was before: pin the threads, or take "
				  "SSPAPI_ATTRIBUTION=auto.",
		[SP_BY_RESIDENCY] = ("Counts between two readings are split by the time that the thread spent on each CPU. What is "
				     "not proven is an estimate."),
		[SP_BY_EXACT] = "What is not proven may in part have been counted where the thread was before.",
		[SP_BY_AUTO] = "What is not proven may in part have been counted where the thread was before.",
	};
	struct sp_row row = { 0 };
	uint64_t told = 0;

	sp_paragraph(o, "", 0, how[m->h.attribution < SP_COUNT(how) ? m->h.attribution : 0]);
	while (m->h.attribution != SP_BY_READING && sp_model_next(m, &row)) {
		if (row.why == SP_WHY_NONE || (told >> row.why & 1))
			continue;
		told |= 1ull << row.why;
		sp_paragraph(o, "Why: ", 2, sp_why_text(row.why));
	}
}

static void topology_source(struct sp_out *o, const struct sp_model *m)
{
	struct sp_out line;
	char text[512];

	if (!m->topology_source || !strcmp(m->topology_source, "system"))
		return;
	sp_memory_init(&line, text, sizeof(text));
	if (!strcmp(m->topology_source, "flat")) {
		sp_out_text(&line, "The CPUs are shown without the machine's structure: hwloc could not see it.");
	} else if (!strcmp(m->topology_source, "merged")) {
		sp_out_text(&line, "The machines are shown as described by several files.");
	} else {
		sp_out_text(&line, "The machine is shown as described by ");
		sp_out_plain(&line, m->topology_source);
	}
	sp_paragraph(o, "", 2, sp_memory_text(&line));
}

static bool is_pu(const struct sp_component *c)
{
	return sp_component_is(c, "PU") && c->os_index >= 0;
}

/* Is the tree this machine's, as hwloc saw it? */
static bool is_this_machine(const struct sp_model *m)
{
	return m->topology_source && !strcmp(m->topology_source, "system");
}

/* Which CPUs the process was left, if not all that the machine has (a description of another
 * one says nothing of that). */
static void allowed(struct sp_out *o, const struct sp_model *m)
{
	const char *list = sp_model_text(m, sp_process_header(m, 0)->cpus_allowed);
	uint32_t cpus = 0, may = 0, others = 0;
	struct sp_out line;
	char text[512];

	for (uint32_t c = 0; c < m->n_components; c++) {
		if (!is_pu(&m->component[c]))
			continue;
		cpus++;
		if (sp_cpu_in_list(list, (uint64_t)m->component[c].os_index))
			may++;
		else if (!(m->component[c].flags & SP_COMPONENT_DISALLOWED))
			others++;
	}
	if (sp_is_job(m) || !*list || may == cpus || !is_this_machine(m))
		return;
	sp_memory_init(&line, text, sizeof(text));
	sp_out_text(&line, "The process began with ");
	sp_out_grouped(&line, may);
	sp_out_text(&line, " of these ");
	sp_out_amount(&line, cpus, "CPU");
	sp_out_text(&line, others ? ", by its affinity (taskset, a batch system): " : ", by its cpuset (a container, a batch system): ");
	sp_out_plain(&line, list);
	sp_paragraph(o, "", 2, sp_memory_text(&line));
}

/* They are in the tables under their numbers, and nowhere in the tree. */
static void outside(struct sp_out *o, const struct sp_model *m)
{
	struct sp_out line;
	char text[512];

	if (!m->n_outside)
		return;
	sp_memory_init(&line, text, sizeof(text));
	sp_out_text(&line, m->n_outside == 1 ? "CPU " : "CPUs ");
	for (uint32_t i = 0; i < m->n_outside; i++) {
		sp_out_text(&line, i ? ", " : "");
		sp_out_i64(&line, m->outside[i]);
	}
	sp_out_text(&line, m->n_outside == SP_OUTSIDE_MOST ? " and perhaps more" : "");
	sp_out_text(&line, m->n_outside == 1 ? " is" : " are");
	sp_out_text(&line, " not in the topology, but counted: ");
	sp_out_text(&line, is_this_machine(m) ? "brought online after it was read." : "it is not all of this machine's.");
	sp_paragraph(o, "", 2, sp_memory_text(&line));
}

/* What a preset counts depends on them. */
static void preset_file(struct sp_out *o, const struct sp_model *m, sp_off path, const char *variable)
{
	struct sp_out line;
	char text[512];

	if (!path)
		return;
	sp_memory_init(&line, text, sizeof(text));
	sp_out_text(&line, "Presets are also those of ");
	sp_out_plain(&line, sp_model_text(m, path));
	sp_out_text(&line, " (");
	sp_out_text(&line, variable);
	sp_out_char(&line, ')');
	sp_paragraph(o, "", 2, sp_memory_text(&line));
}

static uint64_t calls_of(const struct sp_model *m, const char *prefix)
{
	uint64_t n = 0;
	const char *name;

	for (uint32_t i = 0; i < SP_CALLS_MAX && (name = sp_model_call_name(m, i)); i++) {
		if (!strncmp(name, prefix, strlen(prefix)))
			n += m->calls[i];
	}
	return n;
}

static void why_nothing(struct sp_out *o, const struct sp_model *m)
{
	const char *why;

	if (m->damaged)
		why = "the store is damaged; what was in the damaged blocks is missing.";
	else if (m->starts)
		why = "event sets were started, but no PAPI_read, PAPI_accum or PAPI_stop succeeded, and PAPI "
		      "gives no counts before.";
	else if (m->h.dropped_readings)
		why = "event sets were started, but sspapi could not keep what they counted; the warnings say how much is "
		      "missing.";
	else if (calls_of(m, "PAPI_start"))
		why = "PAPI refused every PAPI_start of the program; the warnings say why, and sspapi doctor what this "
		      "machine can count.";
	else if (calls_of(m, "PAPI_add_"))
		why = "the program asked PAPI for events, but never called PAPI_start. If it was "
		      "refused them, the warnings say why, and sspapi doctor what this machine can count.";
	else
		why = "the program never called PAPI_start.";
	sp_out_char(o, '\n');
	sp_paragraph(o, "Nothing to show:", 0, why);
}

/* ---- foot ------------------------------------------------------------- */

static void cost(struct sp_out *o, const struct sp_model *m)
{
	double share = sp_self_share(m) * 100.0;
	uint64_t calls = sp_all_calls(m);

	sp_out_text(o, "\nsspapi itself: ");
	if (!m->h.self_calls) {
		sp_out_text(o, "not timed, there were too few calls of PAPI (");
		sp_out_grouped(o, calls);
		sp_out_text(o, ")\n");
		return;
	}
	sp_out_double(o, sp_self_ns(m), 0);
	sp_out_text(o, " ns for a call of PAPI (timed in ");
	sp_out_grouped(o, m->h.self_calls);
	sp_out_text(o, " of ");
	sp_out_grouped(o, calls);
	sp_out_char(o, ')');
	if (sp_elapsed(m)) {
		sp_out_text(o, share < 0.01 ? ", less than " : ", ");
		sp_out_double(o, share < 0.01 ? 0.01 : share, 2);
		sp_out_text(o, " % of the run");
	}
	sp_out_char(o, '\n');
}

static void call_list(struct sp_out *o, const struct sp_model *m)
{
	struct sp_para p = { .o = o, .indent = 2 };
	const char *name;
	unsigned left = 0;

	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		left += m->calls[i] && sp_model_call_name(m, i);
	if (!left)
		return;
	sp_word(&p, "Calls:");
	for (uint32_t i = 0; left && (name = sp_model_call_name(m, i)); i++) {
		struct sp_out item;
		char text[128];

		if (!m->calls[i])
			continue;
		sp_memory_init(&item, text, sizeof(text));
		sp_out_plain(&item, name);
		sp_out_char(&item, ' ');
		sp_out_grouped(&item, m->calls[i]);
		sp_out_text(&item, --left ? "," : "");
		sp_word(&p, sp_memory_text(&item));
	}
	sp_out_char(o, '\n');
}

static void lost(struct sp_out *o, uint64_t n, const char *thing, const char *rest)
{
	if (!n)
		return;
	sp_out_text(o, "- ");
	sp_out_amount(o, n, thing);
	sp_out_text(o, rest);
	sp_out_char(o, '\n');
}

static void warnings(struct sp_out *o, const struct sp_model *m)
{
	const char *note;

	if (!m->h.dropped_readings && !m->h.dropped_relations && !m->refused && !m->damaged && !m->h.torn && !sp_model_note(m, 0))
		return;
	sp_out_char(o, '\n');
	sp_heading_begin(o);
	sp_out_text(o, "Warnings:");
	sp_heading_end(o);
	lost(o, m->h.dropped_readings, "reading", " could not be booked: what they counted is missing here");
	lost(o, m->refused, "permanent reading", " counted, not kept: past SSPAPI_READINGS_MAX, no memory, or of "
	     "threads that have ended and were added together");
	lost(o, m->h.dropped_relations, "relation", " missing: there was no memory for them");
	if (m->h.torn && m->h.end == SP_END_RECOVERED)
		sp_out_text(o, "- the live file's disk was full: what came later is missing here\n");
	lost(o, m->damaged, "block", " of the store damaged: what was in them is missing here");
	for (uint32_t i = 0; (note = sp_model_note(m, i)); i++) {
		struct sp_out line;
		char text[1024];

		sp_memory_init(&line, text, sizeof(text));
		sp_out_plain(&line, note);
		sp_paragraph(o, "- ", 2, sp_memory_text(&line));
	}
}

/* A page or two of them: with a relation a thread there may be thousands. */
static void relations(struct sp_out *o, struct sp_model *m, bool proven)
{
	struct sp_row row = { 0 };
	uint32_t shown = 0;

	for (; shown < RELATIONS_SHOWN && sp_model_next(m, &row); shown++)
		sp_text_relation(o, m, &row, proven);
	if (m->n_relations <= shown)
		return;
	sp_out_text(o, "\n... and ");
	sp_out_amount(o, m->n_relations - shown, "relation");
	sp_out_text(o, " more, which the json and csv forms show.\n");
}

void sp_view_text(struct sp_out *o, struct sp_model *m)
{
	double part, whole;
	enum proven how = how_proven(m, &part, &whole);

	first_line(o, m);
	second_line(o, m);
	third_line(o, m);
	sp_text_kinds_line(o, m);
	topology_source(o, m);
	allowed(o, m);
	outside(o, m);
	preset_file(o, m, m->h.csv_events, "PAPI_CSV_EVENT_FILE");
	preset_file(o, m, m->h.user_events, "PAPI_USER_EVENTS_FILE");
	if (how == PROVEN_NONE || how == PROVEN_SOME)
		attribution(o, m);
	if (m->readings) {
		sp_text_tree(o, m, how == PROVEN_SOME);
		sp_text_by_kind(o, m);
	} else {
		why_nothing(o, m);
	}
	relations(o, m, how == PROVEN_SOME);
	cost(o, m);
	call_list(o, m);
	warnings(o, m);
}

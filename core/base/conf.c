/* conf.c: the table of variables, and functions that read them; see conf.h. */
#include <signal.h>
#include <sys/auxv.h>

#include "conf.h"
#include "cpu-list.h"
#include "format.h"
#include "sys.h"

#define PREFIX	"SSPAPI_"

#define TEXT(field) \
	SP_CONF_TEXT, offsetof(struct sp_conf, field), sizeof(((struct sp_conf *)0)->field), 0, 0, \
		{ NULL }, false
#define NUMBER(field, least, most) \
	SP_CONF_NUMBER, offsetof(struct sp_conf, field), 0, least, most, { NULL }, false
#define WORD(field, ...) \
	SP_CONF_WORD, offsetof(struct sp_conf, field), 0, 0, 0, { __VA_ARGS__ }, false

/* A row that a privileged process may use: it can only disable sspapi. */
#define OFF(field)	SP_CONF_NUMBER, offsetof(struct sp_conf, field), 0, 0, 1, { NULL }, true

/* The default in a rank. A job of a thousand ranks leaves one folder with a thousand stores, not
 * two thousand files among the user's own. */
const char sp_conf_rank_output[] = "sspapi.%e.%j.%s/%r.sspapi";

const struct sp_conf_row sp_conf_rows[] = {
	{ "SSPAPI_OUTPUT", "path template, or -", "sspapi.%e.%h.%p.txt",
	  "name of the dump; - is standard error; a rank's default is sspapi.%e.%j.%s/%r.sspapi",
	  TEXT(output) },
	{ "SSPAPI_FORMAT", SP_FORMAT_NAMES(","), "by the extension of SSPAPI_OUTPUT",
	  "formats of the dump, separated by commas; without SSPAPI_OUTPUT text,store, for a "
	  "rank store",
	  TEXT(format) },
	{ "SSPAPI_RANKS", "ranks: 0,64-67", "all", "ranks to count; others only forward PAPI calls",
	  TEXT(ranks) },
	{ "SSPAPI_READINGS", "temporary, permanent", "temporary",
	  "whether each reading is stored, with its time and CPU",
	  WORD(readings, "temporary", "permanent") },
	{ "SSPAPI_READINGS_MAX", "a number", "1000000",
	  "maximum number of readings stored per event set and thread",
	  NUMBER(readings_max, 0, 1000000000000) },
	{ "SSPAPI_ATTRIBUTION", "auto, exact, residency, reading", "auto",
	  "how counts between two readings are attributed",
	  WORD(attribution, "reading", "residency", "exact", "auto") },
	{ "SSPAPI_DESCRIPTORS", "a number", "a quarter of the limit of descriptors, 4096 at most",
	  "maximum number of descriptors that sspapi opens for auto and exact",
	  NUMBER(descriptors, 0, 1048576) },
	{ "SSPAPI_TOPOLOGY", "an hwloc XML file", "discover this machine",
	  "description of the machine, used instead of the machine itself", TEXT(topology) },
	{ "SSPAPI_CALLSITES", "auto, 0 to 64", "auto",
	  "stack frames stored per call site; auto: one, plus up to three callers of helpers",
	  NUMBER(callsites, 0, 64) },
	{ "SSPAPI_LIVE", "1, 0 or a folder", "1",
	  "keep the store in a file, so that a killed process loses no counts", TEXT(live) },
	{ "SSPAPI_SIGNAL", "a signal's name", "off", "signal on which a dump is written at once",
	  TEXT(signal) },
	{ "SSPAPI_COLOR_BY", "an event's name", "the first event",
	  "event that colours the hwloc format", TEXT(color_by) },
	{ "SSPAPI_DISABLE", "1", "0", "PAPI calls are only forwarded, nothing is counted",
	  OFF(disable) },
	{ "SSPAPI_VERBOSE", "0, 1, 2", "1",
	  "0 errors, 1 warnings, 2 also intercepted libraries and dumps", NUMBER(verbose, 0, 2) },
};
const unsigned sp_conf_n_rows = SP_COUNT(sp_conf_rows);

static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
				     "SLURM_PROCID", "MV2_COMM_WORLD_RANK" };
static const char *const local_size_variables[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
						    "MV2_COMM_WORLD_LOCAL_SIZE",
						    "SLURM_NTASKS_PER_NODE" };
/* A batch script of Slurm has SLURM_NTASKS without being a rank. */
static const char *const size_variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					      "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS" };
static const char *const jobs[] = { "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID" };
/* Slurm has used both names. */
static const char *const steps[] = { "SLURM_STEP_ID", "SLURM_STEPID" };

/* ---- captured environment --------------------------------------------- */

/* NAME=value, each ended by a NUL; an empty entry ends the list */
static char captured[16384];
SP_AT_START static size_t captured_used;
static char first_refused[64];		/* the first that a privileged process ignores */

bool sp_conf_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

/* The row of an entry NAME=value, or NULL. */
static const struct sp_conf_row *row_of_entry(const char *entry)
{
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		size_t n = strlen(sp_conf_rows[i].name);

		if (strncmp(entry, sp_conf_rows[i].name, n) == 0 && entry[n] == '=')
			return &sp_conf_rows[i];
	}
	return NULL;
}

/* Returns whether a privileged process may use the entry. Variables without a row (ranks, jobs,
 * those of %q{}) become parts of file names: it may not. */
static bool is_trusted(const char *entry)
{
	const struct sp_conf_row *row = row_of_entry(entry);

	if (row && row->privileged)
		return true;
	if (strncmp(entry, PREFIX, strlen(PREFIX)) == 0 && !*first_refused)
		memcpy(first_refused, entry,
		       sp_min(strcspn(entry, "="), sizeof(first_refused) - 1));
	return false;
}

static bool begins_as(const char *entry, const char *const *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strncmp(entry, name[i], strlen(name[i])) == 0)
			return true;
	return false;
}

static bool is_captured(const char *entry)
{
	if (sp_conf_privileged())
		return is_trusted(entry);
	if (strncmp(entry, PREFIX, strlen(PREFIX)) == 0)
		return true;
	return begins_as(entry, ranks, SP_COUNT(ranks)) ||
	       begins_as(entry, size_variables, SP_COUNT(size_variables)) ||
	       begins_as(entry, local_size_variables, SP_COUNT(local_size_variables)) ||
	       begins_as(entry, jobs, SP_COUNT(jobs)) || begins_as(entry, steps, SP_COUNT(steps));
}

static void capture_entry(const char *entry)
{
	size_t n = strlen(entry) + 1;

	if (captured_used + n + 1 > sizeof(captured))
		/* treated as unset; a longer path could not be used anyway */
		return;
	memcpy(captured + captured_used, entry, n);
	captured_used += n;
	captured[captured_used] = 0;
}

/* Capture the variables that %q{NAME} in the output's template names. */
static void capture_quoted(char **environment)
{
	const char *output = sp_conf_env("SSPAPI_OUTPUT");

	for (const char *q = output; q && (q = strstr(q, "%q{")) != NULL; q++) {
		size_t n = strcspn(q + 3, "}");

		for (char **e = environment; e && *e; e++)
			if (strncmp(*e, q + 3, n) == 0 && (*e)[n] == '=')
				capture_entry(*e);
	}
}

void sp_conf_capture(char **environment)
{
	if (captured_used)		/* do not touch the page otherwise */
		captured[captured_used = 0] = 0;
	for (char **e = environment; e && *e; e++)
		if (((*e)[0] == 'S' || (*e)[0] == 'O' || (*e)[0] == 'P' || (*e)[0] == 'M' ||
		     (*e)[0] == 'L' || (*e)[0] == 'J') &&
		    is_captured(*e))
			capture_entry(*e);
	capture_quoted(environment);
}

const char *sp_conf_env(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = captured; captured_used && *p; p += strlen(p) + 1)
		if (strncmp(p, name, n) == 0 && p[n] == '=')
			return p + n + 1;
	return NULL;
}

/* ---- values ----------------------------------------------------------- */

static bool number(const char *text, long *value)
{
	long v = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || v > 100000000000000000)
			return false;
		v = v * 10 + (*text - '0');
	}
	*value = v;
	return true;
}

struct complaint {
	void (*report_line)(const char *, void *);
	void *arg;
};

static void complain(const struct complaint *to, const struct sp_conf_row *row, const char *value,
		     const char *why, const char *instead)
{
	char line[900], begin[81] = "";

	strncpy(begin, value, sizeof(begin) - 1);
	to->report_line(sp_text_f(line, sizeof(line), "%s: '%s%s' %s; using %s", row->name, begin,
				  strlen(value) > 80 ? "..." : "", why, instead),
			to->arg);
}

/* ---- unknown names ---------------------------------------------------- */

#define NAME	32u			/* letters of a name that are compared */

unsigned sp_conf_edits(const char *a, const char *b, unsigned most)
{
	unsigned rows[3][SP_CONF_EDITS + 1], *last = rows[0], *before = rows[1], *row = rows[2];
	unsigned n = (unsigned)strnlen(b, most);

	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 0; a[i] && i < most; i++) {
		unsigned *oldest = last;

		last = before;
		before = row;
		row = oldest;
		row[0] = i + 1;
		for (unsigned k = 1; k <= n; k++) {
			row[k] = sp_min(before[k - 1] + ((a[i] | 32) != (b[k - 1] | 32)),
					sp_min(before[k], row[k - 1]) + 1);
			if (i && k > 1 && (a[i] | 32) == (b[k - 2] | 32) &&
			    (a[i - 1] | 32) == (b[k - 1] | 32))
				row[k] = sp_min(row[k], last[k - 2] + 1);
		}
	}
	return row[n];
}

/* The variable that an unknown name probably means: one that begins with it, or differs in few
 * letters; NULL if no name is similar. */
static const char *find_similar(const char *name)
{
	const char *found = NULL;
	unsigned best;

	name += strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? strlen(PREFIX) : 0;
	best = sp_max((unsigned)strlen(name) / 3, 2u);
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const char *row = sp_conf_rows[i].name + strlen(PREFIX);
		bool begins = strlen(name) > 2 && strncasecmp(row, name, strlen(name)) == 0;
		unsigned n = begins ? 1 : sp_conf_edits(name, row, NAME);

		if (n < best || (n == best && !found)) {
			best = n;
			found = sp_conf_rows[i].name;
		}
	}
	return found;
}

static void complain_unknown(const struct complaint *to)
{
	for (const char *p = captured; *p; p += strlen(p) + 1) {
		char line[256], name[128] = "";
		const char *meant;

		if (strncmp(p, PREFIX, strlen(PREFIX)) != 0 || row_of_entry(p))
			continue;
		memcpy(name, p, sp_min(strcspn(p, "="), sizeof(name) - 1));
		meant = find_similar(name);
		to->report_line(sp_text_f(line, sizeof(line), "%s: unknown variable; %s%s%s", name,
					  meant ? "do you mean " : "",
					  meant ? meant : "sspapi env lists all variables",
					  meant ? "?" : ""),
				to->arg);
	}
}

/* ---- values of each kind ----------------------------------------------------- */

static void read_word(struct sp_conf *c, const struct sp_conf_row *row, const char *value,
		      const struct complaint *to)
{
	long *at = (long *)((char *)c + row->at);
	char why[128] = "is not one of ";

	for (long i = 0; row->words[i]; i++) {
		if (strcmp(value, row->words[i]) == 0) {
			*at = i;
			return;
		}
		if (strcmp(row->fallback, row->words[i]) == 0)
			*at = i;
	}
	strcat(why, row->values);
	if (*value)
		complain(to, row, value, why, row->fallback);
}

static void read_number(struct sp_conf *c, const struct sp_conf_row *row, const char *value,
			const struct complaint *to)
{
	long *at = (long *)((char *)c + row->at), v;
	char why[96];

	if (*value && number(value, &v) && v >= row->least && v <= row->most) {
		*at = v;
		return;
	}
	if (!number(row->fallback, at))
		*at = -1;		/* a default in words has no number */
	if (!*value || strcmp(value, row->fallback) == 0)
		return;
	sp_text_f(why, sizeof(why),
		  strncmp(row->values, "auto", 4) == 0
			  ? "is neither auto nor a number from %ld to %ld"
			  : "is not a number from %ld to %ld",
		  row->least, row->most);
	complain(to, row, value, why, row->fallback);
}

static void read_text(struct sp_conf *c, const struct sp_conf_row *row, const char *value,
		      const struct complaint *to)
{
	char *at = (char *)c + row->at;

	*at = 0;
	if (strlen(value) < row->room)
		strcpy(at, value);
	else
		complain(to, row, value, "is too long", row->fallback);
}

/* The formats if SSPAPI_FORMAT is unset. */
static const char *usual_format(const struct sp_conf *c)
{
	const struct sp_format *format = sp_format_by_extension(c->output);

	if (c->output_set)
		return !format				    ? "text"
		       : !(format->can & SP_CAN_IN_PROCESS) ? "store"
							    : format->name;
	return sp_conf_rank() < 0 ? "text,store" : "store";
}

/* Ignore the whole list if one of its names is not a format. */
static void check_format(struct sp_conf *c, const struct sp_conf_row *row,
			 const struct complaint *to)
{
	for (const char *p = c->format; *p;) {
		size_t n = strcspn(p, ",");
		const struct sp_format *format = sp_format_by_name(p, n);

		if (!format || !(format->can & SP_CAN_IN_PROCESS)) {
			char bad[sizeof(c->format)];

			memcpy(bad, p, n);
			bad[n] = 0;
			complain(to, row, bad, "is not one of " SP_FORMAT_NAMES(", "),
				 usual_format(c));
			c->format[0] = 0;
			break;
		}
		p += n + (p[n] == ',');
	}
	if (!*c->format && !c->output_set)
		strcpy(c->format, usual_format(c));
}

/* Write a store instead of a format that only the command makes; the message gives the command that
 * makes it. */
static void check_made_format(struct sp_conf *c, const struct sp_conf_row *row,
			      const struct complaint *to)
{
	const struct sp_format *format = sp_format_by_extension(c->output),
			       *store = &sp_formats[SP_FORMAT_store];
	/* read once; the application's stack may be small */
	static char given[sizeof(c->output)];
	char why[700];
	size_t n;

	if (!c->output_set || *c->format || !format || format->can & SP_CAN_IN_PROCESS)
		return;
	strcpy(given, c->output);
	n = strlen(given) - strlen(format->extension);
	if (n + strlen(store->extension) >= sizeof(c->output))
		return;
	strcpy(c->output + n, store->extension);
	strcpy(c->format, store->name);
	sp_text_f(why, sizeof(why), "is made by the command: sspapi report -o %s %s", given,
		  c->output);
	complain(to, row, given, why, c->output);
}

/* Count only the ranks of the list; a process without a rank is always counted. */
static void check_ranks(struct sp_conf *c, const struct sp_conf_row *row,
			const struct complaint *to)
{
	uint64_t least, most;
	const char *p = c->ranks;

	while (p && *p)
		if ((p = sp_cpu_range(p, &least, &most)) != NULL &&
		    (most < least || strchr(c->ranks, '\n')))
			p = NULL;
	if (!p) {
		complain(to, row, c->ranks, "is not a list of ranks (as 0,64-67)", row->fallback);
		c->ranks[0] = 0;
	}
	if (*c->ranks && sp_conf_rank() >= 0 && !sp_cpu_in_list(c->ranks, (uint64_t)sp_conf_rank()))
		c->disable = 1;
}

/* Accept 0, 1 or a path. Whether the folder exists shows when the store is made. */
static void check_live(struct sp_conf *c, const struct sp_conf_row *row, const struct complaint *to)
{
	if (!*c->live)
		strcpy(c->live, row->fallback);
	if (strcmp(c->live, "0") != 0 && strcmp(c->live, "1") != 0 && !strchr(c->live, '/')) {
		complain(to, row, c->live,
			 "is not 0, 1 or the path of a folder (with a / in it: ./live)",
			 row->fallback);
		strcpy(c->live, row->fallback);
	}
}

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "HUP", SIGHUP }, { "URG", SIGURG },
	{ "WINCH", SIGWINCH },
	{ "IO", SIGIO }, { "PWR", SIGPWR }, { "ALRM", SIGALRM }, { "VTALRM", SIGVTALRM },
	{ "PROF", SIGPROF },
	{ "TERM", SIGTERM }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "CONT", SIGCONT },
};
#define SIGNALS "USR1, USR2, HUP, URG, WINCH, IO, PWR, ALRM, VTALRM, PROF, TERM, INT, QUIT, CONT"

static void check_signal(struct sp_conf *c, const struct sp_conf_row *row,
			 const struct complaint *to)
{
	const char *name = strncmp(c->signal, "SIG", 3) == 0 ? c->signal + 3 : c->signal;

	for (unsigned i = 0; i < SP_COUNT(signals); i++)
		if (strcmp(name, signals[i].name) == 0)
			c->signal_number = signals[i].number;
	if (*c->signal && !c->signal_number)
		complain(to, row, c->signal, "is not one of " SIGNALS, row->fallback);
}

static bool is_dir(const char *path)
{
	size_t n = strlen(path);
	int fd;

	if (n && path[n - 1] == '/')
		return true;
	fd = sp_open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	sp_close(fd);
	return fd >= 0;
}

/* The fault of a template, or NULL. It may use only %p %h %e %r %j %s %q{NAME} %%. */
static const char *wrong_output(const char *output)
{
	for (const char *p = output; (p = strchr(p, '%')) != NULL; p += 2)
		if (!p[1] || !strchr("pherjsq%", p[1]) ||
		    (p[1] == 'q' && (p[2] != '{' || !strchr(p, '}'))))
			return "has an unknown % letter (known: %p %h %e %r %j %s %q{NAME} %%)";
	return *output && strcmp(output, "-") != 0 && is_dir(output)
		       ? "is a folder: name a file in it (FOLDER/sspapi.%p.txt)"
		       : NULL;
}

static void check_output(struct sp_conf *c, const struct sp_conf_row *row,
			 const struct complaint *to)
{
	const char *wrong = wrong_output(c->output);

	if (wrong) {
		complain(to, row, c->output, wrong, row->fallback);
		c->output[0] = 0;
	}
	c->output_set = *c->output;
	if (!*c->output)
		strcpy(c->output, sp_conf_rank() < 0 ? row->fallback : sp_conf_rank_output);
}

static const struct sp_conf_row *row_of(const void *field, const struct sp_conf *c)
{
	unsigned i = 0;

	while (sp_conf_rows[i].at != (size_t)((const char *)field - (const char *)c))
		i++;
	return &sp_conf_rows[i];
}

static void read_row(struct sp_conf *c, const struct sp_conf_row *row, const struct complaint *to)
{
	const char *value = sp_conf_env(row->name);

	if (row->kind == SP_CONF_WORD)
		read_word(c, row, value ? value : "", to);
	else if (row->kind == SP_CONF_NUMBER)
		read_number(c, row, value ? value : "", to);
	else
		read_text(c, row, value ? value : "", to);
}

void sp_conf_read(struct sp_conf *c, void (*report_line)(const char *line, void *arg), void *arg)
{
	struct complaint to = { report_line, arg };
	char line[256];

	memset(c, 0, sizeof(*c));
	/* Read it first: it decides whether complaints about the others are shown. */
	read_row(c, row_of(&c->verbose, c), &to);
	for (unsigned i = 0; i < sp_conf_n_rows; i++)
		if (&sp_conf_rows[i] != row_of(&c->verbose, c))
			read_row(c, &sp_conf_rows[i], &to);
	check_output(c, row_of(c->output, c), &to);
	check_format(c, row_of(c->format, c), &to);
	check_made_format(c, row_of(c->output, c), &to);
	check_ranks(c, row_of(c->ranks, c), &to);
	check_live(c, row_of(c->live, c), &to);
	check_signal(c, row_of(c->signal, c), &to);
	if (sp_conf_privileged())
		/* the user who started the program could change the file, or keep the program from
		 * removing it */
		strcpy(c->live, "0");
	if (*first_refused)
		report_line(sp_text_f(line, sizeof(line),
				      "%s: all variables are ignored: this program has more rights "
				      "than its user (set-user-ID, capabilities)",
				      first_refused),
			    arg);
	else
		complain_unknown(&to);
}

static long number_of(const char *const *name, unsigned n)
{
	long value;

	for (unsigned i = 0; i < n; i++) {
		const char *v = sp_conf_env(name[i]);

		if (v && number(v, &value))
			return value;
	}
	return -1;
}

long sp_conf_rank(void)
{
	return number_of(ranks, SP_COUNT(ranks));
}

long sp_conf_ranks(void)
{
	return number_of(size_variables, SP_COUNT(size_variables));
}

long sp_conf_local_ranks(void)
{
	long n = number_of(local_size_variables, SP_COUNT(local_size_variables));

	return n > 0 ? n : sp_conf_rank() < 0 ? 1 : 0;
}

static const char *first_of(const char *const *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const char *v = sp_conf_env(name[i]);

		if (v && *v)
			return v;
	}
	return NULL;
}

const char *sp_conf_job(void)
{
	return first_of(jobs, SP_COUNT(jobs));
}

const char *sp_conf_step(void)
{
	return first_of(steps, SP_COUNT(steps));
}

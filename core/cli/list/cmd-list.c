/* cmd-list.c: `sspapi list`: lists the events that can be counted here. */
#include "../probe/kernel-events.h"
#include "../probe/list.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"

#define COLUMNS_MOST	80u
#define NAME_COLUMNS	28u		/* longer names are not cut */
#define PERF_COLUMNS	22u
#define TEXT_LEAST	16u		/* no text is shown in fewer columns */
#define INDENT		6u		/* of lines that continue another */

struct list {
	const char *word;		/* NULL: all */
	unsigned columns;		/* of a line, at most COLUMNS_MOST */
	unsigned n;			/* events listed so far */
	char title[160];		/* heading of the next event; "" once printed */
	const char *no_counters;	/* why hardware events cannot be counted; NULL: they can */
	bool of_cpu;			/* the current component is PAPI's of the CPU */
	unsigned uncounted;		/* its events that cannot be counted */
	struct unavailable {
		char *names, why[400];
		bool is_component;	/* reported whether it has the word or not */
	} *unavailable;
	uint32_t n_unavailable, unavailable_room;
};

/* Print words up to the last column, and continue in indented lines. used: columns of the line. */
static void print_wrapped(const struct list *l, size_t used, const char *text)
{
	bool first = true;

	for (size_t n; *text; text += n + (text[n] == ' '), first = false) {
		n = strcspn(text, " ");
		if (!first && used + 1 + n > l->columns) {
			printf("\n%*s", (int)INDENT, "");
			used = INDENT;
		} else if (!first) {
			putchar(' ');
			used++;
		}
		used += (size_t)printf("%.*s", (int)n, text);
	}
	putchar('\n');
}

/* Print a text behind a name; without a word, one that does not fit into the line is cut. */
static void print_text(const struct list *l, char *name, const char *text, bool cut)
{
	char *plain = sp_plain(text);
	size_t used = strlen(name), room = l->columns > used ? l->columns - used : 0,
	       n = strcspn(plain, "\n");

	plain[n] = 0;
	if (!n || (n > room && (!cut || room < TEXT_LEAST)))
		while (used && name[used - 1] == ' ')
			name[--used] = 0;
	fputs(name, stdout);
	if (n <= room)
		puts(plain);
	else if (!cut)
		printf("\n%*s", (int)INDENT, ""), print_wrapped(l, INDENT, plain);
	else if (room >= TEXT_LEAST)
		printf("%.*s...\n", (int)room - 3, plain);
	else
		putchar('\n');
	free(plain);
}

static void add_line(struct list *l, const char *name, const char *perf, const char *text)
{
	char *plain = sp_plain(name), *line;

	if (*l->title) {
		fputs(l->n ? "\n" : "", stdout);
		sp_print_plain(stdout, l->title);
		puts(":");
	}
	*l->title = 0;
	l->n++;
	if (asprintf(&line, "  %-*s  %-*s%s", (int)NAME_COLUMNS, plain,
		     perf ? (int)PERF_COLUMNS : 0, perf ? perf : "", perf ? "  " : "") < 0)
		sp_check_alloc(NULL);
	print_text(l, line, text, !perf && !l->word);
	free(line);
	free(plain);
}

static void set_title(struct list *l, const char *text)
{
	snprintf(l->title, sizeof(l->title), "%s", text);
}

/* Add a name to the last reason if that is the same. */
static void add_unavailable(struct list *l, const char *name, const char *why, bool is_component)
{
	struct unavailable *last = l->n_unavailable ? &l->unavailable[l->n_unavailable - 1] : NULL;
	char *names = NULL;

	if (!last || last->is_component != is_component || strcmp(last->why, why) != 0) {
		l->unavailable = sp_grow_array(l->unavailable, &l->unavailable_room,
					       ++l->n_unavailable, sizeof(*l->unavailable));
		last = &l->unavailable[l->n_unavailable - 1];
		snprintf(last->why, sizeof(last->why), "%s", why);
		last->is_component = is_component;
	}
	if (asprintf(&names, "%s%s%s", last->names ? last->names : "", last->names ? ", " : "",
		     name) < 0)
		sp_check_alloc(NULL);
	free(last->names);
	last->names = names;
}

/* List the kernel's events; those that cannot be counted are grouped by reason. */
static void list_kernel_events(struct list *l, bool software, const char *title)
{
	const struct sp_kernel_event *e;

	set_title(l, title);
	for (unsigned i = 0; (e = sp_kernel_event(i)) != NULL; i++) {
		char name[64] = "perf::", perf[64];
		const char *why;

		strcat(name, e->name);
		snprintf(perf, sizeof(perf), "%s%s%s", e->perf, e->perf_also ? ", " : "",
			 e->perf_also ? e->perf_also : "");
		if ((e->type == PERF_TYPE_SOFTWARE) != software)
			continue;
		if (l->word && !strcasestr(name, l->word) && !strcasestr(perf, l->word) &&
		    !strcasestr(e->description, l->word))
			continue;
		why = sp_kernel_event_why(
			e->type,
			sp_kernel_event_try_open(e, sp_kernel_event_is_kernel_only(e->type,
										   e->config)));
		if (why)
			add_unavailable(l, e->perf, why, false);
		else
			add_line(l, name, perf, e->description);
	}
	*l->title = 0;
}

/* List the io of a process, if the kernel counts it. */
static void list_io(struct list *l)
{
	set_title(l, "a process's io, which sspapi stat counts");
	for (unsigned i = 0; i < SP_IO_EVENTS && access("/proc/self/io", F_OK) == 0; i++) {
		char name[64] = "io:::";

		strcat(name, sp_io_events[i].name);
		if (!l->word || strcasestr(name, l->word) ||
		    strcasestr(sp_io_events[i].description, l->word))
			add_line(l, name, NULL, sp_io_events[i].description);
	}
	*l->title = 0;
}

/* Return whether the name is an attribute (EVENT:period=0) instead of an event. */
static bool is_modifier(const char *name)
{
	return strrchr(name, '=') && strrchr(name, '=') > strrchr(name, ':');
}

/* Without its component perf_event PAPI also refuses the kernel's events that are listed above. */
static void report_off(struct list *l, const char *name, const char *text)
{
	bool listed = l->n && strcmp(name, "perf_event") == 0;
	char why[400];

	snprintf(why, sizeof(why), "%s%s", text,
		 listed ? "; only sspapi stat counts perf:: events here, not PAPI" : "");
	add_unavailable(l, name, why, !listed);
}

static void print_event(void *list, enum sp_listed which, const char *name, const char *text)
{
	struct list *l = list;

	if (which == SP_LISTED_HEAD) {
		set_title(l, name);
		l->of_cpu = strcmp(name, SP_LISTED_CPUS) == 0;
	} else if (which == SP_LISTED_OFF) {
		report_off(l, name, text);
	} else if (l->of_cpu && sp_kernel_event_is_by_libpfm4(name)) {
		return;			/* listed by list_kernel_events() */
	} else if (l->of_cpu && l->no_counters) {
		l->uncounted += which == SP_LISTED_EVENT;
	} else if (which == SP_LISTED_EVENT || !is_modifier(name)) {
		add_line(l, name, NULL, text);
	}
}

/* Return whether a component that cannot be counted belongs to the word. */
static bool has_word(const struct list *l, const char *names)
{
	return strcasestr(names, l->word) || (strncasecmp(l->word, "PAPI_", 5) == 0 &&
					      strcmp(names, SP_LISTED_PRESETS) == 0);
}

/* Print the reasons for events that cannot be counted. Without an event of the word, the reason of
 * any component may explain why. */
static void print_unavailable(const struct list *l)
{
	bool any = l->n, first = true;

	for (uint32_t i = 0; i < l->n_unavailable; i++)
		any = any || !l->unavailable[i].is_component ||
		      (l->word && has_word(l, l->unavailable[i].names));
	for (uint32_t i = 0; i < l->n_unavailable; i++) {
		const struct unavailable *u = &l->unavailable[i];
		char *line, *plain;

		if (any && l->word && u->is_component && !has_word(l, u->names))
			continue;
		if (asprintf(&line, "%s: %s", u->names, u->why) < 0)
			sp_check_alloc(NULL);
		plain = sp_plain(line);
		fputs(first ? "\nnot here:\n  " : "  ", stdout);
		first = false;
		print_wrapped(l, 2, plain);
		free(plain);
		free(line);
	}
}

int sp_cmd_list(int argc, char **argv)
{
	struct list l = { 0 };
	const char *wrong;
	char papi[PATH_MAX] = "";

	if (sp_option(argc, argv, "", NULL, NULL) != -1)
		return 2;
	if (argc - optind > 1)
		return sp_complain(2, argv[0], "name at most one word", argv[optind + 1]);
	l.word = argc > optind && *argv[optind] ? argv[optind] : NULL;
	l.columns = (unsigned)sp_min(sp_terminal_columns(STDOUT_FILENO) ?: COLUMNS_MOST,
				     COLUMNS_MOST);
	sp_pager_start();
	list_kernel_events(&l, true, "the kernel's, as PAPI and perf call them");
	list_kernel_events(&l, false,
			   "the CPU's by the kernel's names, as PAPI and perf call them");
	list_io(&l);
	l.no_counters = sp_kernel_event_why(PERF_TYPE_HARDWARE, sp_kernel_try_counters());
	sp_program_libpapi(papi);
	wrong = sp_list_papi(papi, l.word, print_event, &l);
	if (wrong)
		add_unavailable(&l, "PAPI's events", wrong, true);
	if (l.uncounted) {
		char name[64];

		snprintf(name, sizeof(name), "%u event%s of this CPU", l.uncounted,
			 l.uncounted == 1 ? "" : "s");
		add_unavailable(&l, name, l.no_counters, false);
	}
	if (!l.n) {
		fputs("no event that can be counted here has '", stdout);
		sp_print_plain(stdout, l.word ? l.word : "");
		puts("' in its name or text");
	}
	print_unavailable(&l);
	sp_pager_wait();
	return l.n ? 0 : 1;
}

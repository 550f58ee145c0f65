/* cmd-list.c: `sspapi list`: lists the events that can be counted here. */
#include "../probe/kernel-events.h"
#include "../probe/list.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"

#define NAME_MOST	36u		/* columns of a name; longer names are not cut */

struct list {
	const char *word;		/* NULL: all */
	unsigned columns;		/* of the terminal; 0: no limit */
	unsigned n;			/* events listed so far */
	char title[160];		/* heading of the next event; "" once printed */
	const char *no_counters;	/* why hardware events cannot be counted; NULL: they can */
	bool of_cpu;			/* the current component is PAPI's of the CPU */
	unsigned uncounted;		/* its events that cannot be counted */
	struct unavailable {
		char *names, why[400];
	} *unavailable;
	uint32_t n_unavailable, unavailable_room;
};

/* Print as much of a text as fits into the line. */
static void add_text(const struct list *l, size_t used, const char *text)
{
	char *plain = sp_plain(text);
	size_t n = strcspn(plain, "\n");

	if (l->columns && used + n > l->columns)
		n = l->columns > used + 3 ? l->columns - used - 3 : 0, strcpy(plain + n, "..."),
		n += 3;
	printf("%.*s\n", (int)n, plain);
	free(plain);
}

static void add_line(struct list *l, const char *name, const char *perf, const char *text)
{
	char *plain = sp_plain(name);
	int used;

	if (*l->title) {
		fputs(l->n ? "\n" : "", stdout);
		sp_print_plain(stdout, l->title);
		puts(":");
	}
	*l->title = 0;
	l->n++;
	used = printf("  %-*s  ", (int)NAME_MOST, plain);
	free(plain);
	if (perf)
		used += printf("%-24s  ", perf);
	add_text(l, (size_t)used, text);
}

static void set_title(struct list *l, const char *text)
{
	snprintf(l->title, sizeof(l->title), "%s", text);
}

/* Add a name to the last reason if that is the same. */
static void add_unavailable(struct list *l, const char *name, const char *why)
{
	struct unavailable *last = l->n_unavailable ? &l->unavailable[l->n_unavailable - 1] : NULL;
	char *names = NULL;

	if (!last || strcmp(last->why, why) != 0) {
		l->unavailable = sp_grow_array(l->unavailable, &l->unavailable_room,
					       ++l->n_unavailable, sizeof(*l->unavailable));
		last = &l->unavailable[l->n_unavailable - 1];
		snprintf(last->why, sizeof(last->why), "%s", why);
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
			sp_kernel_event_opens(e, sp_kernel_event_is_inside(e->type, e->config)));
		if (why)
			add_unavailable(l, e->perf, why);
		else
			add_line(l, name, perf, e->description);
	}
	*l->title = 0;
}

/* Return whether the name is an attribute (EVENT:period=0) instead of an event. */
static bool is_modifier(const char *name)
{
	return strrchr(name, '=') && strrchr(name, '=') > strrchr(name, ':');
}

static void print_event(void *list, enum sp_listed which, const char *name, const char *text)
{
	struct list *l = list;

	if (which == SP_LISTED_HEAD) {
		set_title(l, name);
		l->of_cpu = strcmp(name, SP_LISTED_CPUS) == 0;
	} else if (which == SP_LISTED_OFF) {
		add_unavailable(l, name, text);
	} else if (l->of_cpu && sp_kernel_event_is_by_libpfm4(name)) {
		return;			/* listed by list_kernel_events() */
	} else if (l->of_cpu && l->no_counters) {
		l->uncounted += which == SP_LISTED_EVENT;
	} else if (which == SP_LISTED_EVENT || !is_modifier(name)) {
		add_line(l, name, NULL, text);
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
		return sp_complain(2, argv[0], "one word, or none", argv[optind + 1]);
	l.word = argc > optind && *argv[optind] ? argv[optind] : NULL;
	l.columns = sp_terminal_columns(STDOUT_FILENO);
	sp_pager_start();
	list_kernel_events(&l, true, "the kernel's, as PAPI and perf call them");
	list_kernel_events(&l, false,
			   "the CPU's by the kernel's names, as PAPI and perf call them");
	l.no_counters = sp_kernel_event_why(PERF_TYPE_HARDWARE, sp_kernel_counters());
	sp_program_libpapi(papi);
	wrong = sp_list_papi(papi, l.word, print_event, &l);
	if (wrong)
		add_unavailable(&l, "PAPI's events", wrong);
	if (l.uncounted) {
		char name[64];

		snprintf(name, sizeof(name), "%u event%s of this CPU", l.uncounted,
			 l.uncounted == 1 ? "" : "s");
		add_unavailable(&l, name, l.no_counters);
	}
	if (!l.n) {
		fputs("no event that can be counted here has '", stdout);
		sp_print_plain(stdout, l.word ? l.word : "");
		puts("' in its name or text");
	}
	for (uint32_t i = 0; i < l.n_unavailable; i++) {
		fputs(i ? "  " : "\nnot here:\n  ", stdout);
		sp_print_plain(stdout, l.unavailable[i].names);
		fputs(": ", stdout);
		sp_print_plain(stdout, l.unavailable[i].why);
		putchar('\n');
	}
	sp_pager_wait();
	return l.n ? 0 : 1;
}

/* cmd-list.c: what can be counted here, and how it is called. */
#include "../probe/kernel-events.h"
#include "../probe/list.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"

#define NAME_MOST	36u		/* columns of a name; what is longer stands out */

struct list {
	const char *word;		/* NULL: all */
	unsigned columns;		/* of the terminal, 0: lines are as long as they are */
	unsigned n;			/* events that were listed */
	char head[160];			/* of what comes; "" once it stands there */
	const char *no_counters;	/* why the CPU's own events count nothing here; NULL: they
					 * do */
	bool of_cpu;			/* what comes is PAPI's component for the CPU */
	unsigned uncounted;		/* of these */
	struct off {
		char *names, why[400];
	} *off;
	uint32_t n_off, off_room;
};

/* As much of a text as fits into what is left of a line. */
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

	if (*l->head) {
		fputs(l->n ? "\n" : "", stdout);
		sp_print_plain(stdout, l->head);
		puts(":");
	}
	*l->head = 0;
	l->n++;
	used = printf("  %-*s  ", (int)NAME_MOST, plain);
	free(plain);
	if (perf)
		used += printf("%-24s  ", perf);
	add_text(l, (size_t)used, text);
}

static void head(struct list *l, const char *text)
{
	snprintf(l->head, sizeof(l->head), "%s", text);
}

/* Behind those for the same reason that came just before. */
static void is_off(struct list *l, const char *name, const char *why)
{
	struct off *last = l->n_off ? &l->off[l->n_off - 1] : NULL;
	char *names = NULL;

	if (!last || strcmp(last->why, why) != 0) {
		l->off = sp_grow_array(l->off, &l->off_room, ++l->n_off, sizeof(*l->off));
		last = &l->off[l->n_off - 1];
		snprintf(last->why, sizeof(last->why), "%s", why);
	}
	if (asprintf(&names, "%s%s%s", last->names ? last->names : "", last->names ? ", " : "",
		     name) < 0)
		sp_check_alloc(NULL);
	free(last->names);
	last->names = names;
}

/* Those that cannot be counted for one reason are one line. */
static void kernels(struct list *l, bool software, const char *title)
{
	const struct sp_kernel_event *e;

	head(l, title);
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
			is_off(l, e->perf, why);
		else
			add_line(l, name, perf, e->description);
	}
	*l->head = 0;
}

/* Not what the event counts, but when and of whom: EVENT:period=0 */
static bool is_modifier(const char *name)
{
	return strrchr(name, '=') && strrchr(name, '=') > strrchr(name, ':');
}

static void print_event(void *list, enum sp_listed which, const char *name, const char *text)
{
	struct list *l = list;

	if (which == SP_LISTED_HEAD) {
		head(l, name);
		l->of_cpu = strcmp(name, SP_LISTED_CPUS) == 0;
	} else if (which == SP_LISTED_OFF) {
		is_off(l, name, text);
	} else if (l->of_cpu && sp_kernel_event_is_by_libpfm4(name)) {
		return;			/* in the tables above already */
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
	kernels(&l, true, "the kernel's, as PAPI and perf call them");
	kernels(&l, false, "the CPU's by the kernel's names, as PAPI and perf call them");
	l.no_counters = sp_kernel_event_why(PERF_TYPE_HARDWARE, sp_kernel_try_counters());
	sp_program_libpapi(papi);
	wrong = sp_list_papi(papi, l.word, print_event, &l);
	if (wrong)
		is_off(&l, "PAPI's events", wrong);
	if (l.uncounted) {
		char name[64];

		snprintf(name, sizeof(name), "%u event%s of this CPU", l.uncounted,
			 l.uncounted == 1 ? "" : "s");
		is_off(&l, name, l.no_counters);
	}
	if (!l.n) {
		fputs("no event that can be counted here has '", stdout);
		sp_print_plain(stdout, l.word ? l.word : "");
		puts("' in its name or text");
	}
	for (uint32_t i = 0; i < l.n_off; i++) {
		fputs(i ? "  " : "\nnot here:\n  ", stdout);
		sp_print_plain(stdout, l.off[i].names);
		fputs(": ", stdout);
		sp_print_plain(stdout, l.off[i].why);
		putchar('\n');
	}
	sp_pager_wait();
	return l.n ? 0 : 1;
}

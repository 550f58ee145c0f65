/* cmd-list.c: what can be counted here, and how it is called. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../preload/asked/kernel-events.h"
#include "../../../preload/asked/list.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"

#define NAME_MOST	36u		/* columns of a name; what is longer stands out */

struct list {
	const char *word;		/* NULL: all */
	unsigned columns;		/* of the terminal, 0: lines are as long as they are */
	unsigned n;			/* events that were listed */
	char head[160];			/* of what comes; "" once it stands there */
	const char *no_counters;	/* why the CPU's own events count nothing here; NULL: they do */
	bool of_cpu;			/* what comes is PAPI's component for the CPU */
	unsigned uncounted;		/* of these */
	struct off {
		char name[400], why[400];
	} *off;
	uint32_t n_off, off_room;
};

/* As much of a text as fits into what is left of a line. */
static void put_text(const struct list *l, size_t used, const char *text)
{
	char *plain = sp_plain(text);
	size_t n = strcspn(plain, "\n");

	if (l->columns && used + n > l->columns)
		n = l->columns > used + 3 ? l->columns - used - 3 : 0, strcpy(plain + n, "..."), n += 3;
	printf("%.*s\n", (int)n, plain);
	free(plain);
}

static void put(struct list *l, const char *name, const char *perf, const char *text)
{
	int used;

	if (*l->head)
		printf("%s%s:\n", l->n ? "\n" : "", l->head);
	*l->head = 0;
	l->n++;
	used = printf("  %-*s  ", (int)NAME_MOST, name);
	if (perf)
		used += printf("%-24s  ", perf);
	put_text(l, (size_t)used, text);
}

static void head(struct list *l, const char *text)
{
	snprintf(l->head, sizeof(l->head), "%s", text);
}

static void is_off(struct list *l, const char *name, const char *why)
{
	l->off = sp_room(l->off, &l->off_room, ++l->n_off, sizeof(*l->off));
	snprintf(l->off[l->n_off - 1].name, sizeof(l->off->name), "%s", name);
	snprintf(l->off[l->n_off - 1].why, sizeof(l->off->why), "%s", why);
}

/* ---- the kernel's ---------------------------------------------------------------- */

static bool is_wanted(const struct list *l, const char *name, const char *perf, const char *text)
{
	return !l->word || strcasestr(name, l->word) || (perf && strcasestr(perf, l->word)) || strcasestr(text, l->word);
}

static void kernels(struct list *l, bool software, const char *title)
{
	char names[400] = "";
	const char *because = NULL;
	const struct sp_kernel_event *e;

	head(l, title);
	for (unsigned i = 0; (e = sp_kernel_event(i)) != NULL; i++) {
		char name[64] = "perf::", perf[64];
		const char *why;

		if ((e->type == PERF_TYPE_SOFTWARE) != software || !is_wanted(l, e->name, e->perf, e->description))
			continue;
		why = sp_kernel_event_why(e->type, sp_kernel_event_opens(e));
		strcat(name, e->name);
		snprintf(perf, sizeof(perf), "%s%s%s", e->perf, e->perf_also ? ", " : "", e->perf_also ? e->perf_also : "");
		if (!why)
			put(l, name, perf, e->description);
		if (why && because && strcmp(why, because) != 0) {
			is_off(l, names, because);
			*names = 0;
		}
		if (why && strlen(names) + strlen(e->perf) + 3 < sizeof(names))
			strcat(strcat(names, *names ? ", " : ""), e->perf);
		because = why ? why : because;
	}
	if (because && *names)
		is_off(l, names, because);
	*l->head = 0;
}

/* ---- PAPI's ---------------------------------------------------------------------- */

/* In the tables above already, by this name or by the kernel's own (PERF_COUNT_...). */
static bool is_kernels(const char *name)
{
	char known[128];
	struct perf_event_attr a;

	return strncmp(name, "perf::", 6) == 0 &&
	       (strncmp(name + 6, "PERF_COUNT_", 11) == 0 || sp_kernel_event_named(name, &a, known, sizeof(known)));
}

/* Not what the event counts, but when and of whom: EVENT:period=0 */
static bool is_modifier(const char *name)
{
	return strrchr(name, '=') && strrchr(name, '=') > strrchr(name, ':');
}

static void told(void *list, enum sp_listed which, const char *name, const char *text)
{
	struct list *l = list;

	if (which == SP_LISTED_HEAD) {
		head(l, name);
		l->of_cpu = strcmp(name, SP_LISTED_CPUS) == 0;
	} else if (which == SP_LISTED_OFF) {
		is_off(l, name, text);
	} else if (l->of_cpu && is_kernels(name)) {
		return;
	} else if (l->of_cpu && l->no_counters) {
		l->uncounted += which == SP_LISTED_EVENT;
	} else if (which == SP_LISTED_EVENT || !is_modifier(name)) {
		put(l, name, NULL, text);
	}
}

int sp_cmd_list(int argc, char **argv)
{
	static const struct option longs[] = { { NULL, 0, NULL, 0 } };
	struct list l = { 0 };
	const char *wrong;
	char papi[PATH_MAX] = "";
	int at = 0;

	if (sp_option(argc, argv, "", longs, &at, "the options are --help, --version") != -1)
		return 2;
	if (argc - optind > 1)
		return sp_complain(2, argv[0], "one word, or none", argv[optind + 1]);
	l.word = argc > optind && *argv[optind] ? argv[optind] : NULL;
	l.columns = sp_terminal_columns(STDOUT_FILENO);
	sp_pager_start();
	kernels(&l, true, "the kernel's, as PAPI and perf call them");
	kernels(&l, false, "the CPU's by the kernel's names, as PAPI and perf call them");
	l.no_counters = sp_kernel_event_why(PERF_TYPE_HARDWARE, sp_kernel_counters());
	sp_program_libpapi(papi);
	wrong = sp_list_papi(papi, l.word, told, &l);
	if (wrong)
		is_off(&l, "PAPI's events", wrong);
	if (l.uncounted) {
		char name[64];

		snprintf(name, sizeof(name), "%u event%s of this CPU", l.uncounted, l.uncounted == 1 ? "" : "s");
		is_off(&l, name, l.no_counters);
	}
	if (!l.n)
		printf("no event that can be counted here has '%s' in its name or text\n", l.word ? l.word : "");
	for (uint32_t i = 0; i < l.n_off; i++) {
		char *why = sp_plain(l.off[i].why);

		printf("%s  %s: %s\n", i ? "" : "\nnot here:\n", l.off[i].name, why);
		free(why);
	}
	free(l.off);
	sp_pager_wait();
	return l.n ? 0 : 1;
}

/* help.c: what --help says; shell completion reads it, too (scripts/completion/). */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../conf.h"
#include "cmd.h"
#include "level.h"
#include "metrics.h"

void sp_help_verb(FILE *to, const struct sp_cmd *c)
{
	fprintf(to, "  sspapi %s%s%s\n      %s\n", c->name, *c->usage ? " " : "", c->usage, c->help);
}

/* Of run: an option for each variable. */
static void variables(void)
{
	puts("\nand for each variable (sspapi env, libsspapi(7)):");
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const struct sp_conf_row *row = &sp_conf_rows[i];
		char name[32];

		snprintf(name, sizeof(name), "%s", row->name + strlen("SSPAPI_"));
		for (char *p = name; *p; p++)
			*p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
		printf("  --%-16s %s (%s)\n", name, row->help, row->values);
	}
}

static void levels(void)
{
	struct option longs[SP_LEVEL_OPTIONS + 1];
	unsigned n = sp_level_options(longs);

	fputs("\nlevels:", stdout);
	for (unsigned i = 0; i < n; i++)
		printf(" --%s", longs[i].name);
	putchar('\n');
}

/* The usual ones, by name, with what they are. */
static void metrics(void)
{
	struct sp_metrics *t = sp_metrics_usual();

	if (!t)
		return;
	puts("\nmetrics for -m, beside `default` and files of definitions:");
	for (uint32_t i = 0; i < t->n; i++)
		printf("  %-20s %s\n", t->at[i].name, t->at[i].note);
	sp_metrics_forget();
}

void sp_help(const struct sp_cmd *c)
{
	puts("usage:");
	sp_help_verb(stdout, c);
	if (strcmp(c->name, "run") == 0)
		variables();
	if (strstr(c->usage, "--per-LEVEL"))
		levels();
	if (strstr(c->usage, "-m METRICS"))
		metrics();
	puts("\nman sspapi tells the rest");
}

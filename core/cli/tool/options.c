/* options.c: parses a verb's options with getopt_long(3), with -h, --help, -V and --version for
 * all verbs, and reports wrong ones in one line. */
#include <getopt.h>

#include "cmd.h"
#include "other-tools.h"
#include "suggest.h"

#define MOST 64u			/* options per verb: run has one per variable */
#define HELP 1				/* values of our options; those of verbs are letters or
					 * larger */
#define VERSION 2

/* Returns the option as written: a long one entirely, a letter without its neighbours. */
static const char *written(char *const *argv, const struct option *longs, int c, char letter[3])
{
	const char *arg = argv[optind - 1];
	bool is_long = optopt == 0 || c == ':';

	for (const struct option *l = longs; l->name; l++)
		is_long = is_long || (optopt == l->val && strchr(arg, '='));
	if (is_long && strncmp(arg, "--", 2) == 0)
		return arg;
	letter[0] = '-';
	letter[1] = (char)optopt;
	letter[2] = 0;
	return letter;
}

#define NAME 40u			/* of an option with --; longer ones are wrong */

/* "unrecognized option; do you mean --per-core?" */
static void unrecognized(char *text, size_t room, const struct option *longs, const char *option)
{
	char names[MOST][NAME], wanted[NAME];
	const char *name[MOST];
	unsigned n = 0;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(option, "="), option);
	for (const struct option *l = longs; l->name; l++, n++) {
		snprintf(names[n], sizeof(names[n]), "--%.*s", (int)NAME - 3, l->name);
		name[n] = names[n];
	}
	snprintf(text, room, "unrecognized option");
	if (wanted[1] == '-')
		sp_suggest_nearest(wanted, name, n, text, room);
}

static int wrong(char *const *argv, const struct option *longs, int c)
{
	char letter[3], text[400], what[200] = "this option needs a value";
	const char *option = written(argv, longs, c, letter);
	const char *advice = c == ':' ? NULL : sp_other_option(argv[0], option);

	if (advice) {
		sp_complain(2, argv[0], advice, option);
		return '?';
	}
	if (c != ':' && optopt && strchr(argv[optind - 1], '='))
		snprintf(what, sizeof(what), "this option takes no value");
	else if (c != ':')
		unrecognized(what, sizeof(what), longs, option);
	snprintf(text, sizeof(text), "%s (sspapi help %s lists the options)", what, argv[0]);
	sp_complain(2, argv[0], text, option);
	return '?';
}

int sp_option(int argc, char **argv, const char *letters, const struct option *longs, int *at)
{
	struct option all[MOST];
	char text[32];
	unsigned n = 0;
	int c;

	while (longs && longs[n].name && n < MOST - 3) {
		all[n] = longs[n];
		n++;
	}
	all[n] = (struct option){ "help", no_argument, NULL, HELP };
	all[n + 1] = (struct option){ "version", no_argument, NULL, VERSION };
	all[n + 2] = (struct option){ NULL, 0, NULL, 0 };
	/* ":" after a "+" distinguishes a missing value. */
	snprintf(text, sizeof(text), "%s:hV%s", *letters == '+' ? "+" : "",
		 letters + (*letters == '+'));
	opterr = 0;
	c = getopt_long(argc, argv, text, all, at);
	if (c == HELP || c == 'h' || c == VERSION || c == 'V')
		exit(sp_about(argv[0], c == HELP || c == 'h'));
	if (c >= SP_LEVEL_FIRST)
		return 'L';
	return c == '?' || c == ':' ? wrong(argv, all, c) : c;
}

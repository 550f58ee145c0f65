/* cmd-env.c: `sspapi env`, which lists the variables with their values, defaults and meanings. */
#include "../../base/conf.h"
#include "../tool/cmd.h"
#include "../tool/suggest.h"

static void print_row(const struct sp_conf_row *row)
{
	const char *value = getenv(row->name);
	char text[1024];

	printf("%s=", row->name);
	sp_print_plain(stdout, value ? value : "");
	putchar('\n');
	sp_print_paragraph(stdout, "    ", 4, row->help);
	snprintf(text, sizeof(text), "values: %s; default: %s", row->values, row->fallback);
	sp_print_paragraph(stdout, "    ", 4, text);
}

/* Prints the variable of this name, which may lack the prefix SSPAPI_. */
static int print_named(const char *verb, const char *name)
{
	const char *names[64];
	char text[300] = "no such variable";
	size_t prefix = strncasecmp(name, "SSPAPI_", 7) == 0 ? 0 : 7;
	unsigned n = 0;

	for (; n < sp_conf_n_rows && n < SP_COUNT(names); n++) {
		names[n] = sp_conf_rows[n].name;
		if (strcasecmp(names[n] + prefix, name) == 0) {
			print_row(&sp_conf_rows[n]);
			return 0;
		}
	}
	sp_suggest_nearest(name, names, n, text, sizeof(text));
	return sp_complain(2, verb, text, name);
}

int sp_cmd_env(int argc, char **argv)
{
	int status = 0;

	if (sp_option(argc, argv, "", NULL, NULL) != -1)
		return 2;
	for (int i = optind; i < argc; i++)
		status = print_named(argv[0], argv[i]) ?: status;
	for (unsigned i = 0; optind >= argc && i < sp_conf_n_rows; i++)
		print_row(&sp_conf_rows[i]);
	return status;
}

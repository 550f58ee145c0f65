/* cmd-env.c: every variable, its value now, its default and what it means. */
#include <stdlib.h>

#include "../conf.h"
#include "cmd.h"

int sp_cmd_env(int argc, char **argv)
{
	if (argc > 1)
		return sp_complain(2, argv[0], "takes no arguments", argv[1]);
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const struct sp_conf_row *row = &sp_conf_rows[i];
		const char *value = getenv(row->name);

		printf("%s=%s\n    %s\n    values: %s; default: %s\n", row->name, value ? value : "", row->help, row->values,
		       row->fallback);
	}
	return 0;
}

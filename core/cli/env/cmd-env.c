/* cmd-env.c: `sspapi env`, which lists each variable with its value, default and meaning. */
#include "../../base/conf.h"
#include "../tool/cmd.h"

int sp_cmd_env(int argc, char **argv)
{
	if (sp_option(argc, argv, "", NULL, NULL) != -1)
		return 2;
	if (optind < argc)
		return sp_complain(2, argv[0], "takes no arguments", argv[optind]);
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const struct sp_conf_row *row = &sp_conf_rows[i];
		const char *value = getenv(row->name);

		printf("%s=", row->name);
		sp_print_plain(stdout, value ? value : "");
		printf("\n    %s\n    values: %s; default: %s\n", row->help, row->values,
		       row->fallback);
	}
	return 0;
}

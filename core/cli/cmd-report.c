/* cmd-report.c: shows a store, or a dead process's live file, in any form. */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

int sp_cmd_report(int argc, char **argv)
{
	const struct sp_view *view = sp_view_by_name("text", 4);
	static char buffer[65536];
	struct sp_file f;
	struct sp_out o;
	int c, r;

	while ((c = getopt(argc, argv, "+f:")) != -1) {
		view = c == 'f' ? sp_view_by_name(optarg, strlen(optarg)) : NULL;
		if (!view)
			return sp_complain(2, argv[0], "-f takes text, json, csv, hwloc or store", c == 'f' ? optarg : NULL);
	}
	if (argc - optind != 1)
		return sp_complain(2, argv[0], "name one file", NULL);
	if (sp_file_open(&f, argv[0], argv[optind]))
		return 1;
	sp_out_init(&o, STDOUT_FILENO, buffer, sizeof(buffer));
	view->write(&o, &f.model);
	r = sp_out_finish(&o);
	if (r < 0)
		r = sp_complain(1, argv[0], strerror(-r), "standard output");
	else if (f.model.damaged)
		r = sp_complain(1, argv[0], "damaged: what could be read is shown", argv[optind]);
	sp_file_close(&f);
	return r;
}

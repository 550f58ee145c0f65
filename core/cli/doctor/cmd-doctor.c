/* cmd-doctor.c: `sspapi doctor`, which reports what would prevent counts here, or for a program,
 * and how to fix it. */
#include <getopt.h>

#include "../tool/cmd.h"
#include "../tool/terminal.h"
#include "doctor.h"

static void summary(const struct sp_doctor *d)
{
	if (d->n_blocking)
		printf("\n%u %s counting%s", d->n_blocking,
		       d->n_blocking == 1 ? "problem prevents" : "problems prevent",
		       d->n_blocking == 1 && d->only_hardware ? " hardware events" : "");
	else
		printf("\nNothing prevents counting");
	if (d->worth)
		printf("; %u %s worth knowing", d->worth, d->worth == 1 ? "is" : "are");
	puts(".");
}

int sp_cmd_doctor(int argc, char **argv)
{
	struct sp_doctor d = { .verb = argv[0],
			       .colour = sp_terminal_colour(STDOUT_FILENO),
			       .to = -1 };
	static const struct option longs[] = { { "check", no_argument, NULL, 'C' },
					       { NULL, 0, NULL, 0 } };
	static struct sp_program program;
	char text[PATH_MAX + 300];
	bool check = false;
	int c, r;

	/* "+": options after the program are its own. */
	while ((c = sp_option(argc, argv, "+", longs, NULL)) != -1) {
		if (c != 'C')
			return 2;
		check = true;
	}
	if (argc > optind + 1)
		return sp_complain(2, d.verb, "name one program, without its arguments",
				   argv[optind + 1]);
	if (argc == optind + 1) {
		r = sp_program_inspect(&program, argv[optind]);
		if (r < 0)
			return sp_complain(1, d.verb,
					   sp_program_why(&program, r, text, sizeof(text)),
					   argv[optind]);
		d.program = &program;
		d.name = argv[optind];
		sp_doctor_program(&d);
	}
	sp_doctor_papi(&d);
	sp_doctor_kernel(&d);
	sp_doctor_limits(&d);
	sp_doctor_sspapi(&d);
	summary(&d);
	return check && d.n_blocking;
}

/* cmd-doctor.c: what would stop counts from appearing here, for this program, and how
 * to mend it. */
#include <getopt.h>

#include "../tool/cmd.h"
#include "../tool/terminal.h"
#include "doctor.h"

static void summary(const struct sp_doctor *d)
{
	if (d->in_the_way)
		printf("\n%u %s in the way of counts", d->in_the_way, d->in_the_way == 1 ? "thing stands" : "things stand");
	else
		printf("\nNothing was found that keeps counts away");
	if (d->worth)
		printf("; %u %s worth knowing", d->worth, d->worth == 1 ? "is" : "are");
	puts(".");
}

static int look(struct sp_program *p, const char *verb, const char *name)
{
	char text[PATH_MAX + 300];
	int r = sp_program_look(p, name);

	return r < 0 ? sp_complain(1, verb, sp_program_why(p, r, text, sizeof(text)), name) : 0;
}

int sp_cmd_doctor(int argc, char **argv)
{
	struct sp_doctor d = { .verb = argv[0], .colour = sp_terminal_colour(STDOUT_FILENO), .to = -1 };
	static const struct option longs[] = { { "check", no_argument, NULL, 'C' }, { NULL, 0, NULL, 0 } };
	static struct sp_program program;
	bool check = false;
	int c;

	/* "+": what stands behind the program is its own. */
	while ((c = sp_option(argc, argv, "+", longs, NULL)) != -1) {
		if (c != 'C')
			return 2;
		check = true;
	}
	if (argc > optind + 1)
		return sp_complain(2, d.verb, "name one program, without its arguments", argv[optind + 1]);
	if (argc == optind + 1) {
		if (look(&program, d.verb, argv[optind]))
			return 1;
		d.program = &program;
		d.name = argv[optind];
		sp_doctor_program(&d);
	}
	sp_doctor_papi(&d);
	sp_doctor_kernel(&d);
	sp_doctor_limits(&d);
	sp_doctor_ours(&d);
	summary(&d);
	return check && d.in_the_way;
}

/*
 * one: the smallest program that counts: 5 EV_A on the first CPU, 7 EV_A and
 * 3 EV_B on the second. A line on stdout, one on stderr.
 * usage: one [-C folder] [-2 file|-] [-k children] [-n times] [-s status] [-u NAME] [event...]
 *	-C	changes to the folder before PAPI is called
 *	-2	has stderr closed (-) or replaced by the file before that
 *	-k	children that do the same, at the same time
 *	-n	does it that often
 *	events	a set of these instead; nothing happens but what FAKE_PAPI_SCRIPT says
 *	-u	removes the variable from the environment first
 */
#include "scene.h"

static void count(struct counted *c)
{
	pin(0);
	begin(c);
	fake_count("EV_A", 5);
	look(c);
	pin(1);
	fake_count("EV_A", 7);
	fake_count("EV_B", 3);
	end(c);
}

static void replace_stderr(const char *path)
{
	int fd;

	close(2);
	if (!strcmp(path, "-"))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd != 2)
		die(path);
}

int main(int argc, char **argv)
{
	int opt, children = 0, times = 1, status = 0;
	struct counted *c;

	puts("one: to stdout");
	fputs("one: to stderr\n", stderr);
	while ((opt = getopt(argc, argv, "C:2:k:n:s:u:")) != -1) {
		if (opt == 'C' && chdir(optarg))
			die(optarg);
		if (opt == '2')
			replace_stderr(optarg);
		if (opt == 'k')
			children = atoi(optarg);
		if (opt == 'n')
			times = atoi(optarg);
		if (opt == 's')
			status = atoi(optarg);
		if (opt == 'u')
			unsetenv(optarg);
	}
	fflush(stdout);
	for (int i = 0; i < children; i++)
		if (!fork())
			children = 0;
	up();
	c = optind < argc ? made(counted_new(argc - optind, argv + optind, 1))
			  : SET("EV_A", "EV_B");
	for (int i = 0; i < times; i++)
		count(c);
	print_handed(c, "");
	fflush(stdout);
	while (children-- > 0)
		wait(NULL);
	return status;
}

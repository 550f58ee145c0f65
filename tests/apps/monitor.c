/*
 * monitor: counts another process, as perf stat -p does. The child sits on
 * the second CPU and touches pages when told; the parent, on the first,
 * attaches an event set to it. The oracle's cpu is the child's.
 *	closes	between the readings it puts a file, like /proc's of a process on the first CPU, in the place of all
 *		descriptors that are none of its own
 *	self	it attaches the set to itself, and goes to the second CPU in between
 * usage: monitor [closes|self] [event...]	needs hw2sw where there are no hardware counters
 */
#include "calls.h"
#include "ordered.h"

#include <sys/mman.h>
#include <sys/syscall.h>

static const char *mode = "";

/* Numbers that a program gets for itself are below. */
static void take_all_numbers(void)
{
	FILE *f = fdopen(memfd_create("stat", 0), "w");

	fprintf(f, "1 (x) S");
	for (int field = 4; field <= 52; field++)
		fprintf(f, " %d", field == 39 ? nth_cpu(0) : 0);
	fflush(f);
	for (int fd = 256; fd < 8192; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			dup2(fileno(f), fd);
}

/* handed() notes the reader's CPU: here it is the child's that matters. */
static void handed_child(struct counted *c, const char *by, const long long *values)
{
	handed(c, by, values);
	c->reading[c->readings - 1].cpu = nth_cpu(1);
}

static void count(struct counted *c, pid_t child)
{
	long long values[EVENTS];

	may("PAPI_attach", PAPI_attach(c->id, child));
	begin(c);
	order(c, 1000);
	must("PAPI_read", PAPI_read(c->id, values));
	handed_child(c, "PAPI_read", values);
	if (!strcmp(mode, "closes"))
		take_all_numbers();
	order(c, 500);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed_child(c, "PAPI_stop", values);
	must("PAPI_detach", PAPI_detach(c->id));
}

/* From one place each, on both CPUs. */
static int count_itself(struct counted *c)
{
	pin(0);
	papi_up();
	make_set(c);
	prefault();
	may("PAPI_attach", PAPI_attach(c->id, (unsigned long)syscall(SYS_gettid)));
	for (int run = 0; run < 10; run++) {
		begin(c);
		for (int i = 0; i < 10; i++) {
			touch(&c->arena, 3);
			look(c);
			if (i == 4) {
				pin(!(run % 2));
				look(c);
			}
		}
		end(c);
	}
	return print_handed(c, "");
}

int main(int argc, char **argv)
{
	struct counted *c;
	char who[32];
	pid_t child;

	if (argc > 1 && !strchr(argv[1], ':')) {
		mode = argv[1];
		argc--;
		argv++;
	}
	c = counted_new(argc - 1, argv + 1, 2000);
	if (!strcmp(mode, "self"))
		return count_itself(c);
	child = start_child(c);
	pin(0);
	papi_up();
	make_set(c);
	count(c, child);
	end_child(child);
	snprintf(who, sizeof(who), " target=%d", child);
	return print_handed(c, who);
}

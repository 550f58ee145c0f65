/*
 * monitor: counts another process, as perf stat -p does. The child is pinned to the second CPU and
 * touches pages on request; the parent, on the first, attaches an event set to it. The oracle's cpu
 * is the child's.
 *	closes between the readings it replaces all descriptors that it did not open by
 *	/proc/CHILD/stat, and prints how many of these are closed at the end
 *	self	it attaches the set to itself, and moves to the second CPU in between
 * usage: monitor [closes|self] [event...]	needs hw2sw without hardware counters
 */
#include "calls.h"
#include "ordered.h"

#include <fcntl.h>
#include <sys/syscall.h>

static const char *mode = "";

/* A program's own descriptors have lower numbers. */
#define FIRST 256
#define LAST 8192
static char taken[LAST];

static void take_all_numbers(pid_t child)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	file = open(path, O_RDONLY);
	for (int fd = FIRST; fd < LAST; fd++)
		taken[fd] = fcntl(fd, F_GETFD) >= 0 && dup2(file, fd) == fd;
}

static int numbers_lost(void)
{
	int lost = 0;

	for (int fd = FIRST; fd < LAST; fd++)
		lost += taken[fd] && fcntl(fd, F_GETFD) < 0;
	return lost;
}

/* handed() records the reader's CPU: here the child's matters. */
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
		take_all_numbers(child);
	order(c, 500);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed_child(c, "PAPI_stop", values);
	must("PAPI_detach", PAPI_detach(c->id));
	if (!strcmp(mode, "closes")) {
		drop_set(c->id);
		printf("closed %d\n", numbers_lost());
	}
}

/* From one call site each, on both CPUs. */
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

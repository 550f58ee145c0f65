/*
 * inherited: a child of fork starts the set that its parent made: PAPI's counters are the parent's.
 * The child, on another CPU, touches pages of its own and reads; so does the parent in between.
 * Prints what PAPI returned to the child.
 */
#include "handed.h"

static struct counted *c;
static int to_child[2], to_parent[2];

static void tell(const int *pipe)
{
	if (write(pipe[1], "x", 1) != 1)
		die("write");
}

static void hear(const int *pipe)
{
	char x;

	if (read(pipe[0], &x, 1) != 1)
		die("read");
}

static void child(void)
{
	long long value = 0;

	pin(1);
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 10);
	tell(to_parent);
	hear(to_child);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	printf("handed pid=%d cpu=-1 event=" DEFAULT_EVENT " value=%lld by=PAPI_stop\n", getpid(),
	       value);
	exit(0);
}

int main(void)
{
	pid_t pid;

	papi_up();
	c = counted_new(0, NULL, 200);
	make_set(c);
	pin(0);
	if (pipe(to_child) || pipe(to_parent))
		die("pipe");
	pid = fork();
	if (pid == 0)
		child();
	hear(to_parent);
	touch(&c->arena, 100);
	tell(to_child);
	await_child(pid);
	return 0;
}

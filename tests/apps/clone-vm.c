/*
 * clone-vm: a child that has its parent's memory and the TLS of the thread that made it counts page
 * faults. The parent is on the second CPU.
 *
 *	own	the child makes a set, touches 200 pages on the first CPU and reads on the second
 *		one, touches 3 and stops on the first one; before and after that the parent counts
 *		50 and 70 in a set of its own
 *	forks	it does nothing, and the parent, which never calls PAPI, forks another child, which
 *		counts 70
 *	reads	it reads the parent's set, from the same call site, while the parent touches pages
 *		on both CPUs
 *
 * HOW: clone, a child of clone(3) that runs at the same time as its parent; waits, one that its
 * parent waits for (CLONE_VFORK); raw, as clone, by a name that is not wrapped; vfork.
 * Prints the counts of each: "thread TID", the rows "faults CPU N", "handed N".
 * usage: clone-vm own|reads|forks HOW
 */
#include "handed.h"

#define TURNS 300

int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

static struct counted *mine, *childs;
static long faults[2];			/* of the parent, per CPU */
static volatile int done, child_tid;
static int is_own, forks;

static __attribute__((noinline)) void read_set(struct counted *c, long long *value)
{
	must("PAPI_read", PAPI_read(c->id, value));
}

static void count_own(void)
{
	long long value = 0;

	pin(0);
	childs->id = set_with(DEFAULT_EVENT);
	must("PAPI_start", PAPI_start(childs->id));
	touch(&childs->arena, 200);
	pin(1);
	must("PAPI_read", PAPI_read(childs->id, &value));
	touch(&childs->arena, 3);
	pin(0);
	must("PAPI_stop", PAPI_stop(childs->id, &childs->last[0]));
}

static int child(void *arg)
{
	long long value;

	(void)arg;
	child_tid = (int)syscall(SYS_gettid);
	if (is_own)
		count_own();
	for (int i = 0; i < 40 && !is_own && !forks; i++) {
		read_set(mine, &value);
		sched_yield();
	}
	done = 1;
	return 0;
}

static char stack[1 << 18] __attribute__((aligned(64)));

static pid_t make_child(const char *how)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD;
	pid_t pid;

	if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (!pid) {
			child(NULL);
			_exit(0);
		}
		return pid;
	}
	if (!strcmp(how, "raw"))
		return __clone(child, stack + sizeof(stack), flags, NULL);
	return clone(child, stack + sizeof(stack), flags | (strcmp(how, "waits") ? 0 : CLONE_VFORK),
		     NULL);
}

static long count_pages(long pages)
{
	long long value = 0;

	must("PAPI_start", PAPI_start(mine->id));
	touch(&mine->arena, pages);
	must("PAPI_stop", PAPI_stop(mine->id, &value));
	faults[1] += pages;
	return value;
}

static long own(const char *how)
{
	long sum = count_pages(50);

	await_child(make_child(how));
	return sum + count_pages(70);
}

/* At least TURNS, and until the child has finished reading. */
static long reads(const char *how)
{
	long long value = 0;
	pid_t pid;

	must("PAPI_start", PAPI_start(mine->id));
	read_set(mine, &value);
	pid = make_child(how);
	for (long i = 0; (i < TURNS || !done) && mine->arena.left >= 5; i++) {
		pin(i / 4 % 2);
		touch(&mine->arena, 5);
		faults[i / 4 % 2] += 5;
	}
	await_child(pid);
	must("PAPI_stop", PAPI_stop(mine->id, &value));
	return value;
}

static int forks_then(const char *how)
{
	pid_t pid;

	await_child(make_child(how));
	pid = fork();
	if (pid) {
		await_child(pid);
		return 0;
	}
	papi_up();
	pin(1);
	make_set(mine);
	prefault();
	printf("thread %d\nhanded %ld\n", (int)getpid(), count_pages(70));
	return 0;
}

int main(int argc, char **argv)
{
	long sum;

	if (argc != 3)
		return 1;
	is_own = !strcmp(argv[1], "own");
	mine = counted_new(0, NULL, 1 << 20);
	childs = counted_new(0, NULL, 300);
	forks = !strcmp(argv[1], "forks");
	if (forks)
		return forks_then(argv[2]);
	papi_up();
	pin(1);
	make_set(mine);
	prefault();
	memset(stack, 1, sizeof(stack));
	sum = is_own ? own(argv[2]) : reads(argv[2]);
	printf("thread %d\n", (int)getpid());
	for (int i = 0; i < 2; i++)
		printf("faults %d %ld\n", nth_cpu(i), faults[i]);
	printf("handed %ld\nchild %d\nhanded %lld\n", sum, child_tid, childs->last[0]);
	return sum != faults[0] + faults[1] || childs->last[0] != (is_own ? 203 : 0);
}

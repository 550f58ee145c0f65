/*
 * steps: a program on the scripted libpapi that runs its arguments, one after the other:
 *
 *	up set begin read reset accum end stop0 drop	PAPI (stop0: PAPI_stop with NULL)
 *	a:N b:N			N of EV_A, EV_B happen
 *	cpu:I			moves to the I-th CPU
 *	say:TEXT		a line on stdout, at once
 *	print			the `handed` lines
 *	sleep:MS line		waits; for a line on stdin
 *	closeall closefrom:FD	descriptors
 *	clearenv chdir:DIR rmdir:DIR chroot:DIR setuid:N umask:N
 *	nofile:N fsize:N as:MB data:MB stack:KB nproc:N	limits
 *	fork			a child continues, the parent waits and ends with its status
 *	vfork:PATH		a child of vfork executes PATH
 *	exec:PATH thread	(thread: the next steps in one, up to `join`)
 *	sigpipe sigxfsz sigbus	prints when the signal arrives (kept on)
 *	kill:N exit:N _exit:N quick_exit:N abort
 *	loop:N			the following steps, N times
 */
#include "scenes/scene.h"
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct counted *c;
static long long sums[EVENTS];

static void limit(int what, long long value)
{
	struct rlimit l = {value, value};

	if (setrlimit(what, &l))
		die("setrlimit");
}

static void on_signal(int number)
{
	static const char text[] = "a signal came\n";

	(void)number;
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(4);
}

static void accumulate(void)
{
	long long before[EVENTS];

	memcpy(before, sums, sizeof(before));
	must("PAPI_accum", PAPI_accum(c->id, sums));
	handed_accum(c, before, sums);
}

#define STEP(name, ...) if (!strcmp(step, name)) { __VA_ARGS__; return 1; }

static int papi(const char *step, long long n)
{
	STEP("up", up())
	STEP("set", c = SET("EV_A", "EV_B"))
	STEP("begin", begin(c))
	STEP("read", look(c))
	STEP("reset", must("PAPI_reset", PAPI_reset(c->id)), zeroed(c))
	STEP("accum", accumulate())
	STEP("end", end(c))
	STEP("stop0", must("PAPI_stop", PAPI_stop(c->id, NULL)))
	STEP("drop", drop(c))
	STEP("a", fake_count("EV_A", n))
	STEP("b", fake_count("EV_B", n))
	STEP("print", print_handed(c, ""), fflush(stdout))
	return 0;
}

static void shall(const char *step, int bad)
{
	if (bad)
		die(step);
}

static void close_from(int fd)
{
	for (; fd < 1024; fd++)
		close(fd);
}

static int surroundings(const char *step, const char *arg, long long n)
{
	char line[80];

	STEP("cpu", pin(n))
	STEP("say", puts(arg), fflush(stdout))
	STEP("sleep", usleep(n * 1000))
	STEP("line", if (!fgets(line, sizeof(line), stdin)) line[0] = 0)
	STEP("closeall", close_from(0))
	STEP("closefrom", close_from(n))
	STEP("clearenv", shall(step, clearenv()))
	STEP("chdir", shall(step, chdir(arg)))
	STEP("rmdir", shall(step, rmdir(arg)))
	STEP("chroot", shall(step, chroot(arg)))
	STEP("setuid", shall(step, setgid(n) || setuid(n)))
	STEP("umask", umask(n))
	STEP("nofile", limit(RLIMIT_NOFILE, n))
	STEP("fsize", limit(RLIMIT_FSIZE, n))
	STEP("as", limit(RLIMIT_AS, n << 20))
	STEP("data", limit(RLIMIT_DATA, n << 20))
	STEP("stack", limit(RLIMIT_STACK, n << 10))
	STEP("nproc", limit(RLIMIT_NPROC, n))
	return 0;
}

static void fork_here(void)
{
	int status;

	if (!fork())
		return;
	wait(&status);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void vfork_exec(const char *path)
{
	if (!vfork()) {
		execl(path, path, NULL);
		_exit(5);
	}
	wait(NULL);
}

static int ends(const char *step, const char *arg, int n)
{
	STEP("fork", fork_here())
	STEP("vfork", vfork_exec(arg))
	STEP("exec", execl(arg, arg, NULL), perror("exec"))
	STEP("sigpipe", signal(SIGPIPE, on_signal))
	STEP("sigxfsz", signal(SIGXFSZ, on_signal))
	STEP("sigbus", signal(SIGBUS, on_signal))
	STEP("kill", raise(n))
	STEP("exit", exit(n))
	STEP("_exit", _exit(n))
	STEP("quick_exit", quick_exit(n))
	STEP("abort", abort())
	return 0;
}

static char **run(char **step);

static void *in_thread(void *arg)
{
	return run(arg);
}

static void one(char *text)
{
	char *arg = strchr(text, ':');
	long long n;

	if (arg)
		*arg++ = 0;
	n = arg ? strtoll(arg, NULL, 0) : 0;
	if (!papi(text, n) && !surroundings(text, arg, n) && !ends(text, arg, n)) {
		fprintf(stderr, "no step '%s'\n", text);
		exit(2);
	}
	if (arg)
		arg[-1] = ':';
}

/* Runs steps up to `join` or the last; returns where it stopped. */
static char **run(char **step)
{
	pthread_t t;
	void *end;

	for (; *step && strcmp(*step, "join"); step++) {
		if (!strncmp(*step, "loop:", 5)) {
			for (long n = atol(*step + 5); n > 1; n--)
				run(step + 1);
		} else if (!strcmp(*step, "thread")) {
			if (pthread_create(&t, NULL, in_thread, step + 1))
				die("pthread_create");
			pthread_join(t, &end);
			step = end;
			if (!*step)
				break;
		} else {
			one(*step);
		}
	}
	return step;
}

int main(int argc, char **argv)
{
	(void)argc;
	nth_cpu(0);
	run(argv + 1);
	return 0;
}

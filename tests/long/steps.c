/*
 * steps: a program on the scripted libpapi that does what its arguments say, one after the other:
 *
 *	up set begin read reset accum end stop0 drop	PAPI (stop0: PAPI_stop with NULL)
 *	a:N b:N			N of EV_A, EV_B happen
 *	cpu:I			moves to the I-th CPU
 *	say:TEXT		a line on stdout, at once
 *	print			the `handed` lines
 *	sleep:MS line		waits; for a line on stdin
 *	closeall closefrom:FD	descriptors
 *	clearenv chdir:DIR rmdir:DIR rm:DIR chroot:DIR setuid:N umask:N
 *	nofile:N fsize:N as:MB data:MB stack:KB nproc:N	limits
 *	fork			a child goes on, the parent waits and ends as it does
 *	vfork:PATH		a child of vfork executes PATH
 *	exec:PATH thread	(thread: the next steps in one, up to `join`)
 *	sigpipe sigxfsz sigbus	prints when the signal comes (kept on)
 *	kill:N exit:N _exit:N quick_exit:N abort
 *	loop:N			the steps that follow, N times
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

static void stop0(void)
{
	must("PAPI_stop", PAPI_stop(c->id, NULL));
}

static int papi(const char *step, long long n)
{
	if (!strcmp(step, "up"))
		up();
	else if (!strcmp(step, "set"))
		c = SET("EV_A", "EV_B");
	else if (!strcmp(step, "begin"))
		begin(c);
	else if (!strcmp(step, "read"))
		look(c);
	else if (!strcmp(step, "reset"))
		must("PAPI_reset", PAPI_reset(c->id)), zeroed(c);
	else if (!strcmp(step, "accum"))
		accumulate();
	else if (!strcmp(step, "end"))
		end(c);
	else if (!strcmp(step, "stop0"))
		stop0();
	else if (!strcmp(step, "drop"))
		drop(c);
	else if (!strcmp(step, "a"))
		fake_count("EV_A", n);
	else if (!strcmp(step, "b"))
		fake_count("EV_B", n);
	else if (!strcmp(step, "print"))
		print_handed(c, ""), fflush(stdout);
	else
		return 0;
	return 1;
}

static int surroundings(const char *step, const char *arg, long long n)
{
	char line[80];
	int bad = 0;

	if (!strcmp(step, "cpu"))
		pin(n);
	else if (!strcmp(step, "say"))
		puts(arg), fflush(stdout);
	else if (!strcmp(step, "sleep"))
		usleep(n * 1000);
	else if (!strcmp(step, "line"))
		fgets(line, sizeof(line), stdin);
	else if (!strcmp(step, "closeall") || !strcmp(step, "closefrom"))
		for (int fd = arg ? n : 0; fd < 1024; fd++)
			close(fd);
	else if (!strcmp(step, "clearenv"))
		bad = clearenv();
	else if (!strcmp(step, "chdir"))
		bad = chdir(arg);
	else if (!strcmp(step, "rmdir"))
		bad = rmdir(arg);
	else if (!strcmp(step, "chroot"))
		bad = chroot(arg);
	else if (!strcmp(step, "setuid"))
		bad = setgid(n) || setuid(n);
	else if (!strcmp(step, "umask"))
		umask(n);
	else if (!strcmp(step, "nofile"))
		limit(RLIMIT_NOFILE, n);
	else if (!strcmp(step, "fsize"))
		limit(RLIMIT_FSIZE, n);
	else if (!strcmp(step, "as"))
		limit(RLIMIT_AS, n << 20);
	else if (!strcmp(step, "data"))
		limit(RLIMIT_DATA, n << 20);
	else if (!strcmp(step, "stack"))
		limit(RLIMIT_STACK, n << 10);
	else if (!strcmp(step, "nproc"))
		limit(RLIMIT_NPROC, n);
	else
		return 0;
	if (bad)
		die(step);
	return 1;
}

static int ends(const char *step, const char *arg, int n)
{
	int status;

	if (!strcmp(step, "fork")) {
		if (!fork())
			return 1;
		wait(&status);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	} else if (!strcmp(step, "vfork")) {
		if (!vfork()) {
			execl(arg, arg, NULL);
			_exit(5);
		}
		wait(&status);
	} else if (!strcmp(step, "exec")) {
		execl(arg, arg, NULL);
		perror("exec");
	} else if (!strcmp(step, "sigpipe")) {
		signal(SIGPIPE, on_signal);
	} else if (!strcmp(step, "sigxfsz")) {
		signal(SIGXFSZ, on_signal);
	} else if (!strcmp(step, "sigbus")) {
		signal(SIGBUS, on_signal);
	} else if (!strcmp(step, "kill")) {
		raise(n);
	} else if (!strcmp(step, "exit")) {
		exit(n);
	} else if (!strcmp(step, "_exit")) {
		_exit(n);
	} else if (!strcmp(step, "quick_exit")) {
		quick_exit(n);
	} else if (!strcmp(step, "abort")) {
		abort();
	} else {
		return 0;
	}
	return 1;
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

/* Up to `join` or the last; where it stopped. */
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

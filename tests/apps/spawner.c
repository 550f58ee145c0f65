/*
 * spawner: a program without PAPI that creates threads and processes all the time, and knows the
 * page faults of each since two commands: "mark" (before counting begins) and "go" (while a tool
 * counts). usage: spawner SEED BREEDERS LONG FORKS PAGES IN OUT
 *
 * BREEDERS threads create others until the end: most end at once, LONG in all wait for "go", touch
 * PAGES pages and stay until the end; one in FORKS (0: none) is a process. Commands arrive by the
 * FIFO IN; each is answered by a line in the FIFO OUT: "mark" when all threads have seen it, "go"
 * after 200 more threads, "end" when all but the first thread have ended.  On standard output: "tid
 * T least L most M".
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START, MARK, GO, END };

static struct {
	_Atomic int phase, births, marked, longs, living;
} *all;
static int pages, most_long, forks;

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_minflt + r.ru_majflt;
}

static void await(int phase)
{
	for (int is = all->phase; is < phase; is = all->phase)
		syscall(SYS_futex, &all->phase, FUTEX_WAIT, is, NULL, NULL, 0);
}

static void touch(char *at, int n)
{
	while (n > 0) {
		madvise(at, 16 << 12, MADV_DONTNEED);
		for (int i = 0; i < 16 && n > 0; i++, n--)
			((volatile char *)at)[i << 12] = 1;
	}
}

static void say(long least, long most)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "tid %ld least %ld most %ld\n",
			 (long)syscall(SYS_gettid), least, most);

	if (write(1, line, (size_t)n) != n)
		abort();
}

/*
 * @phase: the phase in which it was created. (A process created before its parent was counted is
 * not counted.)
 */
static void live(int phase, bool process)
{
	char *at = mmap(NULL, 16 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before = 0;

	madvise(at, 16 << 12, MADV_NOHUGEPAGE);
	all->births++;
	if (phase == START || all->longs >= most_long) {
		touch(at, 2);
	} else {
		all->longs++;
		await(GO);
		before = phase < GO ? faults() : 0;
		touch(at, pages);
		await(END);
		say(process && phase < GO ? 0 : faults() - before, faults());
	}
	munmap(at, 16 << 12);
}

static void *thread(void *phase)
{
	live((int)(intptr_t)phase, false);
	all->living--;
	return NULL;
}

static void spawn(unsigned *seed, pthread_attr_t *detached)
{
	int phase = all->phase;
	pthread_t t;
	pid_t pid;

	all->living++;
	if (forks && rand_r(seed) % (unsigned)forks == 0) {
		pid = fork();
		if (pid == 0) {
			if (fork() == 0) {	/* (the process needs no wait) */
				live(phase, true);
				all->living--;
			}
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0)
			;
	} else if (pthread_create(&t, detached, thread, (void *)(intptr_t)phase)) {
		abort();
	}
}

static void *breed(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;
	long mark = 0, go = 0;
	int seen = START;
	pthread_attr_t detached;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 1 << 16);
	for (;;) {
		int is = all->phase;

		if (seen < MARK && is >= MARK) {
			mark = faults();
			all->marked++;
		}
		if (seen < GO && is >= GO)
			go = faults();
		seen = is;
		if (seen == END)
			break;
		if (all->living - all->longs < 30)
			spawn(&seed, &detached);
		else
			usleep(50);	/* let other threads run */
		for (volatile unsigned i = rand_r(&seed) % 20000; i > 0; i--)
			;
	}
	say(faults() - go, faults() - mark);
	return NULL;
}

static void tell(int phase)
{
	all->phase = phase;
	syscall(SYS_futex, &all->phase, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
}

static void until(const _Atomic int *what, int least)
{
	while (*what < least)
		usleep(200);
}

int main(int argc, char **argv)
{
	pthread_t at[16];
	int n = argc > 2 ? atoi(argv[2]) : 0, out;
	char word[16];
	FILE *in;

	if (argc != 8 || n < 1 || n > 16)
		return 2;
	most_long = atoi(argv[3]);
	forks = atoi(argv[4]);
	pages = atoi(argv[5]);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < n; i++)
		if (pthread_create(&at[i], NULL, breed,
				   (void *)(uintptr_t)(atoi(argv[1]) * 16 + i)))
			return 1;
	in = fdopen(open(argv[6], O_RDWR), "r");
	out = open(argv[7], O_RDWR);
	while (in && fgets(word, sizeof(word), in)) {
		word[strcspn(word, "\n")] = 0;
		if (!strcmp(word, "mark")) {
			tell(MARK);
			until(&all->marked, n);
		} else if (!strcmp(word, "go")) {
			int births = all->births;

			tell(GO);
			until(&all->births, births + 200);
		} else if (!strcmp(word, "end")) {
			tell(END);
			for (int i = 0; i < n; i++)
				pthread_join(at[i], NULL);
			while (all->living > 0)
				usleep(200);
		}
		dprintf(out, "%s\n", word);
		if (all->phase == END)
			break;
	}
	/* Waits until the reader has everything. */
	while (fgets(word, sizeof(word), in) && strcmp(word, "exit\n"))
		;
	return 0;
}

# Finds callers by libunwind: on stacks of any kind, without an additional descriptor, with
# exceptions, dlclose and fork.
. tests/lib/lib.sh
need_real_papi
cd "$tmp" || exit 1
cc=${CC:-gcc}
cp "$root/tests/lib/regions.h" .

# ---- stacks of the program's own -------------------------------------------------------------

sum() {
	json "$1" 'my $n = 0; $n += $_->{total}[0] for map { @{$_->{cpus}} } @{$d->{relations}}; $n'
}
# (switch: a frame that changed its stack; its unwind tables point to the new one.)
for way in switch jump context; do
	for thread in '' thread; do
		# shellcheck disable=SC2086 # no word, or one
		run_native native "$apps/stacks" $way $thread
		for frames in auto 4 8; do
			rm -f shim.json
			# shellcheck disable=SC2086
			run_shim shim env SSPAPI_CALLSITES=$frames "$apps/stacks" $way $thread
			check "$way $thread, $frames frames: the program sees no difference" \
				same_as_native native shim
			is "$way $thread, $frames frames: its counts" "counted $(sum shim.json)" \
				"$(cat native.out)"
		done
		is "$way $thread: a path ends where its stack does" \
			"$(perl "$root/tests/lib/intervals.pl" shim.json | awk '{ print $2 }' |
			sed -E 's/\.[a-z]+\.[0-9]+//g; s/<main$//' | sort -u | paste -sd' ')" \
			"$(case $way \
			in switch) on='<switch_to' ;; jump) on='<entry' ;; *) on='' ;; esac
			printf '%s\n' "measure<roomy<both$on" 'measure<roomy<both<all' "measure<work<both$on" 'measure<work<both<all' | LC_ALL=C sort | paste -sd' ')"
	done
done

# ---- descriptors ------------------------------------------------------------------------------

cat >fds.c <<'END'
#define _GNU_SOURCE
#include "regions.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int set;
static long long value;
static volatile int stop;
HERE static void measure(void) { int r = PAPI_start(set); touch(3); r = PAPI_stop(set, &value); END(r); }
HERE static void one(void) { measure(); __asm__ volatile(""); }
/* Opens and closes while the library is loaded: what it has is its own. */
static void *opens(void *arg)
{
	while (!stop) {
		int fd = open("/dev/null", O_RDONLY);

		if (fcntl(fd, F_GETFD) < 0 || close(fd))
			stop = 2;
	}
	return arg;
}
static int pipes(void)
{
	DIR *d = opendir("/proc/self/fd");
	char to[256];
	int n = 0;

	for (struct dirent *e; (e = readdir(d));) {
		ssize_t k = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

		n += k > 5 && !strncmp(to, "pipe:", 5) && atoi(e->d_name) > 2;
	}
	closedir(d);
	return n;
}
int main(int argc, char **argv)
{
	pthread_t t;
	int fd, r;

	if (argc > 1)
		pthread_create(&t, NULL, opens, NULL);
	r = up(&set);
	one();
	if (argc > 1) {
		stop |= 1;
		pthread_join(t, NULL);
	}
	fd = open("/dev/null", O_RDONLY);
	printf("%d: %d, %d pipes, lowest %d\n", r, stop, pipes(), argc > 1 ? 0 : fd);	/* (PAPI's own comes beside the thread's) */
	closefrom(3);			/* what the program opens now is nobody else's */
	fd = open(argv[0], O_RDONLY);
	one();
	printf("%ld %lld\n", (long)lseek(fd, 0, SEEK_CUR), value);
	return 0;
}
END
$cc -O2 -g -include string.h -pthread -o fds fds.c -lpapi
for beside in '' beside; do
	# shellcheck disable=SC2086
	run_native native ./fds $beside
	# shellcheck disable=SC2086
	run_shim shim env SSPAPI_CALLSITES=4 ./fds $beside
	check "descriptors $beside: as without the shim" same_as_native native shim
	check "(and libunwind has found callers)" \
		sh -c 'perl "$1/tests/lib/intervals.pl" shim.json | grep -q "measure.*<one<main"' \
		sh "$root"
done

# ---- exceptions, libraries that come and go, fork ------------------------------------------------

if command -v g++ >/dev/null; then
	cat >throws.cc <<'END'
#include "regions.h"
#include <stdexcept>
static int set;
static long long value;
HERE static void measure(int n)
{
	int r = PAPI_start(set);
	touch(2);
	r |= PAPI_stop(set, &value);
	END(r);
	if (n % 2)
		throw std::runtime_error("odd");
}
HERE static void through(int n) { measure(n); __asm__ volatile(""); }
extern "C" int throws(int rounds)
{
	int caught = 0;
	if (!set && up(&set))
		return -1;
	for (int i = 0; i < rounds; i++)
		try { through(i); } catch (const std::exception &) { caught++; }
	return caught;
}
END
	cat >host.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	int (*throws)(int) = (int (*)(int))dlsym(library, "throws"), status;

	printf("%d\n", throws(100));
	fflush(stdout);
	if (argc > 2 && !fork()) {
		void *again = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);

		_exit(throws(20) == 10 && again ? 7 : 1);
	}
	if (argc > 2 && (wait(&status) < 0 || WEXITSTATUS(status) != 7))
		return 2;
	return dlclose(library);
}
END
	g++ -O2 -g -std=c++17 -shared -fPIC -o throws.so throws.cc -lpapi &&
		cp throws.so again.so && $cc -O2 -g -o host host.c -ldl
	for more in '' ./again.so; do
		# shellcheck disable=SC2086
		run_native native ./host ./throws.so $more
		# shellcheck disable=SC2086
		run_shim shim env SSPAPI_CALLSITES=4 ./host ./throws.so $more
		check "exceptions through frames of a C++ library in a C program${more:+, and in its child}: as without the shim" same_as_native native shim
	done
fi

# Threads find new paths all the time while another one forks: no child waits for a lock.
cat >forks.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "regions.h"
static volatile int stop, ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
HERE static void deep(int set, unsigned bits, int left)
{
	long long value;

	if (!left)
		PAPI_read(set, &value);
	else if (bits & 1)
		deep(set, bits >> 1, left - 1);
	else {
		deep(set, bits >> 1, left - 1);
		__asm__ volatile("nop");	/* another place */
	}
	__asm__ volatile("");
}
static void *walks(void *arg)
{
	int set;

	pthread_mutex_lock(&lock);
	up(&set);
	pthread_mutex_unlock(&lock);
	PAPI_start(set);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; !stop; i++)
		deep(set, i, 12);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	int status, bad = 0, set;

	up(&set);
	PAPI_thread_init((unsigned long (*)(void))pthread_self);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, walks, NULL);
	while (ready < 2)		/* from then on nobody is in a lock of PAPI's */
		usleep(1000);
	for (int i = 0; i < 30; i++) {
		if (!fork()) {
			long long value;

			PAPI_library_init(PAPI_VER_CURRENT);
			if (up(&set) || PAPI_start(set))
				exit(1);
			deep(set, i, 12);
			PAPI_stop(set, &value);
			exit(dlopen(argv[argc - 1], RTLD_NOW) ? 0 : 1);
		}
		wait(&status);
		bad += status != 0;
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", bad);
	return 0;
}
END
echo 'int nothing;' >nothing.c
$cc -shared -fPIC -o nothing.so nothing.c && $cc -O2 -g -pthread -o forks forks.c -lpapi -ldl
run_native native ./forks ./nothing.so
mkdir forked
SSPAPI_OUTPUT=$tmp/forked/%p.json run_shim shim env SSPAPI_CALLSITES=16 ./forks ./nothing.so
check "forks while threads search for paths: as without the shim" same_as_native native shim
check "none appeared during the search" not grep -l 'forked while its parent was looking' -r forked

# ---- a signal handler; no libunwind ----------------------------------------------------------------

cat >handler.c <<'END'
#include <signal.h>
#include "regions.h"
static int set;
static long long value;
HERE static void look(void) { int r = PAPI_read(set, &value); END(r); }
static void handler(int number) { look(); END(number); }
int main(void)
{
	int r = up(&set) || PAPI_start(set);

	signal(SIGUSR1, handler);
	for (int i = 0; i < 3; i++) {
		touch(2);
		raise(SIGUSR1);
	}
	touch(1);
	look();
	printf("%lld\n", value);
	return PAPI_stop(set, &value) || r;
}
END
$cc -O2 -g -o handler handler.c -lpapi
run_native native ./handler
run_shim shim env SSPAPI_CALLSITES=4 ./handler
check "calls in a signal handler: as without the shim" same_as_native native shim
is "they have one frame, and the dump says so" \
	"$(json shim.json 'my $one = grep { $_->{frames} &&
	@{$_->{frames}} == 1 } @{$d->{callsites}};
	my $said = grep { /signal handler/ } @{$d->{notes}}; "$one $said"')" "1 1"

if plain "without libsspapi-unwind.so"; then
	mkdir bare
	cp "$B/libsspapi.so" "$B/libsspapi-topo.so" bare
	SSPAPI_OUTPUT=$tmp/none.json SHIM=$tmp/bare/libsspapi.so run_shim \
		none env SSPAPI_CALLSITES=4 ./handler
	is "without libsspapi-unwind.so: one frame, and the dump says so" \
		"$(status_of none) $(json none.json \
		'my $said = grep { /libunwind/ } @{$d->{notes}}; "$d->{settings}{callsites} $said"')" "0 1 1"
fi
done_testing

/*
 * fuzz-command.c: runs the command's verbs on damaged stores, one after the other in one process
 * (fuzz-command.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/cli/tool/cmd.h"
#include "fuzz-command.h"

/*
 * Words in each line: X the bytes, L the same as a live file, B the sound store, O. a file to make.
 */
static const char *const lines[] = {
#define LEVELS(verb, form, last) \
	verb " --per-cpu" form " " last, verb " --per-core" form " " last, \
		verb " --per-cache" form " " last, verb " --per-numa" form " " last, \
		verb " --per-package" form " " last, verb " --per-machine" form " " last, \
		verb " --per-thread" form " " last, verb " --per-callsite" form " " last
#define EACH_LEVEL \
	" --per-cpu --per-core --per-cache --per-numa --per-package --per-machine --per-thread " \
	"--per-callsite"
	"report X",
	"report -f json X",
	"report -f csv X",
	"report -f hwloc X",
	"report -f html X",
	"report -f store X",
	LEVELS("report", "", "X"),
	LEVELS("report", " -f csv", "X"),
	"report" EACH_LEVEL " X",
	"report --per-callsite --per-cpu X",
	"report -f csv --per-cache --per-callsite X B",
	"report -f json --per-thread --per-core X",
	"report -f json" EACH_LEVEL " X",
	"report --sort readings" EACH_LEVEL " X",
	"report --sort EV_A" EACH_LEVEL " X",
	"report --events EV_A X",
	"report --events EV_A" EACH_LEVEL " X",
	"report X B",
	"report -f json" EACH_LEVEL " X B",
	"report -f hwloc B X",
	"report -f html X B",
	"report -o O.html X",
	"report -f csv X B",
	"report -f json L",
	"report" EACH_LEVEL " L",
	"report -f csv --events EV_A X B",
	"merge -o O. X",
	"merge -o O. X B",
	"merge -o O. B L X",
	"diff X B",
	"diff B X",
	"diff X X",
	"diff -f csv X B",
	LEVELS("diff", "", "X B"),
	LEVELS("diff", " -f csv", "B X"),
	"recover --force L",
	"recover L",
	"recover --discard L",
	"recover --discard --force L",
	"report --all-symbols -f json X",
	"recover --force -o O.txt L",
	"recover --force -o O.json L",
	"recover --force -o O.csv L",
	"recover --force -o O.xml L",
	"recover --force -o O.sspapi L",
	"top -n 1 L",
	"top -n 1 X",
	LEVELS("top -n 1", "", "L"),
};

const unsigned fuzz_commands = SP_COUNT(lines);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	int most;			/* its highest status that is not a finding */
} verbs[] = {
	{ "report", sp_cmd_report, 2 },	/* 2: the event of --sort is not in it */
	{ "merge", sp_cmd_merge, 1 },
	{ "diff", sp_cmd_diff, 2 },
	{ "recover", sp_cmd_recover, 1 },
	{ "top", sp_cmd_top, 1 },
};

static char dir[256], bytes_at[320], live_at[320], made_at[320];
static const char *sound;
static int nowhere = -1, out = -1;
static FILE *said;			/* the verbs' output; a sanitizer's report bypasses it */

/* libFuzzer's timeout uses SIGALRM; a verb that makes files would take it for a request to end. */
#undef sigaction
int sigaction(int number, const struct sigaction *new, struct sigaction *old);
int fuzz_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	return number == SIGALRM ? -1 : sigaction(number, new, old);
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	/*
	 * Others may write it as well, so recover does not write to the place that the bytes name.
	 */
	if (fd < 0 || fchmod(fd, 0622) < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* Receives the verbs' reads (--wrap). */
static struct fuzz_writer writer;
ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
	if (writer.at && --writer.at == 0) {
		write_bytes(bytes_at, writer.bytes, writer.n);
		if (access(live_at, F_OK) == 0)
			write_bytes(live_at, writer.bytes, writer.n);
	}
	return __real_pread(fd, to, n, at);
}

static void empty_folder(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

void fuzz_command_begin(const char *sound_file)
{
	/* libFuzzer ends without atexit(3): the caller removes TMPDIR. */
	snprintf(dir, sizeof(dir), "%s/sspapi-fuzz.%ld",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
	snprintf(bytes_at, sizeof(bytes_at), "%s/x.sspapi", dir);
	snprintf(live_at, sizeof(live_at), "%s/sspapi.0.host.1.1.live", dir);
	sound = sound_file;
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	out = fcntl(1, F_DUPFD_CLOEXEC, 10);
	said = fopen("/dev/null", "we");
	setenv("PATH", "/nonexistent", 1);	/* no tool is run on files that the bytes name */
	fuzz_command_end();
	if (mkdir(dir, 0700) < 0)
		abort();
}

void fuzz_command_end(void)
{
	empty_folder();
	rmdir(dir);
}

static char *word(char *w)
{
	if (strcmp(w, "X") == 0)
		return bytes_at;
	if (strcmp(w, "L") == 0)
		return live_at;
	if (strcmp(w, "B") == 0)
		return (char *)sound;
	if (strncmp(w, "O.", 2) == 0) {
		snprintf(made_at, sizeof(made_at), "%s/made%s", dir, w + 1);
		return made_at;
	}
	return w;
}

const char *fuzz_command_line(unsigned which)
{
	return lines[which % fuzz_commands];
}

static void run(int argc, char **argv, unsigned which)
{
	FILE *own = stderr;
	int status = -1, most = -1;

	optind = 0;			/* restarts glibc's getopt(3) */
	dup2(nowhere, 1);
	stderr = said;
	for (unsigned i = 0; i < SP_COUNT(verbs); i++)
		if (strcmp(argv[0], verbs[i].name) == 0) {
			most = verbs[i].most;
			status = verbs[i].run(argc, argv);
		}
	fflush(stdout);
	dup2(out, 1);
	stderr = own;
	if (status >= 0 && status <= most)
		return;
	fprintf(stderr, "status %d of: %s\n", status, fuzz_command_line(which));
	abort();
}

void fuzz_command(const unsigned char *bytes, size_t n, const struct fuzz_writer *harm,
		  unsigned which)
{
	const char *of = fuzz_command_line(which);
	char line[400], *argv[32], *save;
	int argc = 0;

	strcpy(line, of);
	write_bytes(bytes_at, bytes, n);
	if (strchr(of, 'L'))
		write_bytes(live_at, bytes, n);
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = word(w);
	argv[argc] = NULL;
	writer = *harm;
	run(argc, argv, which);
	writer.at = 0;
	if (strchr(of, 'O') || strchr(of, 'L'))
		empty_folder();
}

/*
 * fuzz-store: opens damaged stores, shows each in every format, and gives it to one verb of the
 * command after the other (fuzz-command.c), at every level; built with the sanitizers.
 * usage: fuzz-store [-n TIMES] [-s SEED] [-f FIRST] [-o FOLDER] [-w FILE] STORE...
 *
 *	-f	the first one's number: to repeat one
 *	-o	folder for stores that crashed it, or took more than 5 s
 *	-w	writes number FIRST to FILE, and does nothing else
 *	-l	prints the number of command lines, and does nothing else
 *
 * Prints a line for each that crashed or was slow, and at the end how many were refused, and how
 * many shown. Exit 1 if one crashed or was slow.
 *
 * While a verb reads the file, another writer damages it further (two times of three).
 *
 * With -DLIBFUZZER the same, for clang's -fsanitize=fuzzer: the last byte of each input selects the
 * command line for the rest, and the byte before it the read at which the file is damaged once
 * more. FUZZ_BESIDE names a sound store, which merge, diff and report get in addition.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../core/formats/format-writer.h"
#include "../../core/model/model.h"
#include "../../core/store/layout.h"
#include "fuzz-command.h"

#define SECONDS 5
#define BATCH 200

#ifndef LIBFUZZER
/* 0 refused, 1 shown */
static int show(const unsigned char *bytes, size_t n, int to)
{
	/* Allocate exactly as much: reading a byte behind it is an error. */
	unsigned char *copy = malloc(n ? n : 1);
	struct sp_store_reader reader = { .base = copy, .bytes = n };
	static char buffer[65536];
	struct sp_model m;
	struct sp_out o;
	int r;

	memcpy(copy, bytes, n);
	r = sp_model_open(&m, &reader);
	if (r == 0) {
		for (unsigned i = 0; i < sp_n_format_writers; i++) {
			sp_out_init(&o, to, buffer, sizeof(buffer));
			sp_format_writers[i].write(&o, &(struct sp_selection){ .m = &m });
			sp_out_finish(&o);
		}
		sp_model_close(&m);
	} else if (r != -EINVAL && r != -EPROTO && r != -EPROTONOSUPPORT && r != -ENOMEM) {
		abort();		/* model.h guarantees these */
	}
	free(copy);
	return r == 0;
}
#endif

struct seed_store {
	unsigned char *bytes;
	size_t n;
};

static struct seed_store *stores;
static int n_stores;
static unsigned long state;

static unsigned long rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t below(size_t n)
{
	return n ? rnd() % n : 0;
}

static void start_rnd(unsigned long seed, unsigned long number)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15ul ^ (number + 1) * 0xbf58476d1ce4e5b9ul;
	for (int i = 0; i < 8; i++)
		rnd();
}

/* ---- damage ------------------------------------------------------------------- */

static const unsigned long words[] = { 0,
				       1,
				       7,
				       8,
				       63,
				       64,
				       127,
				       255,
				       4095,
				       4096,
				       65535,
				       65536,
				       0x7fffffff,
				       0x80000000,
				       0xffffffff,
				       0x100000000,
				       0x7fffffffffffffff,
				       0x8000000000000000,
				       0xffffffffffffffff,
				       0xfffffffffffffff8 };

/* Returns the start of a block, or a field of the header. */
static size_t some_block(const unsigned char *b, size_t n)
{
	for (int tries = 0; n > sizeof(struct sp_header) + 4 && tries < 4000; tries++) {
		size_t at = sizeof(struct sp_header) + below(n - sizeof(struct sp_header) - 3);
		unsigned kind;

		at &= ~(size_t)7;
		memcpy(&kind, b + at, 4);
		if (kind >= SP_BLOCK_STRING && kind <= SP_BLOCK_MACHINE)
			return at;
	}
	return below(n);
}

static void put(unsigned char *b, size_t n, size_t at, const void *v, size_t bytes)
{
	if (at + bytes <= n)
		memcpy(b + at, v, bytes);
}

static size_t harm(unsigned char *b, size_t n)
{
	const struct seed_store *other = &stores[below(n_stores)];
	size_t at = rnd() & 1 ? below(sizeof(struct sp_header))
			      : some_block(b, n) + below(rnd() & 1 ? 64 : 1024);
	size_t to, length;
	unsigned long v;

	if (at >= n)
		at = below(n);
	switch (below(10)) {
	case 0:				/* a bit */
		b[at] ^= 1u << below(8);
		break;
	case 1:				/* a byte, or eight */
		v = rnd() * 0x9e3779b97f4a7c15ul;
		put(b, n, below(2) ? at : at & ~7ul, &v, below(2) ? 1 : 8);
		break;
	case 2:				/* a special word */
		v = words[below(sizeof(words) / sizeof(words[0]))];
		put(b, n, at & ~(rnd() & 1 ? 3ul : 7ul), &v, rnd() & 1 ? 4 : 8);
		break;
	case 3:				/* an offset anywhere: to a block, near one, outside */
		v = some_block(b, n) + (below(4) ? 0 : below(64)) + (below(8) ? 0 : n);
		put(b, n, at & ~7ul, &v, 8);
		break;
	case 4:				/* moves a piece of it */
	case 5:				/* a piece of another store */
		length = below(2048);
		to = some_block(b, n);
		at = below(2) ? some_block(other->bytes, other->n) : below(other->n);
		if (at + length <= other->n && to + length <= n)
			memcpy(b + to, other->bytes + at, length);
		break;
	case 6:				/* repeats one byte */
		length = below(512);
		if (at + length <= n)
			memset(b + at, below(2) ? 0 : 0xff, length);
		break;
	case 7:				/* increases or decreases a small number */
		if ((at & ~3ul) + 4 > n)	/* it was cut before */
			break;
		memcpy(&v, b + (at & ~3ul), 4);
		v += below(2) ? 1 : -1;
		put(b, n, at & ~3ul, &v, 4);
		break;
	case 8:				/* a block's size or kind */
		at = some_block(b, n) + (below(2) ? 4 : 0);
		v = below(2) ? words[below(12)] : 0x5301 + below(8);
		put(b, n, at, &v, 4);
		break;
	default:			/* cut */
		if (!below(4))
			return below(8) || n < 512 ? below(n) : below(512);
	}
	return n;
}

/* Damage by another writer; the first words stay. */
static struct fuzz_writer more_harm(const unsigned char *b, size_t n, unsigned at)
{
	unsigned char *bytes = malloc(n + 1);
	struct fuzz_writer w = {.at = at, .bytes = bytes, .n = n};

	memcpy(bytes, b, n);
	for (unsigned i = 0; i < 8 && w.n; i++)
		w.n = harm(bytes, w.n);
	memcpy(bytes, b, n < 20 ? n : 20);
	return w;
}

static void load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct seed_store *s = &stores[n_stores++];

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(path);
		exit(2);
	}
	s->n = ftell(f);
	s->bytes = malloc(s->n);
	rewind(f);
	if (fread(s->bytes, 1, s->n, f) != s->n)
		exit(2);
	fclose(f);
}

#ifdef LIBFUZZER
size_t LLVMFuzzerMutate(unsigned char *bytes, size_t n, size_t most);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *sound_file = getenv("FUZZ_BESIDE");

	(void)argc, (void)argv;
	if (!sound_file)
		exit(2);
	stores = calloc(1, sizeof(*stores));
	load(sound_file);
	fuzz_command_begin(sound_file);
	atexit(fuzz_command_end);
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
	struct fuzz_writer writer;

	if (n < 2)
		return 0;
	start_rnd(bytes[n - 2], n);
	writer = more_harm(bytes, n - 2, bytes[n - 2]);
	fuzz_command(bytes, n - 2, &writer, bytes[n - 1]);
	free((void *)writer.bytes);
	return 0;
}

/* libFuzzer's own mutations, ours, which understand blocks, and another command line. */
size_t LLVMFuzzerCustomMutator(unsigned char *bytes, size_t n, size_t most, unsigned seed)
{
	unsigned char which = n ? bytes[n - 1] : 0, at = n > 1 ? bytes[n - 2] : 0;
	size_t left = n > 1 ? n - 2 : 0;

	start_rnd(seed, n);
	if (!below(6))
		which = (unsigned char)below(fuzz_commands);
	else if (!below(6))
		at = (unsigned char)below(64);
	else if (left < 512 || below(2))
		left = LLVMFuzzerMutate(bytes, left, most - 2);
	else
		left = harm(bytes, left);
	bytes[left] = at;
	bytes[left + 1] = which;
	return left + 2;
}
#else
static size_t make(unsigned char **b, unsigned long seed, unsigned long number)
{
	const struct seed_store *s;
	size_t n;

	start_rnd(seed, number);
	s = &stores[below(n_stores)];
	n = s->n;
	*b = malloc(n);
	memcpy(*b, s->bytes, n);
	for (unsigned long i = 1 + below(below(2) ? 2 : 12); i && n; i--)
		n = harm(*b, n);
	/*
	 * Mostly keep the fields readable that every reader checks first: otherwise all would end
	 * there.
	 */
	if (n >= 64 && below(20))
		memcpy(*b, s->bytes, 20);
	return n;
}

/* ---- running ---------------------------------------------------------------------- */

static struct shared {
	unsigned long at, shown, refused;
	double slowest;
} *shared;

static void batch(unsigned long seed, unsigned long from, unsigned long to)
{
	int null = open("/dev/null", O_WRONLY);

	for (unsigned long i = from; i < to; i++) {
		unsigned char *b;
		size_t n = make(&b, seed, i);
		struct fuzz_writer writer = more_harm(b, n, i % 3 ? 1 + (unsigned)below(40) : 0);
		struct timespec t0, t1;
		double took;

		shared->at = i;
		alarm(SECONDS + 5);
		clock_gettime(CLOCK_MONOTONIC, &t0);
		if (show(b, n, null))
			shared->shown++;
		else
			shared->refused++;
		fuzz_command(b, n, &writer, (unsigned)i);
		clock_gettime(CLOCK_MONOTONIC, &t1);
		took = (t1.tv_sec - t0.tv_sec) + (t1.tv_nsec - t0.tv_nsec) / 1e9;
		if (took > shared->slowest)
			shared->slowest = took;
		if (took > SECONDS)
			raise(SIGALRM);
		free(b);
		free((void *)writer.bytes);
	}
	_exit(0);
}

static void write_one(const char *path, unsigned long seed, unsigned long number)
{
	unsigned char *b;
	size_t n = make(&b, seed, number);
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(b, 1, n, f) != n || fclose(f)) {
		perror(path);
		exit(2);
	}
	free(b);
}

int main(int argc, char **argv)
{
	unsigned long n = 10000, seed = 1, first = 0, wrong = 0;
	const char *dir = ".", *only = NULL;
	int opt, status, first_store;

	while ((opt = getopt(argc, argv, "n:s:f:o:w:l")) != -1) {
		if (opt == 'n')
			n = strtoul(optarg, NULL, 0);
		else if (opt == 's')
			seed = strtoul(optarg, NULL, 0);
		else if (opt == 'f')
			first = strtoul(optarg, NULL, 0);
		else if (opt == 'o')
			dir = optarg;
		else if (opt == 'w')
			only = optarg;
		else if (opt == 'l')
			return printf("%u\n", fuzz_commands) < 0;
		else
			return 2;
	}
	first_store = optind;
	stores = calloc(argc, sizeof(*stores));
	for (int i = first_store; i < argc; i++)
		load(argv[i]);
	if (only) {
		write_one(only, seed, first);
		return 0;
	}
	fuzz_command_begin(argv[first_store]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	for (unsigned long at = first; at < first + n;) {
		unsigned long to = at + BATCH < first + n ? at + BATCH : first + n;
		pid_t pid = fork();
		char path[600];

		if (!pid)
			batch(seed, at, to);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && !WEXITSTATUS(status)) {
			at = to;
			continue;
		}
		snprintf(path, sizeof(path), "%s/fuzz-%lu-%lu.sspapi", dir, seed, shared->at);
		write_one(path, seed, shared->at);
		printf("number %lu of seed %lu: %s; %s\n", shared->at, seed,
		       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "too slow" : "crashed",
		       path);
		at = shared->at + 1;
		if (++wrong == 20)
			break;
	}
	fuzz_command_end();
	printf("%lu stores: %lu shown, %lu refused, slowest %.2f s\n", n, shared->shown,
	       shared->refused, shared->slowest);
	return wrong != 0;
}
#endif

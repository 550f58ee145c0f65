/*
 * many-stores.c: writes thousands of stores for merge, through core/store as the library does, of
 * processes that never ran.
 *
 *	many-stores FOLDER FIRST N [CPUS [HOSTS [BYTES]]]
 *
 * Store number i (FIRST .. FIRST + N - 1) is rank i, on host i % HOSTS, of a machine with CPUS CPUs
 * and a description of BYTES: 4 threads, 4 events, counts on some of the CPUs. Prints a line "EVENT
 * SUM" per event: the sums of all stores.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/formats/format-writer.h"
#include "tests/unit/book.h"
#include "core/store/store.h"

#define THREADS	4
#define EVENTS	4

static long long sum[EVENTS];
static struct sp_component tree[1 << 16];
static char xml[1 << 20];
static unsigned xml_bytes = 100000;

static uint32_t build_tree(unsigned cpus)
{
	uint32_t n = 0, machine = n++, package = 0, core = 0;

	tree[machine] = (struct sp_component){
		.parent = -1, .os_index = 0, .cpu_kind = -1, .gp_index = 1, .type = "Machine"
	};
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		if (cpu % 64 == 0) {
			package = n++;
			tree[package] = (struct sp_component){ .parent = (int)machine,
							       .os_index = (int)cpu / 64,
							       .logical_index = (int)cpu / 64,
							       .cpu_kind = -1,
							       .depth = 1,
							       .gp_index = n,
							       .type = "Package" };
			tree[n] = (struct sp_component){ .parent = (int)package,
							 .os_index = (int)cpu / 64,
							 .logical_index = (int)cpu / 64,
							 .cpu_kind = -1,
							 .depth = 2,
							 .gp_index = n + 1,
							 .flags = SP_COMPONENT_MEMORY,
							 .size = 1ull << 37,
							 .type = "NUMANode" };
			n++;
		}
		if (cpu % 2 == 0) {
			core = n++;
			tree[core] = (struct sp_component){ .parent = (int)package,
							    .os_index = (int)cpu / 2,
							    .logical_index = (int)cpu / 2,
							    .cpu_kind = -1,
							    .depth = 2,
							    .gp_index = n,
							    .type = "Core" };
		}
		tree[n] = (struct sp_component){ .parent = (int)core,
						 .os_index = (int)cpu,
						 .logical_index = (int)cpu,
						 .cpu_kind = -1,
						 .depth = 3,
						 .gp_index = n + 1,
						 .type = "PU" };
		n++;
	}
	return n;
}

static uint64_t random_state;

static uint64_t next(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return random_state >> 33;
}

static bool nobody(sp_off relation, void *arg)
{
	(void)relation;
	(void)arg;
	return false;
}

static void count(const struct sp_store_reader *reader, sp_off off, uint32_t cells, unsigned cpus)
{
	long long x[EVENTS] = { 0 };
	struct sp_writer w;
	unsigned readings = 1 + (unsigned)next() % 8;

	sp_records_bind(&w, reader, off, EVENTS, cells, NULL);
	book_call(&w, SP_OP_START, SP_NO_CPU, NULL, false, 0);
	for (unsigned i = 0; i <= readings; i++) {
		for (unsigned e = 0; e < EVENTS; e++) {
			long long more = (long long)(next() % 1000000);

			x[e] += more;
			sum[e] += more;
		}
		book_call(&w, i == readings ? SP_OP_STOP : SP_OP_READ, (int)(next() % cpus), x,
			  next() % 2, 0);
	}
}

static void fill(struct sp_store *s, unsigned number, unsigned cpus, unsigned hosts,
		 uint32_t components)
{
	static const char *const names[EVENTS] = { "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L3_TCM",
						   "PAPI_BR_MSP" };
	struct sp_relation_key key = { .k = EVENTS };
	uint32_t ids[EVENTS];
	char text[64];

	snprintf(text, sizeof(text), "node%04u", number % hosts);
	s->header->process.host = sp_store_text(s, text);
	s->header->process.exe = sp_store_text(s, "/usr/bin/solver");
	s->header->process.args = sp_store_texts(s, 2, (const char *const[]){ "solver", "-n" });
	s->header->process.rank = number;
	s->header->process.pid = 1000 + number;
	s->header->process.start_ns = 1700000000000000000u + number;
	s->header->process.end_ns = s->header->process.start_ns + 1000000000;
	s->header->end = SP_END_EXIT;
	s->header->call_names =
		sp_store_texts(s, 2, (const char *const[]){ "PAPI_start", "PAPI_stop" });
	if (sp_store_topology(s, tree, components, cpus, "system", xml, xml_bytes) < 0)
		exit(1);
	for (unsigned e = 0; e < EVENTS; e++)
		ids[e] = (uint32_t)sp_store_event(s, &(struct sp_event_text){
							     .name = names[(e + number) % EVENTS],
							     .component = "perf_event",
							     .derived = "NOT_DERIVED" });
	key.event = ids;
	for (unsigned t = 0; t < THREADS; t++) {
		struct sp_thread *thread;
		struct sp_relation *r;
		sp_off at, off;

		thread = sp_store_thread(s, (int)(1000 + number + t), "worker", &at);
		thread->calls[0] = thread->calls[1] = 1;
		r = sp_store_relation(s, at, &key, nobody, NULL, &off);
		if (!r)
			exit(1);
		count(&s->reader, off, s->cells, cpus);
	}
}

static void write_store(struct sp_store *s, const char *path)
{
	static char buffer[1 << 16];
	struct sp_model m;
	struct sp_out o;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	sp_store_begin(s);
	if (fd < 0 || sp_model_open(&m, &s->reader) < 0) {
		perror(path);
		exit(1);
	}
	sp_out_init(&o, fd, buffer, sizeof(buffer));
	o.own = true;
	sp_format_store(&o, &(struct sp_selection){ .m = &m });
	if (sp_out_finish(&o) < 0)
		exit(1);
	sp_model_close(&m);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned first = argc > 3 ? (unsigned)atoi(argv[2]) : 0,
		 n = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	unsigned cpus = argc > 4 ? (unsigned)atoi(argv[4]) : 128,
		 hosts = argc > 5 ? (unsigned)atoi(argv[5]) : 100;
	static const char *const names[EVENTS] = { "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L3_TCM",
						   "PAPI_BR_MSP" };
	long long named[EVENTS] = { 0 };
	uint32_t components = build_tree(cpus);

	xml_bytes =
		argc > 6 ? (unsigned)sp_min((unsigned long)atol(argv[6]), sizeof(xml)) : xml_bytes;
	memset(xml, ' ', sizeof(xml));
	if (!n)
		return 2;
	for (unsigned i = first; i < first + n; i++) {
		struct sp_store s = { 0 };
		char path[4096];

		memset(sum, 0, sizeof(sum));
		random_state = i + 1;
		if (sp_store_open(&s) < 0)
			return 1;
		fill(&s, i, cpus, hosts, components);
		snprintf(path, sizeof(path), "%s/s%06u.sspapi", argv[1], i);
		write_store(&s, path);
		sp_store_close(&s);
		for (unsigned e = 0; e < EVENTS; e++)
			named[(e + i) % EVENTS] += sum[e];
	}
	for (unsigned e = 0; e < EVENTS; e++)
		printf("%s %lld\n", names[e], named[e]);
	return 0;
}

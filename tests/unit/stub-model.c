/* stub-model.c: model.h and store-reader.h over a machine and counts made by hand, so
 * that views are tested against numbers that no other code of ours worked out.
 *
 * Included by t-formats.c, and never linked beside core/model/model-*.c.  Two packages
 * (P-cores, kind 1; E-cores, kind 0) of two cores; threads that migrate, that
 * end, that never read; CPUs that nobody knows; texts that mean harm.
 */
#include "../../core/model/core-kinds.h"
#include "../../core/store/blocks.h"

#include <string.h>

enum stub {
	STUB_FULL,
	STUB_UNPROVEN,
	STUB_ALL_PROVEN,
	STUB_NO_START,
	STUB_NO_READING,
	STUB_WIDE,
	STUB_BARE
};

#define HOSTILE		"ev\x1b[31m<&>\"\n\xff,\\"
#define LONG_NAME	"perf::PERF_COUNT_HW_CACHE_REFERENCES:u=0:k=1:period=100000:precise=2"
#define STUB_EVENTS	40u
#define STUB_COMPONENTS	23u
#define STUB_CPU_OF(c)	((c) == 7 ? 0 : (c) == 11 ? 1 : (c) == 18 ? 2 : (c) == 22 ? 3 : -1)

/* ---- texts: an sp_off is an index here ---------------------------------- */

enum {
	T_NONE,
	T_HOST,
	T_EXE,
	T_JOB,
	T_CWD,
	T_LIBRARY,
	T_INS,
	T_CYC,
	T_LONG,
	T_ENERGY,
	T_TEMP,
	T_BIG,
	T_HOSTILE,
	T_COMPONENT,
	T_DERIVED,
	T_UNITS,
	T_DESCRIPTION,
	T_ARGS,
	T_NATIVES,
	T_WIDE,
	T_ALLOWED
};

static const char *stub_text[] = {
	[T_NONE] = "",
	[T_HOST] = "node017",
	[T_EXE] = "/home/u/bin/matmul",
	[T_JOB] = "881234",
	[T_CWD] = "/home/u/run",
	[T_LIBRARY] = "/usr/lib/libpapi.so.7.0",
	[T_INS] = "PAPI_TOT_INS",
	[T_CYC] = "PAPI_TOT_CYC",
	[T_LONG] = LONG_NAME,
	[T_ENERGY] = "rapl:::PACKAGE_ENERGY:PACKAGE0",
	[T_TEMP] = "coretemp:::hwmon0:temp1_input",
	[T_BIG] = "BIG",
	[T_HOSTILE] = HOSTILE,
	[T_COMPONENT] = "perf_event",
	[T_DERIVED] = "NOT_DERIVED",
	[T_UNITS] = "nJ",
	[T_DESCRIPTION] = "Instructions \"completed\"\t\xc3\xa9\xe2\x80\xae",
	[T_ARGS] = "args",
	[T_NATIVES] = "natives",
	[T_WIDE] = "A_RATHER_WIDE_EVENT_NAME",
	[T_ALLOWED] = "0,2-9",
};
static const char *stub_args[] = { "./matmul",	"-n",	       "2000", "two words",
				   "tab\there", "caf\xc3\xa9", NULL };
static const char *stub_natives[] = { "ix86arch::INSTRUCTION_RETIRED", NULL };
static const char *stub_calls[] = { "PAPI_library_init", "PAPI_start",	   "PAPI_read",
				    "PAPI_stop",	 "PAPI_add_event", NULL };
static const char *stub_notes[] = {
	"PAPI refused PAPI_L3_TCM (-7, event does not exist): it is not counted",
	"a note with \x1b[2J in it,\nof a great many words: " HOSTILE
	" and then some more of them so that it must be "
	"broken into several lines, because nobody reads lines of two hundred and more columns on "
	"a terminal",
	NULL
};

static unsigned char stub_bytes[3 * 4096 + 808];
static uint64_t stub_hole;	/* offset of a piece that cannot be had; 0: none */

const void *sp_store_reader_at(const struct sp_store_reader *reader, sp_off off, uint64_t len)
{
	if (off % 8 || off > reader->bytes || len > reader->bytes - off ||
	    (stub_hole && off < stub_hole + 4096 && off + len > stub_hole))
		return NULL;
	return reader->base + off;
}

const void *sp_store_reader_block(const struct sp_store_reader *reader, sp_off off, uint32_t kind,
				  uint64_t least)
{
	return NULL;
}

const char *sp_store_reader_text(const struct sp_store_reader *reader, sp_off off)
{
	return off < SP_COUNT(stub_text) ? stub_text[off] : "";
}

const char *sp_store_reader_text_at(const struct sp_store_reader *reader, sp_off off, uint32_t i)
{
	if (off == T_ARGS)
		return i < SP_COUNT(stub_args) ? stub_args[i] : NULL;
	return off == T_NATIVES && i < SP_COUNT(stub_natives) ? stub_natives[i] : NULL;
}

/* ---- the machine ------------------------------------------------------- */

#define C(up, os, log, kind_, deep, bytes_, type_, more) \
	{ \
		.parent = up, .os_index = os, .logical_index = log, .cpu_kind = kind_, \
		.depth = deep, .size = bytes_, .type = type_, .flags = more \
	}
#define CHAIN(first, l3, n, cpu, kind) \
	C(l3, -1, n, -1, 3, 2 << 20, "L2", 0), C((first), -1, n, -1, 4, 48 << 10, "L1d", 0), \
	C((first) + 1, n, n, kind, 5, 0, "Core", 0), C((first) + 2, cpu, n, kind, 6, 0, "PU", 0)

static struct sp_component stub_component[STUB_COMPONENTS] = {
	C(-1, 0, 0, -1, 0, 0, "Machine", 0),
	C(0, 0, 0, -1, 1, 0, "Package", 0),
	C(1, 0, 0, -1, 2, 16ull << 30, "NUMANode", SP_COMPONENT_MEMORY),
	C(1, -1, 0, -1, 2, 32 << 20, "L3", 0),
	CHAIN(4, 3, 0, 0, 1),
	CHAIN(8, 3, 1, 1, 1),
	C(0, 1, 1, -1, 1, 0, "Package", 0),
	C(12, 1, 1, -1, 2, 16ull << 30, "NUMANode", SP_COMPONENT_MEMORY),
	C(12, -1, 1, -1, 2, 32 << 20, "L3", 0),
	CHAIN(15, 14, 2, 2, 0),
	CHAIN(19, 14, 3, 3, 0),
};

/* ---- events and relations ---------------------------------------------- */

static struct sp_event stub_event[STUB_EVENTS] = {
	{ .id = 0,
	  .code = 0x80000032,
	  .name = T_INS,
	  .component = T_COMPONENT,
	  .derived = T_DERIVED,
	  .description = T_DESCRIPTION,
	  .natives = T_NATIVES },
	{ .id = 1,
	  .code = 0x8000003b,
	  .name = T_CYC,
	  .component = T_COMPONENT,
	  .derived = T_DERIVED },
	{ .id = 2, .code = 0x40000001, .name = T_LONG, .component = T_COMPONENT },
	{ .id = 3, .code = 0x40000002, .name = T_ENERGY, .data_type = SP_FP64, .units = T_UNITS },
	{ .id = 4, .name = T_INS }, /* stands for NULL */
	{ .id = 5, .code = 0x40000004, .name = T_TEMP, .kind = SP_GAUGE },
	{ .id = 6, .code = 0x40000005, .name = T_BIG, .data_type = SP_UINT64 },
	{ .id = 7, .code = 0x40000006, .name = T_HOSTILE },
};

struct stub_cell {
	int32_t cpu;
	uint64_t readings;
	bool entry;
	int64_t total[6], exact[6];
};

struct stub_relation {
	struct sp_row row;
	uint32_t event[6];
	struct stub_cell cell[4];
};

#define JOULE		0x4093480000000000ll	/* 1234.0 */
#define HALF		0x3fe0000000000000ll	/* 0.5 */

static const struct stub_relation stub_full[] = {
	{ { .id = 0,
	    .event_set = 0,
	    .tid = 4242,
	    .thread = "main",
	    .threads = 1,
	    .k = 4,
	    .starts = 2,
	    .resets = 1,
	    .readings = 12034,
	    .first_ns = 1700000000000000000,
	    .last_ns = 1700000011200000000,
	    .cells = 3 },
	  { 0, 1, 2, 3 },
	  { { 0,
	      12000,
	      true,
	      { 12345678901, 23456789012, 1234, JOULE },
	      { 12345678901, 23456789012, 1234, JOULE } },
	    { 1, 33, false, { 1000, 2000, 3, HALF }, { 0, 0, 0, 0 } },
	    { SP_NO_CPU, 1, true, { 7, 8, 9, HALF }, { 0, 0, 0, 0 } } } },
	{ { .id = 1,
	    .event_set = 3,
	    .tid = 4243,
	    .thread = "wo\x1b\"rk,er\xff",
	    .target = SP_TARGET_CPU,
	    .target_id = 2,
	    .scope = SP_SCOPE_CPU,
	    .flags = SP_RELATION_BACKWARDS,
	    .threads = 1,
	    .k = 3,
	    .starts = 1,
	    .readings = 3,
	    .cells = 2 },
	  { 0, 6, 7 },
	  { { 2, 2, true, { 6172839450, -1, -5 }, { 6172839450, 0, 0 } },
	    { 99, 1, false, { 5, 0, 1 }, { 0, 0, 0 } } } },
	{ { .id = 2,
	    .intervals = 4,
	    .walk.overflows = 2,
	    .event_set = 0,
	    .tid = 0,
	    .thread = "",
	    .threads = 5000,
	    .k = 2,
	    .starts = 5000,
	    .readings = 5000,
	    .cells = 2 },
	  { 1, 0 },
	  { { 1, 4000, false, { 40, 30 }, { 0, 0 } }, { 3, 1000, false, { 4, 3 }, { 0, 0 } } } },
	{ { .id = 3,
	    .event_set = 1,
	    .tid = 4244,
	    .thread = "idle",
	    .threads = 1,
	    .k = 1,
	    .starts = 1 },
	  { 0 },
	  { { 0 } } },
	{ { .id = 4,
	    .event_set = 2,
	    .tid = 4242,
	    .thread = "main",
	    .target = SP_TARGET_TID,
	    .target_id = 4711,
	    .flags = SP_RELATION_FOREIGN,
	    .threads = 1,
	    .k = 2,
	    .starts = 1,
	    .readings = 2,
	    .cells = 2 },
	  { 5, 4 },
	  { { 0, 1, false, { 42, 1 }, { 0, 0 } }, { 1, 1, false, { 43, 2 }, { 0, 0 } } } },
};

static struct stub_relation stub_relation[8];
static uint32_t stub_relations;

bool sp_model_next(struct sp_model *m, struct sp_row *row)
{
	uint64_t next = row->walk.index;

	if (next >= stub_relations)
		return false;
	*row = stub_relation[next].row;
	row->event = stub_relation[next].event;
	row->of_thread = row->threads;
	row->thread_at = 100 + (uint64_t)row->tid;
	row->walk.index = next + 1;
	return true;
}

/* Of a row that says it has some: 1 .. 7 on CPU 1, with 100 and 200 on CPU 0 between them. */
bool sp_row_kept(const struct sp_model *m, const struct sp_row *row, struct sp_kept *at)
{
	static const struct { int32_t cpu; int64_t value; } kept[] = {
		{ 1, 1 }, { 0, 100 }, { 1, 2 }, { 1, 3 }, { 1, 4 }, { 0, 200 }, { 1, 5 }, { 1, 6 },
		{ 1, 7 },
	};

	if (!row->kept || at->n == SP_COUNT(kept))
		return false;
	at->cpu = kept[at->n].cpu;
	at->value = &kept[at->n].value;
	at->ns = 1700000000000000000 + at->n++;
	return true;
}

bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at)
{
	const struct stub_cell *c;

	if (i >= row->cells)
		return false;
	c = &stub_relation[row->walk.index - 1].cell[i];
	*at = (struct sp_at_cpu){ .cpu = c->cpu,
				  .component = -1,
				  .readings = c->readings,
				  .total = c->total,
				  .exact = c->exact,
				  .has_entry = c->entry,
				  .entry = c->total,
				  .entry_ns = 1700000000123456789 };
	for (uint32_t n = 0; n < m->n_components; n++) {
		if (c->cpu >= 0 && STUB_CPU_OF(n) == c->cpu)
			at->component = (int32_t)n;
	}
	return true;
}

/* The calls of sites 1 and 2 if stub_twins: they are at one address then. Unknown: they are not. */
static enum sp_site_call stub_twin_call[3];

/* Of each relation that has intervals: from nowhere to site 1 all but one of a CPU's
 * counts, from there to site 2 the last one. */
bool sp_row_interval(struct sp_model *m, struct sp_row *row, uint32_t i,
		     struct sp_interval_counts *at)
{
	static int64_t total[2][6];
	struct sp_at_cpu cpu;

	if (i >= row->intervals || !sp_row_cell(m, row, i / 2, &cpu))
		return false;
	for (uint32_t e = 0; e < row->k; e++) {
		total[0][e] = i % 2 ? 1 : cpu.total[e] - 1;
		total[1][e] = cpu.exact[e] == cpu.total[e] ? total[0][e] : i % 2 ? 0 : cpu.exact[e];
	}
	*at = (struct sp_interval_counts){ .from = stub_twin_call[1] ? 1 : i % 2,
				   .to = 1 + i % 2,
				   .cpu = cpu.cpu,
				   .component = cpu.component,
				   .count = i % 2 ? 1 : cpu.readings - 1,
				   .total = total[0],
				   .exact = total[1] };
	return true;
}

static const char *stub_symbol;	/* of all frames; NULL: as below */
static struct sp_inlined *stub_into;	/* what the outermost frames were inlined into */
static uint32_t stub_n_into;
static bool stub_twins;	/* sites 1 and 2 are on one line of one function, called from one place */

bool sp_model_callsite(const struct sp_model *m, uint32_t id, struct sp_callsite *c)
{
	if (stub_twins && id) {
		*c = (struct sp_callsite){ .frames = 2, .name = "",
					   .call = stub_twin_call[id % 3] };
		return id < 3;
	}
	*c = (struct sp_callsite){ .frames = id,
				   .name = id == 2 ? ""
					   : id	   ? "re\x1bgion"
						   : "other" };
	return id == 1 || id == 2;
}

bool sp_model_frame(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_info *f)
{
	if (i >= (stub_twins ? 2 : id))
		return false;
	*f = (struct sp_frame_info){ .module = i ? "/lib/" HOSTILE : "/home/u/bin/matmul",
				     .build_id = "00ff",
				     .offset = stub_twins && i ? 0x2000 : 0x1000 + id * 16 + i,
				     .symbol = i ? "" : "ma\"in",
				     .line = i ? "" : "a.c:7" };
	f->offset = stub_twin_call[1] && !i ? 0x1000 : f->offset;
	f->symbol = stub_symbol && !i ? stub_symbol : f->symbol;
	f->into = stub_into;
	f->n_into = i ? 0 : stub_n_into;
	return true;
}

const char *sp_model_frame_module(const struct sp_model *m, uint32_t id, uint32_t i)
{
	struct sp_frame_info f;

	return sp_model_frame(m, id, i, &f) ? f.module : NULL;
}

bool sp_model_same_frame(const struct sp_model *m, uint32_t a, uint32_t i, uint32_t b, uint32_t k)
{
	struct sp_frame_info f, g;

	return sp_model_frame(m, a, i, &f) && sp_model_frame(m, b, k, &g) && f.offset == g.offset;
}

/* Of a relation that has any: on CPU 0 calls at two places, as many at each; of an event that PAPI
 * does not tell at none. */
bool sp_row_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *i,
		     struct sp_overflowed *at)
{
	if (*i >= row->walk.overflows)
		return false;
	++*i;
	*at = (struct sp_overflowed){ .event = *i == 1 ? 0 : row->k,
				      .cpu = *i == 1 ? 0 : SP_NO_CPU,
				      .count = *i == 1 ? 12 : 7,
				      .other = *i == 1 ? 2 : 7,
				      .number = *i };
	return true;
}

bool sp_row_hit(const struct sp_model *m, const struct sp_row *row, const struct sp_overflowed *at,
		uint32_t *hit, struct sp_frame_info *f, uint64_t *count)
{
	if (at->number != 1 || *hit == 1)
		return false;
	*hit = *hit == UINT32_MAX ? 0 : 1;
	*count = 5;
	return sp_model_frame(m, 2, *hit, f);
}

int32_t sp_model_above(const struct sp_model *m, int32_t c, const char *type)
{
	if (!strcmp(type, "NUMANode"))
		return c < 12 ? 2 : 13;
	while (c >= 0 && strcmp(m->component[c].type, type) != 0)
		c = m->component[c].parent;
	return c;
}

const char *sp_model_text(const struct sp_model *m, sp_off off)
{
	return sp_store_reader_text(m->reader, off);
}

const char *sp_model_call_name(const struct sp_model *m, uint32_t i)
{
	return i < SP_COUNT(stub_calls) ? stub_calls[i] : NULL;
}

const struct sp_watched *sp_row_watched(const struct sp_model *m, const struct sp_row *row)
{
	return NULL;
}

const char *sp_model_note_of(const struct sp_model *m, uint32_t process, uint32_t i)
{
	return sp_model_note(m, i);
}

uint32_t sp_row_hit_module(const struct sp_model *m, uint32_t hit, uint64_t *address)
{
	return 0;
}

const char *sp_model_note(const struct sp_model *m, uint32_t i)
{
	return i < m->h.lists.n_notes ? stub_notes[i] : NULL;
}

/* ---- the model --------------------------------------------------------- */

static int64_t stub_sum[STUB_COMPONENTS * STUB_EVENTS], stub_exact[STUB_COMPONENTS * STUB_EVENTS];
static int64_t stub_total[STUB_EVENTS], stub_total_exact[STUB_EVENTS], stub_unplaced[STUB_EVENTS];
static bool stub_counted[STUB_COMPONENTS], stub_event_counted[STUB_EVENTS];
static bool stub_present[STUB_COMPONENTS * STUB_EVENTS];	/* all */
static uint8_t stub_kinds_below[STUB_COMPONENTS];
static const struct sp_event *stub_events[STUB_EVENTS];
static struct sp_store_reader stub_image = { .base = stub_bytes, .bytes = sizeof(stub_bytes) };

static void stub_add(uint32_t id, int64_t *to, int64_t v)
{
	double a, b;

	if (stub_event[id].data_type != SP_FP64) {
		*to = (int64_t)((uint64_t)*to + (uint64_t)v);
		return;
	}
	memcpy(&a, to, 8);
	memcpy(&b, &v, 8);
	a += b;
	memcpy(to, &a, 8);
}

static void stub_book(struct sp_model *m, uint32_t id, struct sp_at_cpu *at, int64_t total,
		      int64_t exact)
{
	int32_t c = at->component;

	m->event_counted[id] = true;
	if (stub_event[id].kind == SP_GAUGE || !m->event[id])
		return;
	stub_add(id, &m->sums.total[id], total);
	stub_add(id, &m->sums.total_exact[id], exact);
	if (c < 0)
		stub_add(id, &m->sums.unplaced[id], total);
	for (; c >= 0; c = m->component[c].parent) {
		m->kinds_below[c] |= 1u << m->component[at->component].cpu_kind;
		m->sums.counted[c] = true;
		stub_add(id, &m->sums.below[(uint32_t)c * m->n_events + id], total);
		stub_add(id, &m->sums.below_exact[(uint32_t)c * m->n_events + id], exact);
		if (c == 1 || c == 12) {
			m->sums.counted[c + 1] = true;
			stub_add(id, &m->sums.below[((uint32_t)c + 1) * m->n_events + id], total);
			stub_add(id, &m->sums.below_exact[((uint32_t)c + 1) * m->n_events + id],
				 exact);
		}
	}
}

static void stub_relations_of(enum stub kind)
{
	stub_relations = kind == STUB_NO_START ? 0 : SP_COUNT(stub_full);
	memcpy(stub_relation, stub_full, sizeof(stub_full));
	for (uint32_t r = 0; r < stub_relations; r++) {
		struct stub_relation *s = &stub_relation[r];

		for (uint32_t i = 0; i < s->row.cells; i++) {
			if (kind == STUB_UNPROVEN)
				memset(s->cell[i].exact, 0, sizeof(s->cell[i].exact));
			if (kind == STUB_ALL_PROVEN)
				memcpy(s->cell[i].exact, s->cell[i].total,
				       sizeof(s->cell[i].exact));
		}
		if (kind == STUB_NO_READING)
			s->row.cells = 0, s->row.readings = 0;
	}
	if (kind != STUB_WIDE)
		return;
	for (uint32_t e = 0; e < 6; e++) {
		stub_relation[0].event[e] = 8 + e;
		stub_relation[0].cell[0].total[e] = INT64_MIN + 1;
		stub_relation[2].event[e] = 14 + e;
		stub_relation[4].event[e] = 20 + e;
	}
	stub_relation[0].row.k = stub_relation[2].row.k = stub_relation[4].row.k = 6;
}

static struct sp_model *stub_model(enum stub kind)
{
	static struct sp_model m;
	static struct sp_model_process process[1];
	static struct sp_model_machine machine[1];
	struct sp_row row = { 0 };
	sp_off before = 0;
	struct sp_at_cpu at;

	stub_relations_of(kind);
	memset(stub_sum, 0, sizeof(stub_sum));
	memset(stub_exact, 0, sizeof(stub_exact));
	memset(stub_present, 1, sizeof(stub_present));
	memset(stub_total, 0, sizeof(stub_total));
	memset(stub_total_exact, 0, sizeof(stub_total_exact));
	memset(stub_unplaced, 0, sizeof(stub_unplaced));
	memset(stub_counted, 0, sizeof(stub_counted));
	memset(stub_event_counted, 0, sizeof(stub_event_counted));
	for (uint32_t e = 0; e < STUB_EVENTS; e++) {
		if (e >= 8)
			stub_event[e] =
				(struct sp_event){ .id = e, .name = e % 3 ? T_WIDE : T_LONG };
		stub_events[e] = e == 4 ? NULL : &stub_event[e];
	}
	m = (struct sp_model){
		.reader = &stub_image,
		.n_components = kind == STUB_BARE ? 0 : STUB_COMPONENTS,
		.component = stub_component,
		.topology_source = kind == STUB_BARE ? "flat" : "system",
		.n_events = kind == STUB_WIDE ? STUB_EVENTS : 8,
		.event = stub_events,
		.sums.below = stub_sum,
		.sums.present = stub_present,
		.sums.below_exact = stub_exact,
		.sums.counted = stub_counted,
		.sums.total = stub_total,
		.sums.total_exact = stub_total_exact,
		.sums.unplaced = stub_unplaced,
		.event_counted = stub_event_counted,
		.tally.relations = stub_relations,
		.tally.threads = 4,
		.tally.cpus_counted = 4,
		.n_callsites = 3,
	};
	m.h = (struct sp_header){
		.bytes = sizeof(struct sp_header),
		.used = sizeof(stub_bytes),
		.end = SP_END_EXIT,
		.process.pid = 4242,
		.process.ppid = 1,
		.process.start_ns = 1700000000000000000,
		.process.end_ns = 1700000012345000000,
		.process.host = T_HOST,
		.process.exe = T_EXE,
		.process.job = T_JOB,
		.process.cwd = T_CWD,
		.process.args = T_ARGS,
		.process.rank = 3,
		.papi_library = T_LIBRARY,
		.papi_version = 0x07000000,
		.callsites = 1,
		.lists.n_notes = kind == STUB_UNPROVEN ? 0 : 2,
		.self_calls = 12,
		.self_ns = 2568,
		.time.cpu_ns = 10000000,
		.time.counted_ns = 10000000,
		.time.prepare_ns = 1000000,
		.dropped_relations = kind == STUB_FULL,
	};
	m.process = process;
	m.n_processes = m.n_machines = 1;
	process[0].h = &m.h;
	m.machine = machine;
	machine[0].xml = NULL;
	machine[0].xml_bytes = 0;
	machine[0].host = sp_model_text(&m, T_HOST);
	memset(stub_kinds_below, 0, sizeof(stub_kinds_below));
	m.kinds_below = stub_kinds_below;
	m.kinds = 3;
	if (kind != STUB_NO_START) {
		m.tally.calls[1] = 5005;
		m.tally.calls[2] = 17035;
	}
	m.tally.calls[4] = 9;
	while (sp_model_next(&m, &row)) {
		m.tally.starts += row.starts;
		m.tally.readings += row.readings;
		if (row.cells &&
		    (!m.tally.threads_counted || row.thread_at != before || !row.tid)) {
			m.tally.threads_counted += row.tid ? 1 : row.threads;
			before = row.thread_at;
		}
		for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++) {
			m.unknown_cpu |= at.component < 0 && at.cpu < 0;
			for (uint32_t e = 0; e < row.k; e++)
				stub_book(&m, row.event[e], &at, at.total[e], at.exact[e]);
		}
	}
	return &m;
}

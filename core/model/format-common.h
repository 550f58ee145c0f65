/* format-common.h: queries of events and components for all formats, which handle the parts that a
 * store may lack. */
#ifndef SP_FORMAT_COMMON_H
#define SP_FORMAT_COMMON_H

#include <string.h>

#include "../base/out.h"
#include "../store/gauge.h"
#include "gauges.h"

/* A damaged event has no text; its counts are treated as int64. */
static inline const char *sp_event_text(const struct sp_model *m, uint32_t id, size_t field)
{
	const struct sp_event *e = id < m->n_events ? m->event[id] : NULL;
	sp_off off;

	if (!e)
		return "";
	memcpy(&off, (const char *)e + field, sizeof(off));
	return sp_model_text(m, off);
}

/* The note on counts before the first readings (early-counts.c). */
#define SP_NOTE_EARLY_COUNTS	"PAPI_start does not zero these events. "
#define SP_NOTE_BEGINNINGS_END	". Call PAPI_read right after PAPI_start"

#define SP_EVENT_TEXT(m, id, field)	sp_event_text(m, id, offsetof(struct sp_event, field))

/* The name, or "event 7" if the store has none. */
static inline const char *sp_event_name(const struct sp_model *m, uint32_t id, char buf[32])
{
	const char *name = SP_EVENT_TEXT(m, id, name);
	char digits[32];
	size_t n;

	if (*name)
		return name;
	n = sp_format_u64(digits, id);
	memcpy(buf, "event ", 6);
	memcpy(buf + 6, digits, n + 1);
	return buf;
}

/* Returns whether components have sums of this event, as for all but gauges and damaged events. */
static inline bool sp_event_is_summed(const struct sp_model *m, uint32_t id)
{
	return m->event_counted[id] && m->event[id] && !sp_event_is_gauge(m, id);
}

/* Returns whether some CPU of the component can count the event. */
static inline bool sp_is_present(const struct sp_model *m, uint32_t component, uint32_t id)
{
	return m->sums.present[(uint64_t)component * m->n_events + id];
}

/* Returns whether the event's sum is meaningful for the component. A placed event, for example of a
 * package, has no count, not even 0, for the package's CPUs. */
static inline bool sp_sum_is_known(const struct sp_model *m, uint32_t component, uint32_t id)
{
	return !sp_event_is_placed(m, id) || sp_is_present(m, component, id);
}

static inline int64_t sp_sum(const struct sp_model *m, uint32_t component, uint32_t id)
{
	return m->sums.below[(uint64_t)component * m->n_events + id];
}

/* Add two counts; floating-point counts are stored as their bits. */
static inline int64_t sp_plus(enum sp_data_type type, int64_t a, int64_t b)
{
	return type == SP_FP64 ? sp_float_bits(sp_float(a) + sp_float(b)) : a + b;
}

/* Write a count as a number, for programs. */
static inline void sp_out_value(struct sp_out *o, enum sp_data_type type, int64_t v)
{
	if (type == SP_INT64)
		sp_out_i64(o, v);
	else if (type == SP_FP64)
		sp_out_double(o, sp_float(v), -1);
	else
		sp_out_u64(o, (uint64_t)v);
}

/* The text of a field of fixed size, which has no NUL in a damaged store. */
static inline const char *sp_fixed_text(char *buf, const char *field, size_t size)
{
	memcpy(buf, field, size);
	buf[size] = '\0';
	return buf;
}

/* The header of one of the processes; its texts are read through the model. */
static inline const struct sp_header *sp_process_header(const struct sp_model *m, uint32_t process)
{
	return process < m->n_processes ? m->process[process].h : &m->h;
}

static inline bool sp_is_job(const struct sp_model *m)
{
	return m->n_processes > 1;
}

static inline const char *sp_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static inline bool sp_component_is(const struct sp_component *c, const char *type)
{
	return !strncmp(c->type, type, sizeof(c->type));
}

static inline bool sp_is_pu(const struct sp_model *m, int32_t c)
{
	return c >= 0 && sp_component_is(&m->component[c], "PU");
}

/* The index of the parent, checked; -1: none. */
static inline int32_t sp_parent(const struct sp_model *m, uint32_t c)
{
	int32_t parent = m->component[c].parent;

	return parent >= 0 && (uint32_t)parent < c ? parent : -1;
}

static inline uint64_t sp_all_calls(const struct sp_model *m)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		n += m->tally.calls[i];
	return n;
}

static inline uint64_t sp_elapsed(const struct sp_model *m)
{
	return m->h.process.end_ns > m->h.process.start_ns
		       ? m->h.process.end_ns - m->h.process.start_ns
		       : 0;
}

/* sspapi's own cost per PAPI call in ns; 0 if it was never measured. */
static inline double sp_overhead_ns(const struct sp_model *m)
{
	return m->h.self_calls ? (double)m->h.self_ns / (double)m->h.self_calls : 0.0;
}

/* sspapi's share of the processes' CPU time; negative if unknown. */
static inline double sp_overhead_share(const struct sp_model *m)
{
	double own = sp_overhead_ns(m) * (double)sp_all_calls(m) + (double)m->h.time.prepare_ns;

	return m->h.time.cpu_ns ? own / ((double)m->h.time.cpu_ns + own) : -1.0;
}

/* The CPU time during which something was counted, if it is known to 2 % of the CPU time; else
 * -1. */
static inline int64_t sp_counted_ns(const struct sp_header *h)
{
	return h->time.cpu_ns && h->time.counted_more_ns <= h->time.cpu_ns / 50
		       ? (int64_t)(h->time.counted_ns + h->time.counted_more_ns / 2)
		       : -1;
}

#endif

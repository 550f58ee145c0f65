/* gauges.c: finds the component of a count, and reads the values of gauges; see gauges.h. */
#include <string.h>

#include "../store/gauge.h"
#include "gauges.h"

/* ---- places ----------------------------------------------------------- */

static const struct sp_model_machine *machine_of(const struct sp_model *m, const struct sp_row *row)
{
	return &m->machine[m->process[row->process].machine];
}

static int32_t component_of_cpu(const struct sp_model *m, const struct sp_row *row, int32_t cpu)
{
	const struct sp_model_machine *on = machine_of(m, row);

	return cpu >= 0 && (uint32_t)cpu < on->n_cpus ? on->cpu_component[cpu] : -1;
}

/* The component of this type below `top` with this OS index, or with ONLY the only one of the type;
 * else -1. Descendants directly follow their ancestor in the array. */
#define ONLY (-1)
static int32_t below(const struct sp_model *m, int32_t top, const char *type, int32_t os_index)
{
	int32_t found = -1;

	for (uint32_t c = (uint32_t)top + 1; c < m->n_components && m->component[c].parent >= top;
	     c++) {
		if (strcmp(m->component[c].type, type) != 0 ||
		    (os_index != ONLY && m->component[c].os_index != os_index))
			continue;
		if (found >= 0)
			return -1;
		found = (int32_t)c;
	}
	return found;
}

/* The package that the event or CPU names, or the machine's only one; -1 if unknown. */
static int32_t package(const struct sp_model *m, const struct sp_row *row, const struct sp_event *v)
{
	int32_t id = v->place_id, root = machine_of(m, row)->root;

	if (v->place == SP_PLACE_PACKAGE || v->place == SP_PLACE_MEMORY)
		return below(m, root, "Package", id >= 0 ? id : ONLY);
	if (id < 0 && row->target == SP_TARGET_CPU)
		id = row->target_id;
	if (id < 0)
		return below(m, root, "Package", ONLY);
	id = component_of_cpu(m, row, id);
	return id >= 0 ? sp_model_above(m, id, "Package") : -1;
}

/* A vendor's GPU by its number, anywhere on this machine; or -1. */
static int32_t gpu(const struct sp_model *m, int32_t root, int32_t id)
{
	for (uint32_t c = (uint32_t)root + 1; c < m->n_components && m->component[c].parent >= root;
	     c++)
		if (m->component[c].flags >> SP_COMPONENT_VENDOR_SHIFT == (uint32_t)id >> 16 &&
		    m->component[c].os_index == (id & 0xffff))
			return (int32_t)c;
	return -1;
}

/* The component of a die. The only die of a package has none: use the package. */
static int32_t die(const struct sp_model *m, int32_t package, int32_t number)
{
	int32_t c = package < 0 ? -1 : below(m, package, "Die", number);

	return c < 0 && package >= 0 && number == 0 && below(m, package, "Die", ONLY) < 0 ? package
											  : c;
}

/* Returns whether the topology has packages; otherwise the machine stands for the package. */
static bool has_packages(const struct sp_model *m, int32_t root)
{
	for (uint32_t c = (uint32_t)root;
	     c < m->n_components && (c == (uint32_t)root || m->component[c].parent >= root); c++)
		if (strcmp(m->component[c].type, "Package") == 0)
			return true;
	return false;
}

int32_t sp_find_place(const struct sp_model *m, const struct sp_row *row, uint32_t e)
{
	const struct sp_event *v = m->event[row->event[e]];
	int32_t c = -1, memory, root = machine_of(m, row)->root;

	if (!v || root < 0 || row->scope == SP_SCOPE_THREAD || row->scope == SP_SCOPE_CPU ||
	    (row->scope == SP_SCOPE_PROCESS && v->place != SP_PLACE_CPU &&
	     v->place != SP_PLACE_MACHINE))
		/* by the CPUs of the readings, or of threads that ran anywhere */
		return -1;
	switch (v->place) {
	case SP_PLACE_CPU:
		c = component_of_cpu(m, row, v->place_id);
		if (row->scope == SP_SCOPE_PROCESS)
			return c;
		break;
	case SP_PLACE_PACKAGE:
	case SP_PLACE_PACKAGE_OF_CPU:
		c = package(m, row, v);
		break;
	case SP_PLACE_MEMORY:
	case SP_PLACE_MEMORY_OF_CPU:
		c = package(m, row, v);
		memory = c >= 0 ? below(m, c, "NUMANode", ONLY) : -1;
		c = memory >= 0 ? memory : c;
		break;
	case SP_PLACE_DIE:
		c = die(m, below(m, root, "Package", v->place_id >> 8), v->place_id & 255);
		break;
	case SP_PLACE_GPU:
		return gpu(m, root, v->place_id);
	case SP_PLACE_UNKNOWN:
		return -1;
	default:
		return root;
	}
	return c >= 0 || has_packages(m, root) ? c : root;
}

/* ---- the block of a relation ------------------------------------------- */

static void take(struct sp_gauge_value *out, enum sp_data_type type, uint64_t readings,
		 const int64_t value[3], double sum)
{
	double low = sp_value_double(type, value[1]), high = sp_value_double(type, value[2]);

	out->readings = readings;
	out->last = value[0];
	out->min = value[1];
	out->max = value[2];
	out->sum = sum;
	/* A process killed during a reading may have written only some of the words: limit the
	 * mean. */
	out->mean = sum / (double)readings;
	if (out->mean < low)
		out->mean = low;
	if (out->mean > high)
		out->mean = high;
}

/* The CPU of a gauge's cell; CPUs of extra cells are in the relation's cells. */
static int32_t cpu_of(const struct sp_row *row, const struct sp_gauge *g, uint32_t cell)
{
	uint32_t dense = row->walk.relation_cells - SP_CELLS_EXTRA;

	if (!row->walk.relation_cells)
		return g->cpu;
	if (row->gauges.cells == 1 || cell == row->walk.relation_cells - 1)
		return SP_NO_CPU;
	return cell < dense ? (int32_t)cell : row->walk.extra_cpu[cell - dense];
}

bool sp_row_gauge(const struct sp_model *m, const struct sp_row *row, uint64_t *at,
		  struct sp_gauge_value *out)
{
	uint64_t n = row->gauges.at ? (uint64_t)row->gauges.n * row->gauges.cells : 0;

	while (*at < n) {
		uint32_t e = row->gauges.index[*at % row->gauges.n],
			 cell = (uint32_t)(*at / row->gauges.n);
		const struct sp_gauge *g = &row->gauges.at[(*at)++];
		uint64_t readings = load_relaxed(&g->readings);
		const int64_t value[3] = { load_relaxed(&g->last), load_relaxed(&g->min),
					   load_relaxed(&g->max) };

		if (e >= row->k || !readings || !m->event[row->event[e]] ||
		    m->event[row->event[e]]->kind != SP_GAUGE)
			continue;
		out->event = row->event[e];
		out->cpu = cpu_of(row, g, cell);
		out->component = sp_row_place(row, e);
		if (out->component < 0)
			out->component = component_of_cpu(m, row, out->cpu);
		take(out, sp_event_type(m, out->event), readings, value, g->sum);
		out->ns = g->ns;
		return true;
	}
	return false;
}

/* ---- over all relations ------------------------------------------------- */

static struct sp_gauge_sum *sum_at(const struct sp_model *m, int32_t component, uint32_t event)
{
	uint64_t row = component < 0 ? m->n_components : (uint64_t)component;

	if (!m->gauges.sum || m->gauges.of[event] >= m->gauges.n)
		return NULL;
	return &m->gauges.sum[row * m->gauges.n + m->gauges.of[event]];
}

void sp_add_gauges(struct sp_model *m, const struct sp_row *row)
{
	struct sp_gauge_value g;
	uint64_t at = 0;

	while (sp_row_gauge(m, row, &at, &g)) {
		struct sp_gauge_sum *s = sum_at(m, g.component, g.event);
		enum sp_data_type type = sp_event_type(m, g.event);

		if (!s)
			continue;
		if (!s->readings || sp_value_below(type, g.min, s->value[1]))
			s->value[1] = g.min;
		if (!s->readings || sp_value_below(type, s->value[2], g.max))
			s->value[2] = g.max;
		if (g.ns >= s->ns) {
			s->value[0] = g.last;
			s->ns = g.ns;
		}
		s->sum += g.mean * (double)g.readings;
		s->readings += g.readings;
		if (g.component >= 0)
			m->sums.counted[g.component] = true;
	}
}

bool sp_gauge_at(const struct sp_model *m, int32_t component, uint32_t event,
		 struct sp_gauge_value *out)
{
	const struct sp_gauge_sum *s = sum_at(m, component, event);

	if (!s || !s->readings)
		return false;
	*out = (struct sp_gauge_value){
		.event = event, .cpu = SP_NO_CPU, .component = component, .ns = s->ns
	};
	take(out, sp_event_type(m, event), s->readings, s->value, s->sum);
	return true;
}

/* cpu-list.c: reads and writes lists of CPUs; see cpu-list.h. */
#include "cpu-list.h"

#define WORD	(8 * sizeof(unsigned long))

static const char *number(const char *s, uint64_t *n)
{
	const char *first = s;

	for (*n = 0; *s >= '0' && *s <= '9'; s++)
		*n = sp_min(*n * 10 + (uint64_t)(*s - '0'), UINT32_MAX);
	return s == first ? NULL : s;
}

const char *sp_cpu_range(const char *list, uint64_t *from, uint64_t *to)
{
	const char *s = number(list, from);

	*to = *from;
	if (s && *s == '-')
		s = number(s + 1, to);
	if (s && *s == ',')
		return s + 1;
	return s && (!*s || *s == '\n') ? s : NULL;
}

bool sp_cpu_in_list(const char *list, uint64_t cpu)
{
	uint64_t from, to;

	while (*list && (list = sp_cpu_range(list, &from, &to)) != NULL)
		if (from <= cpu && cpu <= to)
			return true;
	return false;
}

static bool has(const unsigned long *set, uint64_t bytes, uint64_t cpu)
{
	return cpu < 8 * bytes && (set[cpu / WORD] >> cpu % WORD & 1);
}

void sp_out_cpu_list(struct sp_out *o, const unsigned long *set, uint64_t bytes)
{
	bool more = false;

	for (uint64_t cpu = 0; cpu < 8 * bytes; cpu++) {
		uint64_t from = cpu;

		if (!has(set, bytes, cpu))
			continue;
		while (has(set, bytes, cpu + 1))
			cpu++;
		sp_out_text(o, more ? "," : "");
		sp_out_u64(o, from);
		if (cpu > from)
			sp_out_char(o, '-');
		if (cpu > from)
			sp_out_u64(o, cpu);
		more = true;
	}
}

/* merge-sites.c: merges call sites: the same code in the same module is one site in all
 * processes. */
#include "merge-common.h"

/* Key of a site: name, call, whether it is cut, and each frame's module, build id, symbol and
 * offset. */
static void site_key(struct merge *g, const struct sp_model *m, uint32_t id,
		     const struct sp_callsite *c)
{
	struct sp_frame_info f;

	g->key.used = 0;
	sp_bytes_add(&g->key, c->name, strlen(c->name) + 1);
	sp_bytes_add(&g->key, (uint8_t[]){ c->call, c->is_cut }, 2);
	for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
		sp_bytes_add(&g->key, f.module, strlen(f.module) + 1);
		sp_bytes_add(&g->key, f.build_id, strlen(f.build_id) + 1);
		sp_bytes_add(&g->key, f.symbol, strlen(f.symbol) + 1);
		sp_bytes_add(&g->key, &f.offset, sizeof(f.offset));
	}
}

/* Fills g->site_map, from the process's ids to ours plus one; 0: unknown, or "other". */
void merge_number_sites(struct merge *g, const struct sp_model *m)
{
	struct sp_callsite c;

	g->site_map =
		sp_grow_array(g->site_map, &g->site_room, m->n_callsites + 1, sizeof(*g->site_map));
	memset(g->site_map, 0, g->site_room * sizeof(*g->site_map));
	for (uint32_t id = 1; id < m->n_callsites; id++) {
		if (!sp_model_callsite(m, id, &c))
			continue;
		site_key(g, m, id, &c);
		g->site_map[id] = merge_number(g, &g->sites, g->key.at, g->key.used) + 1;
	}
}

static unsigned nibble(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

/* Converts from hexadecimal. */
static void set_build_id(struct sp_module *m, const char *id)
{
	for (m->build_id_bytes = 0; id[0] && id[1] && m->build_id_bytes < sizeof(m->build_id);
	     id += 2)
		m->build_id[m->build_id_bytes++] =
			(unsigned char)(nibble(id[0]) << 4 | nibble(id[1]));
}

static uint32_t module_number(struct merge *g, struct sp_names *modules, const char *path,
			      const char *build_id)
{
	g->key.used = 0;
	sp_bytes_add(&g->key, path, strlen(path) + 1);
	sp_bytes_add(&g->key, build_id, strlen(build_id) + 1);
	return sp_names_number(modules, g->key.at, g->key.used);
}

/* Of sp_compact_map. */
uint32_t merge_own_module(void *merge, struct sp_compact *c, const struct sp_frame_info *f,
			  sp_off *newest)
{
	struct merge *g = merge;
	struct sp_module m = { .next = *newest };
	uint32_t known = g->own_modules.n;

	if (!*f->module)
		return 0;
	m.number = module_number(g, &g->own_modules, f->module, f->build_id) + 1;
	if (m.number <= known || m.number > SP_MODULES_MOST)
		return m.number <= SP_MODULES_MOST ? m.number : 0;
	set_build_id(&m, f->build_id);
	m.path = sp_compact_text(c, f->module);
	*newest = sp_compact_copy(c, SP_BLOCK_MODULE, &m, sizeof(m));
	return m.number;
}

struct frame {
	const char *module, *build_id, *symbol;
	uint64_t offset;
};

static const unsigned char *frames_of(const struct sp_name *site)
{
	return site->key + strlen((const char *)site->key) + 3;
}

static const unsigned char *next_frame(const unsigned char *p, struct frame *f)
{
	f->module = (const char *)p;
	f->build_id = f->module + strlen(f->module) + 1;
	f->symbol = f->build_id + strlen(f->build_id) + 1;
	p = (const unsigned char *)f->symbol + strlen(f->symbol) + 1;
	memcpy(&f->offset, p, sizeof(f->offset));
	return p + sizeof(f->offset);
}

/* Collects the modules; returns the number of frames of the deepest site. */
static uint32_t read_sites(struct merge *g, struct sp_names *modules, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct sp_name *site = &g->sites.name[g->site_order[i]];
		const unsigned char *p = frames_of(site);
		struct frame f;
		uint32_t frames = 0;

		for (; p < site->key + site->bytes; frames++) {
			p = next_frame(p, &f);
			if (*f.module)
				module_number(g, modules, f.module, f.build_id);
		}
		most = (uint32_t)sp_max(most, frames);
	}
	return (uint32_t)sp_min(most, SP_FRAMES_MAX);
}

static void write_modules(struct merge *g, const struct sp_names *modules, const uint32_t *order)
{
	for (uint32_t i = 0; i < modules->n && i < SP_MODULES_MOST; i++) {
		const char *path = (const char *)modules->name[order[i]].key,
			   *id = path + strlen(path) + 1;
		struct sp_module m = { .next = g->h.code.modules,
				       .number = i + 1,
				       .path = sp_compact_text(&g->c, path) };

		set_build_id(&m, id);
		g->h.code.modules = sp_compact_copy(&g->c, SP_BLOCK_MODULE, &m, sizeof(m));
		g->h.code.n_modules++;
	}
}

/* Writes the site's texts, and the site into `to`. */
static void write_site(struct merge *g, struct sp_site *to, const struct sp_name *site,
		       uint32_t most, struct sp_names *modules, const uint32_t *module_rank)
{
	const char *name = (const char *)site->key;
	const unsigned char *p = frames_of(site);
	struct sp_frame *frame = (struct sp_frame *)(to + 1);

	memcpy(to->name, name, sp_min(strlen(name), sizeof(to->name) - 1));
	to->call = p[-2];
	to->is_cut = p[-1];
	for (; p < site->key + site->bytes && to->n < most; to->n++) {
		struct frame f;
		uint32_t module;

		p = next_frame(p, &f);
		module = *f.module
				 ? module_rank[module_number(g, modules, f.module, f.build_id)] + 1
				 : 0;
		*frame++ = (struct sp_frame){ .address = f.offset,
					      .module = module <= SP_MODULES_MOST ? module : 0,
					      .symbol = sp_compact_text(&g->c, f.symbol) };
	}
}

void merge_write_sites(struct merge *g)
{
	uint32_t n = (uint32_t)sp_min(g->sites.n, SP_SITES_MOST), most, *order, *rank;
	struct sp_names modules = { 0 };
	struct sp_sites *s;
	uint64_t bytes;

	most = read_sites(g, &modules, n);
	bytes = sizeof(*s) + SP_SITES_EACH * sp_site_bytes(most);
	s = sp_check_alloc(malloc(bytes));
	sp_names_sort(&modules, &order, &rank);
	if (most)
		write_modules(g, &modules, order);
	for (uint32_t i = 0; most && i < n;) {
		char *to = (char *)(s + 1);

		memset(s, 0, bytes);
		s->next = g->h.code.sites;
		s->first = i + 1;
		s->frames = most;
		g->h.code.sites = sp_compact_copy(&g->c, SP_BLOCK_SITES, s, bytes);
		for (; i < n && i < s->first + SP_SITES_EACH - 1; i++, to += sp_site_bytes(most))
			write_site(g, (struct sp_site *)to, &g->sites.name[g->site_order[i]], most,
				   &modules, rank);
		sp_compact_rewrite(&g->c, g->h.code.sites + sizeof(s->b), &s->next,
				 bytes - sizeof(s->b));
	}
	free(s);
	g->h.code.n_sites = most ? n : 0;
	sp_names_free(&modules);
	free(order);
	free(rank);
}

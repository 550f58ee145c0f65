/* format-store.c: writes the store file that the sspapi command reads: one process in compact form
 * (layout.h). If that is impossible or uncertain, writes the store's own bytes in order, except for
 * the time and kind of the end, which the store of a killed or running process lacks. */
#include <string.h>

#include "../model/model-blocks.h"
#include "../store/blocks.h"
#include "compact-process.h"
#include "format-writer.h"

#define PIECE	4096u	/* no boundary between the store's mappings is inside a piece */
#define GAPS	16384u	/* pieces; a longer gap means that `used` is damaged */

/* Other threads may add blocks while the first ones are written, and a block written late may refer
 * to a new one. So the end is read again each time. */
static uint64_t end_of_store(const struct sp_model *m)
{
	const struct sp_header *h = sp_store_reader_at(m->reader, 0, sizeof(*h));
	uint64_t end = m->h.used;

	if (h)
		end = sp_max(end, load_acquire(&h->used));
	if (!m->reader->region)
		end = sp_min(end, m->reader->bytes);
	return end;
}

/* Writes the header with all that is known. */
static uint64_t write_header(struct sp_out *o, const struct sp_model *m)
{
	const struct sp_header *is = sp_store_reader_at(m->reader, 0, sizeof(*is));
	struct sp_header h;

	if (!is)
		return 0;
	h = *is;
	h.end = m->h.end;
	h.process.end_ns = m->h.process.end_ns;
	sp_out_bytes(o, (const char *)&h, sizeof(h));
	return sizeof(h);
}

static void write_pieces(struct sp_out *o, const struct sp_model *m)
{
	uint64_t off = write_header(o, m), end = 0, n;
	unsigned gaps = 0;

	for (; !o->error && gaps < GAPS && (off < end || off < (end = end_of_store(m))); off += n) {
		const void *piece;

		n = sp_min(PIECE - off % PIECE, end - off);
		piece = sp_store_reader_at(m->reader, off, n);
		gaps = piece ? 0 : gaps + 1;
		if (piece)
			sp_out_bytes(o, piece, n);
		else
			sp_out_repeat(o, '\0', n);
	}
}

/* Appends the functions that were called, and the numbers of calls. */
static void append_calls(struct sp_compact *c, const struct sp_model *m, struct sp_header *h,
			 uint32_t number[SP_CALLS_MAX], uint32_t *n)
{
	sp_off text[SP_CALLS_MAX];
	const char *name;

	*n = 0;
	for (uint32_t i = 0; i < SP_CALLS_MAX; i++) {
		name = m->tally.calls[i] ? sp_model_call_name(m, i) : NULL;
		number[i] = name && *name ? (*n)++ : SP_LEFT_OUT;
		if (number[i] != SP_LEFT_OUT)
			text[number[i]] = sp_compact_text(c, name);
	}
	h->call_names = sp_compact_begin(c, SP_BLOCK_STRINGS,
					 sizeof(struct sp_strings) + *n * sizeof(*text));
	sp_compact_u32(c, *n);
	sp_compact_u32(c, 0);
	sp_compact_write(c, text, *n * sizeof(*text));
	sp_compact_end(c);
}

static void append_modules(struct sp_compact *c, const struct sp_model *m, struct sp_header *h)
{
	for (uint32_t i = 0; i < SP_MODULES_MOST; i++) {
		struct sp_module to;

		if (!m->intervals.module[i] || !m->intervals.module[i]->span)
			continue;
		to = *m->intervals.module[i];
		to.next = h->code.modules;
		to.path = sp_compact_text(c, sp_store_reader_text(m->reader, to.path));
		h->code.modules = sp_compact_copy(c, SP_BLOCK_MODULE, &to, sizeof(to));
		h->code.n_modules++;
	}
}

/* Returns site i of a block, with its frames that are in use. */
static struct sp_site site_in(const struct sp_sites *b, uint32_t i)
{
	const struct sp_site *s =
		(const struct sp_site *)((const char *)(b + 1) + i * sp_site_bytes(b->frames));
	uint32_t n = (uint32_t)sp_min(load_acquire(&s->n), b->frames);
	struct sp_site is = *s;

	is.n = n;
	return is;
}

static const struct sp_frame *frames_in(const struct sp_sites *b, uint32_t i)
{
	return (const struct sp_frame *)((const char *)(b + 1) + i * sp_site_bytes(b->frames) +
					 sizeof(struct sp_site));
}

/* Appends a block of call sites with room for the deepest one's frames only. */
static void append_site_block(struct sp_compact *c, const struct sp_model *m,
			      const struct sp_sites *b, struct sp_header *h)
{
	/* one dump at a time: enter() in preload/lifecycle/exit.c */
	static sp_off symbol[SP_SITES_EACH][SP_FRAMES_MAX];
	struct sp_site site[SP_SITES_EACH];
	struct sp_sites to = { .next = h->code.sites, .first = b->first };

	for (uint32_t i = 0; i < SP_SITES_EACH; i++) {
		site[i] = site_in(b, i);
		to.frames = (uint32_t)sp_max(to.frames, site[i].n);
		h->code.n_sites += site[i].n != 0;
		for (uint32_t f = 0; f < site[i].n; f++)
			symbol[i][f] = sp_compact_text(
				c, sp_store_reader_text(m->reader,
							load_relaxed(&frames_in(b, i)[f].symbol)));
	}
	if (!to.frames)
		return;
	h->code.sites = sp_compact_begin(c, SP_BLOCK_SITES,
					 sizeof(to) + SP_SITES_EACH * sp_site_bytes(to.frames));
	sp_compact_write(c, &to.next, sizeof(to) - offsetof(struct sp_sites, next));
	for (uint32_t i = 0; i < SP_SITES_EACH; i++) {
		sp_compact_write(c, &site[i], sizeof(site[i]));
		for (uint32_t f = 0; f < site[i].n; f++) {
			struct sp_frame frame = frames_in(b, i)[f];

			frame.symbol = symbol[i][f];
			sp_compact_write(c, &frame, sizeof(frame));
		}
		sp_compact_zeros(c, (to.frames - site[i].n) * sizeof(struct sp_frame));
	}
	sp_compact_end(c);
}

static void append_machine(struct sp_compact *c, const struct sp_model *m, struct sp_header *h)
{
	const struct sp_topology *p =
		sp_store_reader_block(m->reader, m->h.topology, SP_BLOCK_TOPOLOGY, sizeof(*p));
	struct sp_tree t = { .n = 0 };

	if (p && !sp_tree_read(&t, p))
		p = NULL;
	h->compact.n_machines = 1;
	h->compact.machines =
		sp_compact_machine(c, h->process.host, &t,
				   p ? sp_store_reader_text(m->reader, p->source) : NULL);
}

/* Writes the header last: a file that was not finished has no magic number and is not a store. */
static void write_compact(struct sp_out *o, struct sp_model *m)
{
	struct sp_compact c = { .o = o };
	struct sp_header h, own;
	uint32_t call[SP_CALLS_MAX];
	struct sp_compact_map map = { .call = call };

	sp_out_repeat(o, '\0', sizeof(h));
	sp_compact_header(&c, m, &h);
	append_calls(&c, m, &h, call, &map.n_calls);
	for (uint32_t i = 0; i < m->n_events; i++)
		if (m->event[i])
			h.lists.events =
				sp_compact_event(&c, m->reader, m->event[i],
						 sp_store_reader_text(m->reader, m->event[i]->name),
						 h.lists.events);
	h.lists.n_events = m->n_events;
	append_modules(&c, m, &h);
	for (uint32_t i = 0; i < SP_COUNT(m->intervals.sites); i++)
		if (m->intervals.sites[i])
			append_site_block(&c, m, m->intervals.sites[i], &h);
	own = h;
	append_machine(&c, m, &h);
	h.compact.members = sp_compact_offset(&c);
	h.compact.n_members = 1;
	sp_compact_process(&c, m, &map, &own, false);
	h.used = sp_compact_offset(&c);
	sp_header_finish(&h);
	sp_compact_rewrite(&c, 0, &h, sizeof(h));
}

void sp_format_store(struct sp_out *o, const struct sp_selection *s)
{
	if (!s->m->memory || sp_is_merged(s->m) || s->m->tally.damaged || sp_is_torn(s->m) ||
	    !o->own)
		write_pieces(o, s->m);
	else
		write_compact(o, s->m);
}

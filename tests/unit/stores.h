/* stores.h: a store of the test's own: a flat machine, relations that are booked (book.h), and what
 * a reader sees. */
#ifndef STORES_H
#define STORES_H

#include "../../core/model/model.h"
#include "../../core/store/fold.h"
#include "../../core/store/store.h"
#include "book.h"

static struct sp_store store;

static inline int open_store(void **state)
{
	return sp_store_open(&store);
}

static inline int close_store(void **state)
{
	sp_store_close(&store);
	return 0;
}

#define WITH_STORE(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)

/* A machine with nothing but CPUs, at most 7. */
static inline void flat_machine(int cpus)
{
	struct sp_component c[8] = { { .parent = -1, .type = "Machine" } };

	for (int i = 0; i < cpus; i++)
		c[i + 1] = (struct sp_component){ .os_index = i, .type = "PU" };
	assert_int_equal(sp_store_topology(&store, c, (uint32_t)cpus + 1, (uint32_t)cpus, "flat",
					   NULL, 0),
			 0);
}

/* Whether somebody else has a relation, or a thread has ended, as the store asks it. */
static inline bool never(sp_off off, void *arg)
{
	return false;
}

/* A relation that is booked from here on. */
static inline struct sp_relation *bind_new(struct sp_store *s, sp_off thread,
					   const struct sp_relation_key *key, struct sp_writer *w,
					   const uint8_t *kinds)
{
	sp_off off;
	struct sp_relation *r = sp_store_relation(s, thread, key, never, NULL, &off);

	assert_non_null(r);
	sp_records_bind(w, &s->reader, off, key->k, r->cells, kinds);
	return r;
}

/* What a reader has of the store: undamaged. */
static inline void open_model(struct sp_model *m)
{
	assert_int_equal(sp_model_open(m, &store.reader), 0);
	assert_int_equal(m->tally.damaged, 0);
}

static inline void open_first(struct sp_model *m, struct sp_row *row)
{
	memset(row, 0, sizeof(*row));
	open_model(m);
	assert_true(sp_model_next(m, row));
}

#endif

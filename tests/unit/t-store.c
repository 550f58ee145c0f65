/* t-store.c: region.h and store.h: memory in pieces, blocks that come back, notes,
 * texts, the topology's copy, which relation a set goes on in, folding, and no
 * memory left.
 */
#include "../../core/store/interval.h"
#include "test.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../../core/cli/files/file.h"
#include "../../core/cli/tool/cmd.h"
#include "../../core/model/observers.h"
#include "../../core/store/timestamp.h"
#include "stores.h"

/* ---- regions -------------------------------------------------------------- */

static bool zeroed(const unsigned char *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void allocation(void **state)
{
	struct sp_region r;
	sp_off before = 0, off = 0;

	assert_int_equal(sp_region_open(&r, 1), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t bytes = 8 + i * 7 % 5000;
		struct sp_block *b = sp_region_alloc(&r, SP_BLOCK_NOTE, bytes, &off);

		assert_non_null(b);
		assert_int_equal(off % 64, 0);
		assert_int_equal((uintptr_t)b % 64, 0);
		assert_int_equal(b->kind, SP_BLOCK_NOTE);
		assert_int_equal(b->bytes, sp_align(bytes, 64));
		assert_true(zeroed((unsigned char *)(b + 1), b->bytes - sizeof(*b)));
		assert_true(!i || off >= before);
		assert_ptr_equal(sp_region_at(&r, off, b->bytes), b);
		memset(b + 1, 0xff, b->bytes - sizeof(*b));
		before = off + b->bytes;
	}
	assert_true(r.pieces > 2);
	assert_true(r.used <= r.mapped);
	sp_region_close(&r);
}

static void outside(void **state)
{
	struct sp_region r;
	sp_off off;

	assert_int_equal(sp_region_open(&r, 65536), 0);
	assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 1u << 20, &off));
	assert_non_null(sp_region_at(&r, 0, 1));
	assert_non_null(sp_region_at(&r, r.mapped - 8, 8));
	assert_null(sp_region_at(&r, r.mapped - 8, 9));
	assert_null(sp_region_at(&r, r.mapped, 0));
	assert_null(sp_region_at(&r, UINT64_MAX, 1));
	assert_null(sp_region_at(&r, 0, UINT64_MAX));
	assert_null(sp_region_at(&r, off - 8, 16));	/* from one piece into the next */
	assert_null(sp_region_alloc(&r, SP_BLOCK_NOTE, (uint64_t)UINT32_MAX + 1, &off));
	sp_region_close(&r);
}

static void blocks_come_back(void **state)
{
	struct sp_region r;
	sp_off off[SP_FREE_SLOTS + 8], again = 0;
	uint64_t used;

	assert_int_equal(sp_region_open(&r, 1), 0);
	for (unsigned i = 0; i < SP_COUNT(off); i++)
		memset((char *)sp_region_alloc(&r, SP_BLOCK_THREAD, 300, &off[i]) + 8, 0xee, 292);
	used = r.used;
	for (unsigned i = 0; i < SP_COUNT(off); i++)
		sp_region_free(&r, off[i], 300);
	assert_int_equal(((struct sp_block *)sp_region_at(&r, off[0], 8))->kind, SP_BLOCK_FREE);
	for (unsigned i = 0; i < SP_COUNT(off); i++) {
		/* the same, rounded up */
		unsigned char *p = sp_region_alloc(&r, SP_BLOCK_RELATION, 310, &again);

		assert_non_null(p);
		assert_true(again < used);
		assert_int_equal(((struct sp_block *)p)->kind, SP_BLOCK_RELATION);
		assert_true(zeroed(p + 8, 312));
	}
	assert_int_equal(r.used, used);
	assert_non_null(sp_region_alloc(&r, SP_BLOCK_RELATION, 310, &again));
	assert_true(again >= used);
	sp_region_close(&r);
}

/* Other sizes are kept apart; more sizes than there is room for are forgotten. */
static void free_sizes(void **state)
{
	struct sp_region r;
	sp_off off[SP_FREE_SIZES + 4], again = 0;

	assert_int_equal(sp_region_open(&r, 1), 0);
	for (unsigned i = 0; i < SP_COUNT(off); i++)
		assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 64 * (i + 1), &off[i]));
	for (unsigned i = 0; i < SP_COUNT(off); i++)
		sp_region_free(&r, off[i], 64 * (i + 1));
	for (unsigned i = 0; i < SP_FREE_SIZES; i++) {
		assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 64 * (i + 1), &again));
		assert_int_equal(again, off[i]);
	}
	sp_region_close(&r);
}

/* What is asked for is there, step by step; of a piece that has no addresses for it nothing is. */
static void warm(void **state)
{
	const struct sp_piece *p;
	struct sp_region r;
	sp_off off;
	uint64_t ready;

	(void)state;
	memset(&r, 0, sizeof(r));
	sp_region_prefault(&r, 8192);	/* no store: nothing */
	assert_int_equal(sp_region_open(&r, 1), 0);
	for (int i = 0; i < 2; i++)
		assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, i ? 20000 : 60000, &off));
	assert_int_equal(r.pieces, 2);
	p = &r.piece[1];
	sp_region_prefault(&r, 16384);
	ready = p->ready;
	assert_true(p->off + ready >= r.used + 16384);
	sp_region_prefault(&r, 16384);
	sp_region_prefault(&r, 1u << 20);
	assert_int_equal(p->ready, ready);
	assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 16384, &off));
	assert_int_equal(p->ready, ready);
	sp_region_close(&r);
}

/* What was got ahead is the next piece; a block that is larger than it gets one of its own. */
static void ahead(void **state)
{
	struct sp_region r;
	sp_off off;

	assert_int_equal(sp_region_open(&r, 1), 0);
	assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 8, &off));
	assert_true(sp_region_low(&r));
	sp_region_ahead(&r);
	assert_false(sp_region_low(&r));
	assert_int_equal(r.pieces, 1);
	for (int i = 0; i < 2; i++) {
		unsigned char *at = r.ahead.at;
		uint64_t mapped = r.mapped;

		assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, i ? 1u << 20 : 60000, &off));
		while (off < mapped)
			assert_non_null(sp_region_alloc(&r, SP_BLOCK_NOTE, 60000, &off));
		assert_int_equal(off, mapped);
		assert_true(i ? !r.ahead.at : sp_region_at(&r, off, 8) == at);
		sp_region_ahead(&r);
	}
	sp_region_close(&r);
}

/* How many of this process's mappings are of that file. */
static unsigned mappings(const char *path)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[1000];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, path) != NULL;
	fclose(f);
	return n;
}

static void fill_file(const char *path)
{
	static unsigned char found[8192];
	struct sp_region r;
	sp_off off[1000];
	int fd;

	assert_int_equal(sp_region_open_file(&r, 1, path), 0);
	for (unsigned i = 0; i < SP_COUNT(off); i++)
		memset((char *)sp_region_alloc(&r, SP_BLOCK_NOTE, 8192, &off[i]) + 8, (int)i % 251,
		       8184);
	assert_false(r.torn);
	assert_true(mappings(path) <= 2 * r.pieces);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; i < SP_COUNT(off); i++) {
		assert_int_equal(pread(fd, found, sizeof(found), (off_t)off[i]), sizeof(found));
		assert_int_equal(found[8], i % 251);
		assert_int_equal(found[8191], i % 251);
	}
	close(fd);
	sp_region_close(&r);
}

/* A kernel without MADV_POPULATE_WRITE. */
static void be_an_old_kernel(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { SP_COUNT(f), f };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p), 0);
}

/* On tmpfs and on a disk, by a kernel of now and by an older one; a process has 65530 mappings,
 * and they are the application's. */
static void in_a_file(void **state)
{
	char here[256];			/* where this program is: what a run that hangs leaves is
					 * not in the tree */
	const char *const folders[] = { "/dev/shm", here };
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
	char path[320];
	int status, fd;

	assert_true(n > 0);
	here[n] = '\0';
	*strrchr(here, '/') = '\0';
	for (unsigned i = 0; i < 2 * SP_COUNT(folders); i++) {
		snprintf(path, sizeof(path), "%s/t-store.XXXXXX", folders[i / 2]);
		fd = mkstemp(path);
		assert_true(fd >= 0);
		close(fd);
		if (i % 2 == 0) {
			fill_file(path);
		} else if (fork() == 0) {
			be_an_old_kernel();
			fill_file(path);
			_exit(0);
		} else {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
		unlink(path);
	}
}

/* ---- texts, notes ------------------------------------------------------------ */

static void texts(void **state)
{
	static const char *const list[] = { "one", NULL, "", "four" };
	static char big[70000];
	sp_off off;

	assert_int_equal(sp_store_text(&store, NULL), 0);
	assert_int_equal(sp_store_text(&store, ""), 0);
	assert_string_equal(sp_store_reader_text(&store.reader, 0), "");
	off = sp_store_text(&store, "a text");
	assert_string_equal(sp_store_reader_text(&store.reader, off), "a text");
	assert_string_equal(sp_store_reader_text(&store.reader, off + 64), "");
	assert_string_equal(sp_store_reader_text(&store.reader, off + 1), "");
	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(strlen(sp_store_reader_text(&store.reader, sp_store_text(&store, big))),
			 65535);
	assert_int_equal(sp_store_texts(&store, 0, list), 0);
	off = sp_store_texts(&store, 4, list);
	assert_string_equal(sp_store_reader_text_at(&store.reader, off, 0), "one");
	assert_string_equal(sp_store_reader_text_at(&store.reader, off, 1), "");
	assert_string_equal(sp_store_reader_text_at(&store.reader, off, 3), "four");
	assert_null(sp_store_reader_text_at(&store.reader, off, 4));
	assert_null(sp_store_reader_text_at(&store.reader, 0, 0));
}

static const char *note(uint32_t i)
{
	static char text[2000];
	struct sp_model m;
	const char *found;

	open_model(&m);
	found = sp_model_note(&m, i);
	if (found)
		strcpy(text, found);
	sp_model_close(&m);
	return found ? text : NULL;
}

static void notes(void **state)
{
	char text[2000];

	sp_store_note(&store, "first");
	sp_store_note(&store, "first and more");
	sp_store_note(&store, "first");
	sp_store_note(&store, "firs");
	assert_int_equal(store.header->lists.n_notes, 3);
	assert_string_equal(note(0), "first");
	assert_string_equal(note(2), "firs");
	memset(text, 'n', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	sp_store_note(&store, text);
	sp_store_note(&store, text);
	assert_int_equal(store.header->lists.n_notes, 4);
	assert_int_equal(strlen(note(3)), 1000);
	for (int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "note %d", i);
		sp_store_note(&store, text);
	}
	assert_int_equal(store.header->lists.n_notes, SP_NOTES_MAX);
	assert_string_equal(note(SP_NOTES_MAX - 1), "note 59");
	assert_null(note(SP_NOTES_MAX));
}

/* ---- topology, events ---------------------------------------------------------- */

static void topology(void **state)
{
	struct sp_component c[3] = { { .parent = -1, .type = "Machine" },
				     { .type = "PU" },
				     { .os_index = 1, .type = "PU" } };
	struct sp_component was[3];
	char xml[] = "<topology/>";
	struct sp_model m;

	memcpy(was, c, sizeof(c));
	sp_store_cpus(&store, 6);
	assert_int_equal(sp_store_topology(&store, c, 3, 2, "/some/path", xml, strlen(xml)), 0);
	assert_int_equal(store.cells, 6 + SP_CELLS_EXTRA);
	memset(c, 0xff, sizeof(c));
	memset(xml, 0xff, sizeof(xml) - 1);
	open_model(&m);
	assert_int_equal(m.n_components, 3);
	assert_memory_equal(m.component, was, sizeof(was));
	assert_string_equal(m.topology_source, "/some/path");
	assert_int_equal(m.machine[0].xml_bytes, 11);
	assert_memory_equal(m.machine[0].xml, "<topology/>", 11);
	sp_model_close(&m);
	assert_int_equal(sp_store_topology(&store, was, 3, 2, "flat", NULL, 0), 0);
	assert_int_equal(store.cells, 6 + SP_CELLS_EXTRA);	/* never less */
}

static void events(void **state)
{
	static const char *const natives[] = { "n0", "n1" };
	const struct sp_event_text text = { .name = "NAME",
					    .units = "J",
					    .n_natives = 2,
					    .natives = natives,
					    .code = 5,
					    .data_type = SP_FP64,
					    .kind = SP_GAUGE };
	struct sp_model m;

	assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ 0 }), 0);
	assert_int_equal(sp_store_event(&store, &text), 1);
	open_model(&m);
	assert_int_equal(m.n_events, 2);
	assert_string_equal(sp_model_text(&m, m.event[0]->name), "");
	assert_string_equal(sp_model_text(&m, m.event[1]->name), "NAME");
	assert_string_equal(sp_store_reader_text_at(&store.reader, m.event[1]->natives, 1), "n1");
	assert_int_equal(m.event[1]->code, 5);
	assert_int_equal(m.event[1]->kind, SP_GAUGE);
	assert_int_equal(m.event[1]->data_type, SP_FP64);
	sp_model_close(&m);
}

/* ---- which relation ------------------------------------------------------------- */

static sp_off taken;

static bool is_taken(sp_off relation, void *arg)
{
	assert_ptr_equal(arg, &taken);
	return relation == taken;
}

static sp_off relation(sp_off thread, const struct sp_relation_key *key)
{
	sp_off off = 0;
	struct sp_relation *r = sp_store_relation(&store, thread, key, is_taken, &taken, &off);

	assert_non_null(r);
	assert_ptr_equal(sp_region_at(&store.region, off, sizeof(*r)), r);
	assert_int_equal(r->event_set, key->event_set);
	return off;
}

static const uint32_t ab[] = { 0, 1 }, ba[] = { 1, 0 };

static void make_events(void)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ .name = "EV" }),
				 i);
}

static void same_relation(void **state)
{
	struct sp_relation_key key = { .event_set = 1, .k = 2, .event = ab }, other;
	sp_off one, two, first;

	make_events();
	taken = 0;
	assert_non_null(sp_store_thread(&store, 1, NULL, &one));
	assert_non_null(sp_store_thread(&store, 2, "a name that is too long", &two));
	first = relation(one, &key);
	key.event_set = 9;		/* set ids mean nothing */
	assert_int_equal(relation(one, &key), first);
	assert_int_not_equal(relation(two, &key), first);
	other = key;
	other.event = ba;
	assert_int_not_equal(relation(one, &other), first);
	other = key;
	other.k = 1;
	assert_int_not_equal(relation(one, &other), first);
	other = key;
	other.target = SP_TARGET_CPU;
	assert_int_not_equal(relation(one, &other), first);
	other.target_id = 3;
	assert_int_not_equal(relation(one, &other), first);
	other = key;
	other.scope = SP_SCOPE_HOST;
	assert_int_not_equal(relation(one, &other), first);
	assert_int_equal(relation(one, &key), first);
	taken = first;
	assert_int_not_equal(relation(one, &key), first);
	assert_int_equal(store.header->lists.n_relations, 8);
}

static bool first_has_ended(int tid)
{
	return tid == 1;
}

static bool is_bound_never(sp_off relation, void *arg)
{
	(void)relation, (void)arg;
	return false;
}

/* Those that many threads started are told apart while the counted one lives, and are one when it
 * has ended. */
static void started_by_others(void **state)
{
	struct sp_relation_key key = {
		.event_set = 1, .k = 2, .event = ab, .flags = SP_RELATION_OTHER_STARTER
	};
	struct sp_thread *zero;
	struct sp_relation *r;
	sp_off one, found, first = 0;

	make_events();
	taken = 0;
	assert_non_null(sp_store_thread(&store, 1, "maker", &one));
	assert_non_null(sp_store_thread(&store, 2, "other", &found));
	assert_string_equal(sp_store_find_thread(&store, 1, &found)->name, "maker");
	assert_int_equal(found, one);
	for (key.target_id = 10; key.target_id < 10 + (int)SP_FOLD_ABOVE + 2; key.target_id++) {
		sp_off off = relation(one, &key);

		assert_int_not_equal(off, first);
		first = first ? first : off;
	}
	key.target_id = 10;
	assert_int_equal(relation(one, &key), first);
	sp_store_fold(&store, first_has_ended, is_bound_never, NULL);
	zero = sp_store_find_thread(&store, 0, &found);
	r = sp_store_relation_at(&store, zero->relations);
	assert_non_null(r);
	assert_int_equal(r->next, 0);
	assert_int_equal(r->threads, SP_FOLD_AT_ONCE);
	assert_int_equal(r->target_id, 0);
	assert_false(r->flags & SP_RELATION_OTHER_STARTER);
}

#define MANY 200
static sp_off many[MANY];		/* relations that are bound */
static unsigned asked;

static bool is_one_of_many(sp_off relation, void *arg)
{
	asked++;
	for (unsigned i = 0; i < MANY; i++)
		if (many[i] == relation)
			return true;
	return false;
}

static sp_off one_more(sp_off thread, const uint32_t *events)
{
	struct sp_relation_key key = { .k = 2, .event = events };
	sp_off off = 0;

	asked = 0;
	assert_non_null(sp_store_relation(&store, thread, &key, is_one_of_many, NULL, &off));
	return off;
}

static void release(unsigned i)
{
	sp_off was = many[i];

	many[i] = 0;
	sp_store_released(&store, was);
}

/* A set's first start does not take longer with each set that is alive; what a set has let
 * go is found, the last one and any other. */
static void many_sets(void **state)
{
	sp_off thread, other, first, second, third;

	make_events();
	memset(many, 0, sizeof(many));
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	assert_non_null(sp_store_thread(&store, 2, "u", &other));
	for (unsigned i = 0; i < MANY; i++) {
		many[i] = one_more(i % 4 == 3 ? other : thread, i % 2 ? ab : ba);
		assert_in_range(asked, 0, 3);
	}
	first = many[10];
	second = many[20];
	third = many[21];
	release(10);
	release(20);
	assert_int_equal(one_more(thread, ba), second);
	many[20] = second;
	assert_int_equal(one_more(thread, ba), first);
	many[10] = first;
	release(21);
	assert_int_not_equal(one_more(thread, ba), third);	/* other events */
	assert_int_equal(one_more(thread, ab), third);
	assert_int_equal(one_more(thread, ab), third);		/* nobody was bound to it */
	assert_int_not_equal(one_more(other, ab), third);
}

/* Somebody scribbled on the list: it is not followed for ever, and nothing else is taken. */
static void list_in_a_circle(void **state)
{
	struct sp_relation *r;
	sp_off thread, first, got;

	make_events();
	memset(many, 0, sizeof(many));
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	first = one_more(thread, ba);
	r = sp_region_at(&store.region, first, sizeof(*r));
	r->next = first;
	got = one_more(thread, ab);
	assert_int_not_equal(got, first);
	r = sp_region_at(&store.region, got, sizeof(*r));
	assert_memory_equal(r + 1, ab, sizeof(ab));
}

/* What was not proven does not become it, nor the other way, by a set made later. */
static void proven_apart(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab, .target = SP_TARGET_CPU };
	sp_off thread, first, second;

	make_events();
	taken = 0;
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	first = relation(thread, &key);
	key.flags = SP_RELATION_PROVEN;
	second = relation(thread, &key);
	assert_int_not_equal(second, first);
	assert_int_equal(relation(thread, &key), second);
	key.flags = 0;
	assert_int_equal(relation(thread, &key), first);
}

/* User's and kernel's counts of one event; nor are they added together later. */
static void domains_apart(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab, .domain = 1 };
	const struct sp_relation *r;
	struct sp_row row = { 0 };
	struct sp_model m;
	sp_off thread, user, kernel;

	make_events();
	taken = 0;
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	user = relation(thread, &key);
	key.domain = 2;
	kernel = relation(thread, &key);
	assert_int_not_equal(kernel, user);
	key.domain = 1;
	assert_int_equal(relation(thread, &key), user);
	r = sp_store_reader_block(&store.reader, kernel, SP_BLOCK_RELATION, sizeof(*r));
	assert_int_equal(r->domain, 2);
	open_first(&m, &row);
	assert_int_equal(row.domain, 1);
	assert_true(sp_model_next(&m, &row));
	assert_int_equal(row.domain, 2);
	sp_model_close(&m);
}

/* The topology came later, with more CPUs. */
static void more_cpus_later(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	struct sp_component c = { .parent = -1, .type = "Machine" };
	sp_off thread, first, second;

	make_events();
	taken = 0;
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	first = relation(thread, &key);
	assert_int_equal(sp_store_topology(&store, &c, 1, 300, "flat", NULL, 0), 0);
	second = relation(thread, &key);
	assert_int_not_equal(second, first);
	assert_int_equal(((struct sp_relation *)sp_region_at(&store.region, second, 8))->cells,
			 300 + SP_CELLS_EXTRA);
}

/* ---- folding ----------------------------------------------------------------------- */

#define LEAVER	((int)SP_FOLD_ABOVE + 100)	/* the thread that ends with its set running; it is
						 * folded */

static int alive;

static bool has_ended(int tid)
{
	return tid != alive;
}

/* Twice on CPU 0, for event 1 at two addresses; once on one that the topology lacks, for none that
 * PAPI told. */
static void overflow_thrice(struct sp_relation *r, struct sp_writer *w, int tid)
{
	struct sp_overflow_writer o = sp_store_overflows(&store, r);
	uint32_t far = 2 * r->cells + (uint32_t)sp_records_cell(w, 700 + tid % 16);

	assert_non_null(o.block);
	assert_ptr_equal(sp_store_overflows(&store, r).block, o.block);
	sp_overflow_count(&o, r->cells, 1, 0, 1);
	sp_overflow_hit(&o, r->cells, 1, 0x1000, 1);
	sp_overflow_count(&o, r->cells, 1, 0, 1);
	sp_overflow_hit(&o, r->cells, 1, 0x2000 + (uint64_t)tid % 16, 1);
	sp_overflow_count(&o, far, 2, 700 + tid % 16, 1);
	sp_overflow_hit(&o, far, 1, 0x3000, 0);
}

/* A thread that books 5 on CPU 0, 2 of them proven, and 7 and 1 in two runs elsewhere. */
static void short_thread(int tid)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	struct sp_relation *r;
	struct sp_writer w;
	sp_off thread;

	assert_non_null(sp_store_thread(&store, tid, "t", &thread));
	r = bind_new(&store, thread, &key, &w, NULL);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	book_call(&w, SP_OP_READ, 0, (const long long[]){ 3, 30 }, false, 0);
	book_call(&w, SP_OP_READ, 0, (const long long[]){ 5, 50 }, true, 0);
	book_call(&w, SP_OP_READ, 700, (const long long[]){ 12, 120 }, false, 0);
	book_call(&w, SP_OP_RESET, 0, NULL, false, 0);
	if (tid == LEAVER)		/* what it left is added up all the same */
		book_call(&w, SP_OP_READ, 1, (const long long[]){ 1, 10 }, false, 0);
	else
		book_call(&w, SP_OP_STOP, 1, (const long long[]){ 1, 10 }, false, 0);
	if (tid % 8 == 0)
		overflow_thrice(r, &w, tid);
}

/* Of so many threads every eighth was. */
static void check_overflows(struct sp_model *m, uint64_t threads)
{
	struct sp_row row = { 0 };
	struct sp_overflowed at;
	struct sp_frame_info f;
	uint64_t n[3] = { 0 }, hits = 0, count, folded = 0;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_overflow(m, &row, &i, &at);) {
			n[at.event == 1 && at.cpu == 0	   ? 0
			  : at.event == 2 && at.cpu == 700 ? 1
							   : 2] += at.count;
			assert_true(at.event == 1 || at.cpu >= 700);
			folded += row.tid ? 0 : at.count;
			assert_int_equal(at.other, 0);
			for (uint32_t hit = UINT32_MAX; sp_row_hit(m, &row, &at, &hit, &f, &count);)
				hits += count;
		}
	assert_int_equal(n[0], threads / 8 * 2);
	assert_int_equal(n[1], threads / 16);
	assert_int_equal(n[2], threads / 8 - threads / 16);
	assert_int_equal(hits, threads / 8 * 3);
	assert_true(threads < SP_FOLD_ABOVE + 200 || folded > 3);
}

/* How many relations were left running, as a reader has them of a process that ended so. */
static int left_running(enum sp_end end)
{
	struct sp_row row = { 0 };
	struct sp_model m;
	int n = 0;

	store.header->end = end;
	open_model(&m);
	while (sp_model_next(&m, &row))
		n += (row.flags & SP_RELATION_RUNNING) != 0;
	sp_model_close(&m);
	store.header->end = SP_END_NONE;
	return n;
}

static void check_folded(long threads)
{
	struct sp_model m;

	open_model(&m);
	assert_int_equal(m.tally.threads, threads);
	assert_int_equal(m.sums.total[0], 13 * threads);
	assert_int_equal(m.sums.total[1], 130 * threads);
	assert_int_equal(m.sums.total_exact[0], 2 * threads);
	assert_int_equal(m.sums.below[0], 6 * threads);
	assert_int_equal(m.tally.readings, 4 * (uint64_t)threads);
	assert_int_equal(m.tally.starts, (uint64_t)threads);
	check_overflows(&m, (uint64_t)threads);
	sp_model_close(&m);
}

static void folding(void **state)
{
	uint64_t used = 0;
	int n = 0;

	make_events();
	flat_machine(2);
	while (n < (int)SP_FOLD_ABOVE + 600) {
		alive = ++n;
		sp_store_fold(&store, has_ended, never, NULL);
		short_thread(n);
		if (n == LEAVER)
			assert_int_equal(left_running(SP_END_EXIT), 1);	/* its own */
		if (n == (int)SP_FOLD_ABOVE + 300)
			used = store.header->used;
		if (n % 500 == 0 || n == (int)SP_FOLD_ABOVE + 3)
			check_folded(n);
	}
	check_folded(n);
	assert_int_equal(left_running(SP_END_EXIT), 1);	/* the sum of those that were folded */
	assert_int_equal(left_running(SP_END_RECOVERED), 1);
	assert_int_equal(left_running(SP_END_NONE) + left_running(SP_END_SNAPSHOT), 0);
	assert_true(store.n_unfolded <= SP_FOLD_ABOVE + 1);
	assert_int_equal(store.header->used, used);	/* blocks come back: no growth */
}

/* A thread that had two sets is one thread, also once both are folded. */
static void folding_two_sets(void **state)
{
	const int n = (int)SP_FOLD_ABOVE / 2 + 300;
	struct sp_model m;

	make_events();
	flat_machine(2);
	for (alive = 1; alive <= n; alive++) {
		sp_off thread;

		sp_store_fold(&store, has_ended, never, NULL);
		assert_non_null(sp_store_thread(&store, alive, "t", &thread));
		for (unsigned i = 0; i < 2; i++) {
			struct sp_relation_key key = { .k = 1, .event = &ab[i] };
			struct sp_writer w;

			bind_new(&store, thread, &key, &w, NULL);
			book_call(&w, SP_OP_START, 0, NULL, false, 0);
			book_call(&w, SP_OP_STOP, 0, (const long long[]){ 5 }, false, 0);
		}
	}
	open_model(&m);
	assert_int_equal(m.sums.total[0], 5 * n);
	assert_true(m.tally.relations < 2 * (uint32_t)n - 500);
	assert_int_equal(m.tally.threads_counted, n);
	sp_model_close(&m);
}

/* ---- how counts were told to CPUs -------------------------------------------------- */

#define FOLDED ((int)SP_FOLD_ABOVE)	/* this one and ten before it are folded first, the newest
					 * first */

/* Thread i got this; the others SP_BY_EXACT. */
static const struct told {
	int tid;
	enum sp_attribution how;
	enum sp_why why;
} told[] = {
	{ FOLDED - 1, SP_BY_APPROXIMATE, SP_WHY_OVERFLOW },
	{ FOLDED - 4, SP_BY_RESIDENCY, SP_WHY_STARVED },
	{ 3000, SP_BY_READING, SP_WHY_CREDIT },		/* is not folded */
};

static const struct told *told_of(int tid)
{
	static const struct told exact = { 0, SP_BY_EXACT, SP_WHY_NONE };

	for (unsigned i = 0; i < SP_COUNT(told); i++)
		if (told[i].tid == tid)
			return &told[i];
	return &exact;
}

/* tid ns on CPU 0, 5 on one of two that the topology lacks, with a reading on each. */
static void thread_with_times(int tid, uint32_t flags)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	struct sp_relation *r;
	struct sp_layout l;
	struct sp_times *t;
	struct sp_writer w;
	sp_off thread;
	int far = 700 + tid % 2;

	assert_non_null(sp_store_thread(&store, tid, "t", &thread));
	r = bind_new(&store, thread, &key, &w, NULL);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	book_call(&w, SP_OP_READ, 0, (const long long[]){ 3, 30 }, !told_of(tid)->why, 0);
	book_call(&w, SP_OP_STOP, far, (const long long[]){ 4, 40 }, !told_of(tid)->why, 0);
	l = sp_relation_layout(2, r->cells);
	t = sp_times_of(r, &l);
	t->flags = flags;
	t->moves = 2;
	t->windows = 1;
	t->at[0] = (uint64_t)tid;
	t->at[sp_records_cell(&w, far)] = 5;
	t->at[r->cells] = tid == FOLDED - 2 ? 100 : 50;
	t->at[r->cells + 1] = tid == FOLDED - 3 ? 200 : 0;
	sp_relation_set_attribution(r, told_of(tid)->how, told_of(tid)->why);
}

static void fold_with_times(uint32_t flags, uint32_t odd)
{
	for (int n = 1; n <= (int)SP_FOLD_ABOVE + 40; n++) {
		alive = n;
		sp_store_fold(&store, has_ended, never, NULL);
		thread_with_times(n, n == FOLDED - 5 ? odd : flags);
	}
}

/* The sum of those that were folded; how many they are. */
static uint64_t folded_row(struct sp_model *m, struct sp_row *row)
{
	memset(row, 0, sizeof(*row));
	open_model(m);
	while (sp_model_next(m, row))
		if (!row->tid)
			return row->threads;
	fail_msg("nothing was folded");
	return 0;
}

/* Of those that are not folded the time is their own; it and they are taken off. */
static void check_apart(struct sp_model *m, struct sp_row *row, uint64_t *on_0, uint64_t *odd)
{
	struct sp_at_cpu at;

	memset(row, 0, sizeof(*row));
	while (sp_model_next(m, row)) {
		if (!row->tid)
			continue;
		assert_int_equal(row->attribution, told_of((int)row->tid)->how);
		assert_int_equal(row->why, told_of((int)row->tid)->why);
		assert_true(sp_row_cell(m, row, 0, &at) && at.cpu == 0);
		assert_int_equal(at.run_ns, row->tid);
		*on_0 -= (uint64_t)row->tid;
		*odd -= (uint64_t)row->tid % 2;
	}
}

static void open_for_times(void)
{
	make_events();
	flat_machine(2);
}

static void folding_times(void **state)
{
	uint64_t all = SP_FOLD_ABOVE + 40, on_0 = all * (all + 1) / 2, odd = all / 2, threads;
	struct sp_at_cpu at;
	struct sp_model m;
	struct sp_row row;

	open_for_times();
	fold_with_times(SP_TIMES_KNOWN | SP_TIMES_MOVES, SP_TIMES_KNOWN | SP_TIMES_MOVES);
	open_model(&m);
	check_apart(&m, &row, &on_0, &odd);
	sp_model_close(&m);
	threads = folded_row(&m, &row);
	assert_true(threads > 30);
	assert_int_equal(row.attribution, SP_BY_EXACT);
	assert_int_equal(row.why, SP_WHY_STARVED);
	assert_non_null(row.times);
	assert_int_equal(row.times->flags, SP_TIMES_KNOWN | SP_TIMES_MOVES);
	assert_int_equal(row.times->moves, 2 * threads);
	assert_int_equal(row.times->windows, threads);
	assert_int_equal(row.error_margin[0], 100);
	assert_int_equal(row.error_margin[1], 200);
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++)
		assert_int_equal(at.run_ns,
				 at.cpu == 0 ? on_0 : 5 * (at.cpu == 701 ? odd : threads - odd));
	assert_int_equal(row.cells, 3);
	sp_model_close(&m);
}

/* What one of them does not know is not known of their sum: no times, or how often they moved. */
static void folding_unknown(void **state)
{
	struct sp_at_cpu at = { 0 };
	struct sp_model m;
	struct sp_row row;

	open_for_times();
	fold_with_times(SP_TIMES_KNOWN | SP_TIMES_MOVES, *state ? SP_TIMES_KNOWN : 0);
	folded_row(&m, &row);
	assert_true(sp_row_cell(&m, &row, 0, &at));
	assert_int_equal(row.times ? row.times->flags : 0, *state ? SP_TIMES_KNOWN : 0);
	assert_true(*state ? at.run_ns > 0 : at.run_ns == -1);
	sp_model_close(&m);
}

/* Run times add up; one that was not measured leaves the sum unknown. */
static void folding_run_times(void **state)
{
	uint64_t threads;
	struct sp_model m;
	struct sp_row row;

	open_for_times();
	fold_with_times(SP_TIMES_RUN, *state ? SP_TIMES_RUN : 0);
	threads = folded_row(&m, &row);
	assert_null(row.times);
	assert_int_equal(row.run_ns, *state ? 2 * threads : SP_COUNTED_UNKNOWN);
	sp_model_close(&m);
}

/* The time of the relation's last call, which took one. */
static uint64_t call_at(struct sp_writer *w, enum sp_op op, long long x, bool fast)
{
	book_call(w, op, 0, op == SP_OP_START || op == SP_OP_RESET ? NULL : &x, fast, 1);
	return w->relation->last_ns;
}

/* From starts to last readings, once without a stop. fast: by the short ways. */
static void check_runs(struct sp_writer *w, bool fast, bool keeps)
{
	struct sp_times *t = sp_relation_times(w->relation);
	uint64_t from, ns = t->run_ns;

	for (int i = 0; i < 2; i++) {
		from = call_at(w, SP_OP_START, 0, fast);
		if (keeps)
			from = call_at(w, SP_OP_READ, 5, fast);
		assert_int_equal(t->run_ns, ns);
		ns += call_at(w, SP_OP_READ, 7, fast) - from;
		assert_int_equal(t->run_ns, ns);
		from = w->relation->last_ns;
		ns += call_at(w, SP_OP_READ, 8, fast) - from;
		assert_int_equal(t->run_ns, ns);
		from = sp_stamp_ns();
		call_at(w, SP_OP_RESET, 0, fast);
		assert_int_equal(t->run_ns, ns);
		call_at(w, SP_OP_READ, 9, fast);
		assert_true(t->run_ns > ns && t->run_ns <= ns + w->relation->last_ns - from);
		ns = t->run_ns;
		from = w->relation->last_ns;
		ns += call_at(w, SP_OP_ACCUM, 9, fast) - from;
		from = w->relation->last_ns;
		ns += call_at(w, SP_OP_STOP, 3, fast) - from;
		assert_int_equal(t->run_ns, ns);
		call_at(w, SP_OP_READ, 3, fast);	/* of a stopped set */
		assert_int_equal(t->run_ns, ns);
	}
	call_at(w, SP_OP_START, 0, fast);
	if (keeps)
		call_at(w, SP_OP_READ, 0, fast);
	assert_int_equal(t->run_ns, ns);
	from = w->relation->last_ns;
	ns += call_at(w, SP_OP_READ, 4, fast) - from;	/* never stopped */
	assert_int_equal(t->run_ns, ns);
}

static uint64_t observed(const struct sp_model *m, const struct sp_row *row)
{
	return sp_observers_ns(&m->observers, row, 0);
}

/* A package's. Stores without the flag have the time from the first start to the last call. */
static void run_times(void **state)
{
	struct sp_event_text energy = { .name = "E", .scope = SP_SCOPE_PACKAGE };
	struct sp_relation_key key = { .k = 1,
				       .event = (const uint32_t[]){ 0 },
				       .scope = SP_SCOPE_PACKAGE };
	struct sp_model m;
	struct sp_row row;
	sp_off thread;

	for (int i = 0; i < 4; i++) {
		struct sp_writer w;

		assert_int_equal(open_store(state), 0);
		flat_machine(2);
		assert_int_equal(sp_store_event(&store, &energy), 0);
		assert_non_null(sp_store_thread(&store, 1, "t", &thread));
		bind_new(&store, thread, &key, &w, NULL);
		assert_true(sp_records_place(&w, SP_NO_CPU));
		sp_records_set_component(&w, i & 2 ? SP_KEEPS_ON_START : 0);
		sp_records_time_runs(&w);
		check_runs(&w, i & 1, i & 2);
		open_first(&m, &row);
		assert_true(row.run_ns > 0 && row.run_ns < row.last_ns - row.first_ns);
		assert_int_equal(observed(&m, &row), row.run_ns);
		sp_model_close(&m);
		sp_relation_times(w.relation)->flags = 0;
		open_first(&m, &row);
		assert_int_equal(row.run_ns, SP_COUNTED_UNKNOWN);
		assert_int_equal(observed(&m, &row), row.last_ns - row.first_ns);
		sp_model_close(&m);
		close_store(state);
	}
}

static void told_words(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab, .flags = SP_RELATION_ESTIMATED };
	struct sp_relation *r;
	struct sp_row row = { 0 };
	struct sp_writer w;
	struct sp_model m;
	sp_off thread;

	make_events();
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	r = bind_new(&store, thread, &key, &w, NULL);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	/* what is proven needs no reason */
	book_call(&w, SP_OP_STOP, 0, (const long long[]){ 7, 8 }, false, 0);
	sp_relation_set_attribution(r, SP_BY_READING, SP_WHY_BUDGET);
	sp_relation_set_attribution(r, SP_BY_EXACT, SP_WHY_NONE);		/* the best */
	assert_int_equal(r->flags, SP_RELATION_ESTIMATED | SP_BY_EXACT << SP_RELATION_HOW_SHIFT |
					   SP_WHY_BUDGET << SP_RELATION_WHY_SHIFT);
	sp_relation_set_attribution(r, SP_BY_APPROXIMATE, SP_WHYS - 1);
	sp_relation_set_attribution(r, SP_BY_RESIDENCY, SP_WHY_CLOSED);	/* and the last reason */
	sp_relation_set_attribution(r, SP_BY_RESIDENCY, SP_WHY_NONE);
	open_first(&m, &row);
	assert_int_equal(row.attribution, SP_BY_EXACT);
	assert_int_equal(row.why, SP_WHY_CLOSED);
	assert_null(row.times);
	assert_int_equal(row.flags & ~SP_RELATION_HOW, SP_RELATION_ESTIMATED);
	sp_model_close(&m);
	r->flags |= SP_RELATION_HOW;			/* of a version to come, or damaged */
	memset(&row, 0, sizeof(row));
	open_first(&m, &row);
	assert_int_equal(row.attribution, SP_BY_READING);
	assert_int_equal(row.why, SP_WHY_NONE);
	sp_model_close(&m);
}

/* ---- no memory ---------------------------------------------------------------------- */

static void fill(void)
{
	sp_off off;

	store.region.limit = store.region.mapped;
	for (uint64_t bytes = 4096; bytes >= 64; bytes /= 2)
		while (sp_region_alloc(&store.region, SP_BLOCK_FREE, bytes, &off))
			;
}

static void no_memory(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	struct sp_component c = { .parent = -1, .type = "Machine" };
	const char *const list[] = { "x" };
	struct sp_model m;
	sp_off thread, off;

	make_events();
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	fill();
	assert_int_equal(sp_store_text(&store, "x"), 0);
	assert_int_equal(sp_store_texts(&store, 1, list), 0);
	assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ .name = "x" }), -ENOMEM);
	assert_int_equal(sp_store_topology(&store, &c, 1, 1, "flat", NULL, 0), -ENOMEM);
	assert_null(sp_store_thread(&store, 2, "t", &off));
	assert_null(sp_store_relation(&store, thread, &key, never, NULL, &off));
	assert_null(sp_store_relation(&store, thread, &key, never, NULL, &off));
	sp_store_note(&store, "a note");
	assert_int_equal(store.header->dropped_relations, 2);
	assert_int_equal(store.header->lists.n_events, 2);
	assert_int_equal(store.header->lists.n_threads, 1);
	open_model(&m);
	assert_int_equal(m.h.dropped_relations, 2);
	sp_model_close(&m);
	store.region.limit = 0;
	assert_non_null(sp_store_relation(&store, thread, &key, never, NULL, &off));
}

/* ---- cells ---------------------------------------------------------------- */

#define MANY_CPUS	256u
#define READ(to, on, a) \
	book_call(&(to), SP_OP_READ, (on), (const long long[]){ (a), 2 * (a) }, true, 0)

/* What an event set of four events takes of the store, with its thread or not, on so many CPUs. */
static uint64_t bytes_of_set(uint32_t cpus, bool with_thread)
{
	static const uint32_t four[] = { 0, 1, 0, 1 };
	struct sp_relation_key key = { .k = 4, .event = four };
	uint64_t before = 0;
	sp_off thread = 0, off;

	make_events();
	sp_store_cpus(&store, cpus);
	for (int i = 0; i < 100; i++) {
		struct sp_writer w;

		if (i == 20)		/* (the blocks that are ready are there by now) */
			before = store.header->used;
		if (with_thread || !i)
			assert_non_null(sp_store_thread(&store, i + 1, "t", &thread));
		key.event_set = i;
		assert_non_null(sp_store_new_relation(&store, thread, &key, &off));
		sp_records_bind(&w, &store.reader, off, key.k, store.cells, NULL);
		assert_non_null(
			sp_store_intervals(&store, w.relation, key.k, SP_INTERVALS_FIRST(key.k)));
		book_call(&w, SP_OP_START, 0, NULL, false, 0);
		book_call(&w, SP_OP_STOP, (int)cpus - 1, (const long long[]){ 1, 2, 3, 4 }, true,
			  0);
	}
	return (store.header->used - before) / 80;
}

/* sspapi's part of a set in private memory is 2.25 KiB (preload/sets/sets.c). */
static void bytes_of_a_set(void **state)
{
	assert_true(bytes_of_set(2, false) <= 10496 - 2304);
}

static void bytes_of_a_thread(void **state)
{
	assert_true(bytes_of_set(MANY_CPUS, true) <= 15000);
}

static void check_cells(const struct sp_row *row, struct sp_model *m, const int64_t want[][3],
			uint32_t n)
{
	struct sp_row copy = *row;
	struct sp_at_cpu at;

	assert_int_equal(row->cells, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(sp_row_cell(m, &copy, i, &at));
		assert_int_equal(at.cpu, want[i][0]);
		assert_int_equal(at.total[0], want[i][1]);
		assert_int_equal(at.total[1], 2 * want[i][1]);
		assert_int_equal(at.exact[0], want[i][2]);
	}
}

static bool none_ready(void)
{
	for (unsigned i = 0; i < SP_READY; i++)
		if (store.ready[i])
			return false;
	return true;
}

/* A set of two events on a machine of 256 CPUs, started. */
static void start_wide(struct sp_writer *w)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	sp_off thread;

	make_events();
	sp_store_cpus(&store, MANY_CPUS);
	assert_non_null(sp_store_thread(&store, 1, "t", &thread));
	bind_new(&store, thread, &key, w, NULL);
	book_call(w, SP_OP_START, 0, NULL, false, 0);
}

static void take_all_ready(void)
{
	uint32_t left;
	sp_off off;

	while (sp_store_take_ready(&store, SP_BLOCK_NOTE, 0, &off, &left))
		;
}

/* While another thread holds the lock, ready blocks are used; without any, counts are on no CPU. */
static void cells_without_the_lock(void **state)
{
	static const int64_t want[][3] = {
		{ 0, 5, 5 }, { 10, 10, 10 }, { 20, 10, 10 }, { 255, 10, 10 }, { SP_NO_CPU, 5, 0 }
	};
	struct sp_lock_state held;
	struct sp_writer w;
	struct sp_model m;
	struct sp_row row;

	start_wide(&w);
	sp_lock_take(&store.lock, &held);
	READ(w, 0, 5);
	READ(w, 255, 10);
	READ(w, 10, 20);
	READ(w, 20, 30);
	READ(w, 255, 35);
	take_all_ready();
	assert_true(none_ready());
	READ(w, 100, 40);
	sp_lock_give(&store.lock, &held);
	open_first(&m, &row);
	check_cells(&row, &m, want, SP_COUNT(want));
	assert_int_equal(row.why, SP_WHY_MEMORY);
	sp_model_close(&m);
	READ(w, 100, 60);		/* now it can be made, and others are ready again */
	assert_false(none_ready());
	open_first(&m, &row);
	assert_int_equal(row.cells, SP_COUNT(want) + 1);
	sp_model_close(&m);
}

/* The same where memory is at its end: all is counted. */
static void cells_without_memory(void **state)
{
	static const int64_t want[][3] = { { 0, 5, 5 }, { SP_NO_CPU, 7, 0 } };
	struct sp_writer w;
	struct sp_model m;
	struct sp_row row;

	start_wide(&w);
	READ(w, 0, 5);
	fill();
	take_all_ready();
	READ(w, 255, 10);
	book_parts(&w, SP_OP_STOP, 0, (const long long[]){ 12, 24 },
		   &(struct sp_parts){ .n = 1,
				       .cpu = (const int32_t[]){ 99 },
				       .at = (const int64_t[]){ 2, 4 },
				       .proven = (const int64_t[]){ 2, 4, 0, 0 } },
		   0);
	open_first(&m, &row);
	check_cells(&row, &m, want, SP_COUNT(want));
	assert_int_equal(row.why, SP_WHY_MEMORY);
	sp_model_close(&m);
}

/* Just a text in the middle of an event is missing: the event stays. */
static void little_memory(void **state)
{
	struct sp_model m;
	sp_off off = 0;

	fill();
	store.region.limit = 0;
	assert_non_null(sp_region_alloc(&store.region, SP_BLOCK_FREE, 64, &off));
	fill();
	sp_region_free(&store.region, off, 64);
	store.region.limit = store.region.mapped;
	(void)sp_store_event(&store, &(struct sp_event_text){
					     .name = "N", .component = "C", .units = "U" });
	open_model(&m);
	sp_model_close(&m);
}

static void no_store(void **state)
{
	struct sp_relation_key key = { .k = 2, .event = ab };
	struct sp_store none = { 0 };
	sp_off off;

	assert_int_equal(sp_store_text(&none, "x"), 0);
	sp_store_note(&none, "x");
	assert_null(sp_store_relation(&none, 64, &key, never, NULL, &off));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocation),
		cmocka_unit_test(outside),
		cmocka_unit_test(blocks_come_back),
		cmocka_unit_test(free_sizes),
		cmocka_unit_test(warm),
		cmocka_unit_test(ahead),
		cmocka_unit_test(in_a_file),
		WITH_STORE(texts),
		WITH_STORE(started_by_others),
		WITH_STORE(notes),
		WITH_STORE(topology),
		WITH_STORE(events),
		WITH_STORE(same_relation),
		WITH_STORE(many_sets),
		WITH_STORE(list_in_a_circle),
		WITH_STORE(proven_apart),
		WITH_STORE(domains_apart),
		WITH_STORE(more_cpus_later),
		WITH_STORE(folding),
		WITH_STORE(folding_two_sets),
		WITH_STORE(folding_times),
		WITH_STORE(folding_unknown),
		WITH_STORE(folding_run_times),
		{ "folding, run times", folding_run_times, open_store, close_store, &alive },
		cmocka_unit_test(run_times),
		{ "folding, unknown moves", folding_unknown, open_store, close_store, &alive },
		WITH_STORE(told_words),
		WITH_STORE(no_memory),
		WITH_STORE(little_memory),
		cmocka_unit_test(no_store),
		WITH_STORE(bytes_of_a_set),
		WITH_STORE(bytes_of_a_thread),
		WITH_STORE(cells_without_the_lock),
		WITH_STORE(cells_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

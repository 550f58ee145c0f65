/* walker.c: walks by libunwind with sspapi's own accessors; see walker.h.
 *
 * Does not use unw_init_local(): libunwind then checks the stack by a pipe. If the program has
 * closed that pipe and opened files, it reads from one and writes to another.
 */
#include <errno.h>
#include <libunwind.h>
#include <string.h>

#include "walker.h"

#define EXPORT __attribute__((visibility("default")))

#ifdef __x86_64__
#define IP	UNW_X86_64_RIP
#define RA	UNW_X86_64_RIP
#define SP	UNW_X86_64_RSP
#define FP	UNW_X86_64_RBP
#else
#define IP	UNW_AARCH64_PC
#define RA	UNW_AARCH64_X30
#define SP	UNW_AARCH64_SP
#define FP	UNW_AARCH64_X29
#endif

/* Exported for libunwind-ptrace, but declared in no header. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
int search_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
		 int need, void *arg);

/* Refuse the pipe that libunwind opens, by replacing libc's functions. The library is loaded with
 * RTLD_DEEPBIND, so no other code finds these. */
EXPORT int sp_no_pipe(int fd[2]) __asm__("pipe");
EXPORT int sp_no_pipe2(int fd[2], int flags) __asm__("pipe2");

int sp_no_pipe(int fd[2])
{
	(void)fd;
	return -1;
}

int sp_no_pipe2(int fd[2], int flags)
{
	(void)fd;
	(void)flags;
	return -1;
}

static const struct sp_walk_callbacks *callbacks;
static unw_addr_space_t space;
static unw_cursor_t cursor;
static struct sp_stack frame;		/* the frame of this step */
static const struct sp_tables *tables;	/* of its object */
static uintptr_t function;		/* first instruction of its code */

/* Results of libunwind's reads in one step. */
static struct {
	/* No known tables; no entry in them; the frame pointer was read; the caller's registers
	 * were found. */
	bool unknown, none, fp, found;
	uintptr_t refused;		/* a word that is not on the stack; 0 */
	/* Tables are searched; a word outside of them that is read as 0, see find_tables(). */
	bool is_search;
	uintptr_t personality;
	unsigned n;
	uintptr_t word[3], value[3];	/* stack words that were read */
} seen;

static int find_tables(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	unw_dyn_info_t di;
	const unsigned char *h;
	uint32_t entries;

	tables = callbacks->tables_of(ip);
	seen.unknown = !tables;
	seen.none = true;
	if (!tables || !tables->header)
		return -UNW_ENOINFO;
	h = (const unsigned char *)tables->header;
	/* the encoding that all linkers write */
	if (h[0] != 1 || h[1] != 0x1b || h[2] != 0x03 || h[3] != 0x3b)
		return -UNW_ENOINFO;
	memcpy(&entries, h + 8, sizeof(entries));
	if (entries > (tables->end - tables->header - 12) / 8)
		return -UNW_ENOINFO;
	memset(&di, 0, sizeof(di));
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.end_ip = UINTPTR_MAX;
	di.u.rti.segbase = tables->header;
	di.u.rti.table_data = tables->header + 12;
	di.u.rti.table_len = entries * 8 / sizeof(unw_word_t);
	/* C++: entries have the address of a word in the object's data, which is the address of the
	 * personality routine. libunwind reads it, but does not call the routine. */
	seen.is_search = true;
	seen.none = search_table(as, ip, &di, pi, need, arg) < 0;
	seen.is_search = false;
	if (seen.none)
		return -UNW_ENOINFO;
	function = pi->start_ip;
	return 0;
}

static void release_tables(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static void note(uintptr_t word, uintptr_t value)
{
	for (unsigned i = 0; i < seen.n; i++)
		if (seen.word[i] == word)
			return;
	if (seen.n < SP_COUNT(seen.word)) {
		seen.word[seen.n] = word;
		seen.value[seen.n++] = value;
	}
}

static int read_word(unw_addr_space_t as, unw_word_t at, unw_word_t *value, int write, void *arg)
{
	(void)as;
	(void)arg;
	if (write)
		return -UNW_EINVAL;
	if (tables && at >= (tables->low & ~(uintptr_t)7) && at < tables->end) {
		memcpy(value, (const void *)at, sizeof(*value));
		return 0;
	}
	if (seen.is_search && (!seen.personality || seen.personality == at)) {
		seen.personality = at;
		*value = 0;
		return 0;
	}
	if (!callbacks->is_on_stack(at)) {
		seen.refused = at;
		return -UNW_EINVAL;
	}
	*value = *(const uintptr_t *)at;
	note(at, *value);
	return 0;
}

/* Other registers of a frame are unknown. */
static int read_register(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
			 void *arg)
{
	(void)as;
	(void)arg;
	if (write || (reg != IP && reg != SP && reg != FP))
		return -UNW_EBADREG;
	seen.fp |= reg == FP;
	/* the call precedes its return address */
	*value = reg == IP ? frame.to - 1 : reg == SP ? frame.sp : frame.fp;
	return 0;
}

static int no_float(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t at, char *name, size_t room, unw_word_t *offset,
		   void *arg)
{
	(void)as;
	(void)at;
	(void)name;
	(void)room;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static bool begin(const struct sp_walk_callbacks *from_callbacks)
{
	static struct {
		unw_accessors_t are;
		void *more[8];		/* later versions have more of them */
	} accessors = {
		.are = { .find_proc_info = find_tables,
			 .put_unwind_info = release_tables,
			 .get_dyn_info_list_addr = no_list,
			 .access_mem = read_word,
			 .access_reg = read_register,
			 .access_fpreg = no_float,
			 .resume = no_resume,
			 .get_proc_name = no_name },
	};

	if (!space) {
		space = unw_create_addr_space(&accessors.are, 0);
		if (!space)
			return false;
		/* a cache needs a lock and memory */
		(void)unw_set_caching_policy(space, UNW_CACHE_NONE);
	}
	callbacks = from_callbacks;
	return true;
}

/* The address of the frame's saved register; 0: not saved. */
static uintptr_t saved_at(unw_regnum_t reg, bool *is_known)
{
	unw_save_loc_t at;

	*is_known = unw_get_save_loc(&cursor, reg, &at) == 0 && at.type != UNW_SLT_NONE;
	return *is_known && at.type == UNW_SLT_MEMORY ? at.u.addr : 0;
}

static bool fits(intptr_t distance)
{
	return distance > -(intptr_t)SP_MAX_FRAME && distance < (intptr_t)SP_MAX_FRAME;
}

/* Makes a rule of the reads. False: a rule cannot express the step. */
static bool learn(struct sp_rule *rule, const struct sp_stack *at, uintptr_t cfa, uintptr_t ra_at)
{
	bool known;
	uintptr_t fp_at = saved_at(FP, &known), cfa_at = 0;
	intptr_t distance, fp = 0;
	unsigned others = 0;

	for (unsigned i = 0; i < seen.n; i++)
		if (seen.word[i] != ra_at) {
			others++;
			cfa_at = seen.value[i] == cfa ? seen.word[i] : cfa_at;
		}
	if (!known || cfa <= at->sp || cfa - at->sp >= SP_MAX_FRAME || others > 1 ||
	    (others && !(cfa_at && seen.fp)))
		return false;
	*rule = (struct sp_rule){ .function = function,
				  .how = (uint8_t)((seen.fp ? SP_RULE_BY_FP : 0) |
						   (others ? SP_RULE_THERE : 0)) };
	distance = (intptr_t)(others ? cfa_at : cfa) - (intptr_t)(seen.fp ? at->fp : at->sp);
	if (others && fp_at && fp_at == at->fp)
		rule->how |= SP_RULE_FP_AT_FP;
	else if (fp_at)
		fp = (intptr_t)(fp_at - cfa);
	if (!fits(distance) || !fits(fp) || !fits((intptr_t)(ra_at - cfa)))
		return false;
	rule->cfa = (int32_t)distance;
	rule->ra = (int32_t)(intptr_t)(ra_at - cfa);
	rule->fp = (int32_t)fp;
	return true;
}

/* Visits the rows of a function's tables in order, until the one of the call. */
static int find_row(void *arg, void *row, size_t bytes, unw_word_t from, unw_word_t end)
{
	(void)arg;
	(void)bytes;
	if (frame.to - 1 - from >= end - from)
		return 0;
	seen.found = unw_apply_reg_state(&cursor, row) >= 0;
	return -UNW_ESTOPUNWIND;
}

/* Steps once, independently of earlier frames, as the rule will be used. Does not use unw_step():
 * it guesses where the tables end, and on aarch64 it first reads code and ends at a frame pointer
 * of 0. */
static enum sp_walk step(struct sp_stack *at, struct sp_rule *rule)
{
	unw_word_t cfa = 0, fp = 0;
	uintptr_t ra_at, to;
	bool known;

	memset(&seen, 0, sizeof(seen));
	tables = NULL;
	frame = *at;
	if (unw_init_remote(&cursor, space, NULL) == 0)
		(void)unw_reg_states_iterate(&cursor, find_row, NULL);
	if (seen.none)
		return seen.unknown ? SP_WALK_UNKNOWN : SP_WALK_ENDS;
	ra_at = saved_at(RA, &known);
	if (seen.refused && seen.refused != ra_at)
		return SP_WALK_LOST;
	if (!ra_at || unw_get_reg(&cursor, SP, &cfa) < 0 || !learn(rule, at, cfa, ra_at))
		return SP_WALK_ENDS;
	if (!seen.found && !seen.refused)
		return SP_WALK_ENDS;
	if (seen.refused || !(to = sp_unsigned_address(*(const uintptr_t *)ra_at)))
		return SP_WALK_BEYOND;
	(void)unw_get_reg(&cursor, FP, &fp);
	*at = (struct sp_stack){ to, cfa, fp };
	return SP_WALK_ON;
}

static __attribute__((noinline)) void walk_here(const struct sp_walk_callbacks *of)
{
	struct sp_stack at = { (uintptr_t)__builtin_return_address(0),
			       (uintptr_t)__builtin_dwarf_cfa(),
			       *(const uintptr_t *)__builtin_frame_address(0) };
	struct sp_rule rule;

	if (begin(of))
		while (step(&at, &rule) == SP_WALK_ON)
			;
}

static void rehearse(const struct sp_walk_callbacks *of)
{
	walk_here(of);
	walk_here(of);
}

EXPORT const struct sp_walker sp_walker;
const struct sp_walker sp_walker = { begin, step, rehearse };

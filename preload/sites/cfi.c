/* cfi.c: reads .eh_frame as far as a call path needs it; see cfi.h.
 *
 * The header has a sorted table of functions; each has an entry (FDE), and what entries share stands in another (CIE).  Both
 * hold instructions by which, address by address, a table would be made of where the registers of the caller are: of these
 * the stack pointer, the frame pointer and the return address are followed.
 */
#include <string.h>

#include "cfi.h"

#ifdef __x86_64__
#define SP_REGISTER 7u
#define FP_REGISTER 6u
#define RA_REGISTER 16u
#else					/* aarch64 */
#define SP_REGISTER 31u
#define FP_REGISTER 29u
#define RA_REGISTER 30u
#endif
#define BREG_FP		(0x70u + FP_REGISTER)
#define DEREF		0x06u
#define REMEMBERED	8u
#define OMITTED		0xffu
#define INDIRECT	0x80u

/* ---- bytes -------------------------------------------------------------------- */

struct reader {
	const unsigned char *at, *end;
	bool bad;			/* more was asked for than there is, or what is not known */
};

static struct reader reader(const struct sp_tables *t, uintptr_t at)
{
	struct reader r = { (const unsigned char *)at, (const unsigned char *)t->end, at < t->low || at >= t->end };

	return r;
}

static uint64_t bytes(struct reader *r, unsigned n)
{
	uint64_t v = 0;

	if (r->bad || (size_t)(r->end - r->at) < n) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->at, n);		/* (both architectures have the low one first) */
	r->at += n;
	return v;
}

static uint64_t number(struct reader *r, bool is_signed)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = bytes(r, 1);
		v |= shift < 64 ? (byte & 127) << shift : 0;
		shift += 7;
	} while (byte & 128);
	return is_signed && (byte & 64) && shift < 64 ? v | -(UINT64_C(1) << shift) : v;
}

static uint64_t unsigned_number(struct reader *r)
{
	return number(r, false);
}

static int64_t signed_number(struct reader *r)
{
	return (int64_t)number(r, true);
}

/* As `how` (DW_EH_PE) says; in a table of the header from there. */
static uintptr_t pointer(struct reader *r, unsigned how, uintptr_t header)
{
	uintptr_t from = (how & 0x70) == 0x10 ? (uintptr_t)r->at : (how & 0x70) == 0x30 ? header : 0, v = 0;

	switch (how & 0x0f) {
	case 0x0: case 0x4: case 0xc: v = bytes(r, 8); break;
	case 0x1: v = unsigned_number(r); break;
	case 0x2: v = bytes(r, 2); break;
	case 0x3: v = bytes(r, 4); break;
	case 0x9: v = (uintptr_t)signed_number(r); break;
	case 0xa: v = (uintptr_t)(int16_t)bytes(r, 2); break;
	case 0xb: v = (uintptr_t)(int32_t)bytes(r, 4); break;
	default: r->bad = true;
	}
	r->bad |= (how & INDIRECT) || ((how & 0x70) != 0 && !from);
	return from + v;
}

/* ---- entries -------------------------------------------------------------------- */

struct shared {				/* a CIE */
	struct reader code;
	uint64_t step;			/* of addresses */
	int64_t scale;			/* of offsets */
	unsigned pointers;
	bool augmented, signal;		/* ; the frame of a signal's handler: all registers are the kernel's */
};

/* Of an entry what stands behind its length. */
static struct reader entry(const struct sp_tables *t, uintptr_t at)
{
	struct reader r = reader(t, at);
	uint64_t length = bytes(&r, 4);

	if (length >= 0xfffffff0u || length < 4 || length > (size_t)(r.end - r.at))
		r.bad = true;
	else
		r.end = r.at + length;
	return r;
}

static void read_augmentation(struct shared *c, const char *letters)
{
	uint64_t length = unsigned_number(&c->code);
	struct reader r = c->code;

	if (length > (size_t)(r.end - r.at)) {
		c->code.bad = true;
		return;
	}
	c->code.at += length;
	for (; *letters; letters++) {
		if (*letters == 'R')
			c->pointers = (unsigned)bytes(&r, 1);
		else if (*letters == 'L')
			bytes(&r, 1);
		else if (*letters == 'P')	/* (whatever it is: nobody asks for it) */
			pointer(&r, (unsigned)bytes(&r, 1) & 0x0f, 0);
		else if (*letters == 'S')
			c->signal = true;
		else if (*letters != 'B')	/* aarch64: the other key */
			c->code.bad = true;
	}
	c->code.bad |= r.bad;
}

static struct shared read_shared(const struct sp_tables *t, uintptr_t at)
{
	struct shared c = { .code = entry(t, at) };
	const char *letters;
	uint64_t version, ra;

	c.code.bad |= bytes(&c.code, 4) != 0;
	version = bytes(&c.code, 1);
	letters = (const char *)c.code.at;
	while (bytes(&c.code, 1))
		;
	c.step = unsigned_number(&c.code);
	c.scale = signed_number(&c.code);
	ra = version == 1 ? bytes(&c.code, 1) : unsigned_number(&c.code);
	c.code.bad |= (version != 1 && version != 3) || ra != RA_REGISTER;
	if (!c.code.bad && *letters == 'z') {
		c.augmented = true;
		read_augmentation(&c, letters + 1);
	} else {
		c.code.bad |= !c.code.bad && *letters;
	}
	return c;
}

/* ---- instructions ---------------------------------------------------------------- */

/* Where a register of the caller is. */
struct place {
	enum { SAME, SAVED, AT_FP, ELSEWHERE } is;
	int64_t offset;			/* from the CFA, or from the frame pointer */
};

struct row {
	uint64_t cfa_register;
	int64_t cfa;
	bool there, unknown;
	struct place fp, ra;
};

struct run {
	struct reader r;
	const struct shared *c;
	uintptr_t at, pc;		/* the row is that from `at` on */
	struct row row, first, remembered[REMEMBERED];
	unsigned n_remembered;
};

static void put(struct run *u, uint64_t reg, struct place place)
{
	if (reg == FP_REGISTER)
		u->row.fp = place;
	else if (reg == RA_REGISTER)
		u->row.ra = place;
}

static void restore(struct run *u, uint64_t reg)
{
	put(u, reg, reg == FP_REGISTER ? u->first.fp : u->first.ra);
}

static void saved(struct run *u, uint64_t reg, int64_t offset)
{
	put(u, reg, (struct place){ SAVED, offset * u->c->scale });
}

static void cfa(struct run *u, uint64_t reg, int64_t offset)
{
	u->row.cfa_register = reg;
	u->row.cfa = offset;
	u->row.there = u->row.unknown = false;
}

/* Those that realigned frames have: "the frame pointer and so much", and, of the CFA, what stands there. */
static void expression(struct run *u, bool of_cfa, uint64_t reg)
{
	uint64_t length = unsigned_number(&u->r);
	struct reader r = u->r;
	bool known, deref;
	int64_t offset;

	if (u->r.bad || length > (size_t)(r.end - r.at)) {
		u->r.bad = true;
		return;
	}
	r.end = r.at + length;
	u->r.at = r.end;
	known = bytes(&r, 1) == BREG_FP;
	offset = signed_number(&r);
	deref = r.at < r.end && bytes(&r, 1) == DEREF;
	known = known && !r.bad && r.at == r.end && deref == of_cfa;
	if (!of_cfa) {
		put(u, reg, known ? (struct place){ AT_FP, offset } : (struct place){ ELSEWHERE, 0 });
		return;
	}
	cfa(u, FP_REGISTER, offset);
	u->row.there = true;
	u->row.unknown = !known;
}

static void remember(struct run *u)
{
	if (u->n_remembered < REMEMBERED)
		u->remembered[u->n_remembered++] = u->row;
	else
		u->r.bad = true;
}

static void recall(struct run *u)
{
	if (u->n_remembered)
		u->row = u->remembered[--u->n_remembered];
	else
		u->r.bad = true;
}

static void advance(struct run *u, uint64_t by)
{
	u->at += by * u->c->step;
}

/* DW_CFA_*, of which the operand is not in the same byte. */
static void other_instruction(struct run *u, unsigned is)
{
	uint64_t reg;

	switch (is) {
	case 0x00: case 0x2d: break;		/* nop; negate_ra_state */
	case 0x02: advance(u, bytes(&u->r, 1)); break;
	case 0x03: advance(u, bytes(&u->r, 2)); break;
	case 0x04: advance(u, bytes(&u->r, 4)); break;
	case 0x05: reg = unsigned_number(&u->r); saved(u, reg, (int64_t)unsigned_number(&u->r)); break;
	case 0x06: restore(u, unsigned_number(&u->r)); break;
	case 0x07: put(u, unsigned_number(&u->r), (struct place){ ELSEWHERE, 0 }); break;
	case 0x08: put(u, unsigned_number(&u->r), (struct place){ SAME, 0 }); break;
	case 0x09: case 0x14: reg = unsigned_number(&u->r); unsigned_number(&u->r); put(u, reg, (struct place){ ELSEWHERE, 0 }); break;
	case 0x0a: remember(u); break;
	case 0x0b: recall(u); break;
	case 0x0c: reg = unsigned_number(&u->r); cfa(u, reg, (int64_t)unsigned_number(&u->r)); break;
	case 0x0d: cfa(u, unsigned_number(&u->r), u->row.cfa); break;
	case 0x0e: cfa(u, u->row.cfa_register, (int64_t)unsigned_number(&u->r)); break;
	case 0x0f: expression(u, true, 0); break;
	case 0x10: reg = unsigned_number(&u->r); expression(u, false, reg); break;
	case 0x11: reg = unsigned_number(&u->r); saved(u, reg, signed_number(&u->r)); break;
	case 0x12: reg = unsigned_number(&u->r); cfa(u, reg, signed_number(&u->r) * u->c->scale); break;
	case 0x13: cfa(u, u->row.cfa_register, signed_number(&u->r) * u->c->scale); break;
	case 0x15: reg = unsigned_number(&u->r); signed_number(&u->r); put(u, reg, (struct place){ ELSEWHERE, 0 }); break;
	case 0x16: reg = unsigned_number(&u->r); expression(u, false, reg); put(u, reg, (struct place){ ELSEWHERE, 0 }); break;
	case 0x2e: unsigned_number(&u->r); break;		/* GNU_args_size */
	default: u->r.bad = true;
	}
}

/* Up to the row of `pc`. */
static void run(struct run *u)
{
	while (!u->r.bad && u->r.at < u->r.end && u->at <= u->pc) {
		unsigned is = (unsigned)bytes(&u->r, 1), operand = is & 0x3f;

		switch (is >> 6) {
		case 1: advance(u, operand); break;
		case 2: saved(u, operand, (int64_t)unsigned_number(&u->r)); break;
		case 3: restore(u, operand); break;
		default: other_instruction(u, operand);
		}
	}
}

/* ---- the rule ---------------------------------------------------------------------- */

static bool rule_of(struct sp_rule *r, const struct row *row)
{
	bool by_fp = row->cfa_register == FP_REGISTER;

	if (row->unknown || (!by_fp && row->cfa_register != SP_REGISTER) || row->cfa != (int32_t)row->cfa || row->ra.is != SAVED ||
	    row->ra.offset != (int32_t)row->ra.offset || row->fp.offset != (int32_t)row->fp.offset ||
	    (row->fp.is == AT_FP && row->fp.offset) || row->fp.is == ELSEWHERE)
		return false;
	r->cfa = (int32_t)row->cfa;
	r->ra = (int32_t)row->ra.offset;
	r->fp = row->fp.is == SAVED ? (int32_t)row->fp.offset : 0;
	r->how = (uint8_t)((by_fp ? SP_RULE_BY_FP : 0) | (row->there ? SP_RULE_THERE : 0) | (row->fp.is == AT_FP ? SP_RULE_FP_AT_FP : 0));
	return true;
}

/* By the entry at `at`. */
static bool by_entry(struct sp_rule *rule, const struct sp_tables *t, uintptr_t at, uintptr_t pc)
{
	struct reader r = entry(t, at);
	uintptr_t here = (uintptr_t)r.at, back = bytes(&r, 4);
	struct shared c;
	struct run u;
	uint64_t span;

	if (r.bad || !back)
		return false;
	c = read_shared(t, here - back);
	rule->function = pointer(&r, c.pointers, t->header);
	span = pointer(&r, c.pointers & 0x0f, 0);
	if (c.augmented) {
		uint64_t length = unsigned_number(&r);

		r.bad |= length > (size_t)(r.end - r.at);
		r.at += r.bad ? 0 : length;
	}
	if (r.bad || c.code.bad || c.signal || pc - rule->function >= span)
		return false;
	u = (struct run){ .r = c.code, .c = &c, .at = rule->function, .pc = pc };
	run(&u);
	u.first = u.row;
	if (u.r.bad)
		return false;
	u.r = r;
	run(&u);
	return !u.r.bad && rule_of(rule, &u.row);
}

uintptr_t sp_rule_tables(uintptr_t header, uintptr_t end)
{
	struct sp_tables t = { header, header, end };
	struct reader r = reader(&t, header);
	unsigned version = (unsigned)bytes(&r, 1), how = (unsigned)bytes(&r, 1);
	uintptr_t first;

	bytes(&r, 2);
	first = pointer(&r, how, header);
	return r.bad || version != 1 ? 0 : first;
}

bool sp_rule_find(struct sp_rule *rule, const struct sp_tables *t, uintptr_t to)
{
	struct reader r = reader(t, t->header);
	unsigned how[4];
	uintptr_t pc = to - 1, count, low = 0, high;
	const unsigned char *table;

	rule->function = 0;
	for (unsigned i = 0; i < SP_COUNT(how); i++)
		how[i] = (unsigned)bytes(&r, 1);
	if (r.bad || how[0] != 1 || how[3] != 0x3b || how[1] == OMITTED || how[2] == OMITTED)
		return false;
	pointer(&r, how[1], t->header);
	count = pointer(&r, how[2], t->header);
	table = r.at;
	if (r.bad || count > (size_t)(r.end - table) / 8)
		return false;
	for (high = count; low < high;) {	/* the first that begins behind it */
		uintptr_t middle = (low + high) / 2;
		int32_t begins;

		memcpy(&begins, table + 8 * middle, 4);
		if (t->header + (uintptr_t)(intptr_t)begins <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		int32_t at;

		memcpy(&at, table + 8 * (low - 1) + 4, 4);
		return by_entry(rule, t, t->header + (uintptr_t)(intptr_t)at, pc);
	}
	return false;
}

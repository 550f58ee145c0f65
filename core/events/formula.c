/* formula.c: parses a formula, decides whether its values add up, and evaluates it; see formula.h.
 *
 * PAPI evaluates on a stack: |N0|N1|+|2|/| is (N0 + N1) / 2. To decide whether a preset's values
 * add up, the stack has classes instead of numbers: a constant, a sum of native counts times
 * constants, or something else. A constant plus counts is something else, since it would be counted
 * again after each zeroing.
 *
 * PAPI truncates the result to an integer, so a division by a constant loses up to 1 per value.
 * sspapi attributes the differences of truncated values, which add up to the last of them.
 */
#include <string.h>

#include "../base/out.h"
#include "formula.h"

#define WORDS	128u			/* of a preset's formula; on the program's stack */

#define DIGITS_MOST 15u			/* PAPI's limit */

bool sp_formula_wrong(struct sp_formula *f, uint32_t at, const char *text, const char *w,
		      uint32_t n, const char *more)
{
	struct sp_out o;

	f->at = at;
	sp_out_init(&o, -1, f->reason, sizeof(f->reason) - 1);
	sp_out_text(&o, text);
	if (w) {
		sp_out_text(&o, "'");
		sp_out_bytes(&o, w, sp_min(n, 60));
		sp_out_text(&o, "'");
	}
	sp_out_text(&o, more);
	f->reason[o.used] = 0;
	return false;
}

/* ---- words ------------------------------------------------------------------ */

enum word { WORD_END, WORD_VALUE, WORD_OPERATOR, WORD_OPEN, WORD_CLOSE, WORD_WRONG };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint32_t digits(const struct sp_formula *f, uint32_t at)
{
	uint32_t n = 0;

	while (at + n < f->n && is_digit(f->text[at + n]))
		n++;
	return n;
}

/* Parse a number, or the one after N; *at advances past it. */
static bool read_number(struct sp_formula *f, uint32_t *at, bool decimals, double *number)
{
	uint32_t n = digits(f, *at), end = *at + n;
	double scale = 1.0;

	*number = 0.0;
	if (n > DIGITS_MOST)
		return sp_formula_wrong(f, *at, "a number of more than 15 digits", NULL, 0, "");
	for (; *at < end; ++*at)
		*number = *number * 10.0 + (f->text[*at] - '0');
	if (!decimals || end >= f->n || f->text[end] != '.')
		return true;
	n = digits(f, end + 1);
	if (!n || n > DIGITS_MOST)
		return sp_formula_wrong(f, end, "1 to 15 digits must follow a decimal point", NULL,
					0, "");
	for (++*at; n--; ++*at) {
		*number = *number * 10.0 + (f->text[*at] - '0');
		scale *= 10.0;
	}
	*number /= scale;
	return true;
}

/* Parse a term: N0, N1 ... */
static enum word read_term(struct sp_formula *f, uint32_t *at, struct sp_formula_step *s)
{
	uint32_t from = (*at)++;
	double n;

	if (!digits(f, *at))
		return sp_formula_wrong(f, from, "a number must follow N (N0 is the first event)",
					NULL, 0, ""),
		       WORD_WRONG;
	if (!read_number(f, at, false, &n))
		return WORD_WRONG;
	if (n >= SP_FORMULA_TERMS)
		return sp_formula_wrong(f, from, "", f->text + from, *at - from,
					" is more than a definition has events (64)"),
		       WORD_WRONG;
	*s = (struct sp_formula_step){ .op = SP_FORMULA_TERM, .term = (uint32_t)n };
	if ((int32_t)n > f->highest) {
		f->highest = (int32_t)n;
		f->highest_at = from;
	}
	return WORD_VALUE;
}

static enum word operator(char c, struct sp_formula_step *s)
{
	static const char signs[] = "+-*/";
	const char *p = strchr(signs, c);

	s->op = (enum sp_formula_op)(SP_FORMULA_ADD + (p - signs));
	return WORD_OPERATOR;
}

/* Parse the next word; *at advances past it, *from is its start. */
static enum word next_word(struct sp_formula *f, uint32_t *at, uint32_t *from,
			   struct sp_formula_step *s)
{
	while (*at < f->n && (f->text[*at] == ' ' || f->text[*at] == '\t'))
		++*at;
	*from = *at;
	memset(s, 0, sizeof(*s));
	if (*at == f->n)
		return WORD_END;
	switch (f->text[*at]) {
	case 'N':
		return read_term(f, at, s);
	case '#':
		s->op = SP_FORMULA_HERTZ;
		++*at;
		return WORD_VALUE;
	case '0' ... '9':
		s->op = SP_FORMULA_NUMBER;
		return read_number(f, at, !f->as_papi, &s->number) ? WORD_VALUE : WORD_WRONG;
	case '+': case '-': case '*': case '/':
		return operator(f->text[(*at)++], s);
	case '(':
		++*at;
		return WORD_OPEN;
	case ')':
		++*at;
		return WORD_CLOSE;
	}
	sp_formula_wrong(f, *at, "", f->text + *at, 1,
			 " is not one of N0 N1 ..., numbers, # and + - * /");
	return WORD_WRONG;
}

static bool append_step(struct sp_formula *f, uint32_t at, const struct sp_formula_step *s)
{
	if (f->n_steps == f->room)
		return sp_formula_wrong(f, at, "a formula of more than 256 words", NULL, 0, "");
	f->step[f->n_steps++] = *s;
	return true;
}

/* ---- postfix: N0|N1|/| ---------------------------------------------------------- */

bool sp_formula_postfix(struct sp_formula *f)
{
	uint32_t at = 0, from, values = 0;
	struct sp_formula_step s;

	for (;;) {
		while (at < f->n && f->text[at] == '|')
			at++;
		switch (next_word(f, &at, &from, &s)) {
		case WORD_END:
			if (values == 1)
				return true;
			return sp_formula_wrong(f, from,
						values ? "more values than operators use"
						       : "an empty formula",
						NULL, 0, "");
		case WORD_VALUE:
			values++;
			break;
		case WORD_OPERATOR:
			if (values < 2)
				return sp_formula_wrong(f, from, "", f->text + from, 1,
							" needs two values before it");
			values--;
			break;
		case WORD_OPEN:
		case WORD_CLOSE:
			return sp_formula_wrong(f, from, "", f->text + from, 1,
						" is invalid in a postfix formula");
		case WORD_WRONG:
			return false;
		}
		if (!append_step(f, from, &s))
			return false;
	}
}

/* ---- infix: N0-(N1+(N2*5)) --------------------------------------------------------- */

struct waiting {
	struct { enum sp_formula_op op : 8; bool open; uint32_t at; } stack[SP_FORMULA_STEPS];
	uint32_t n;
};

static int rank(enum sp_formula_op op)
{
	return op == SP_FORMULA_MUL || op == SP_FORMULA_DIV ? 2 : 1;
}

/* Append the waiting operators of at least this rank, which are evaluated first. Equal operators
 * bind from the left, but with PAPI's rules from the right. */
static bool release(struct sp_formula *f, struct waiting *w, int least)
{
	while (w->n && !w->stack[w->n - 1].open && rank(w->stack[w->n - 1].op) >= least) {
		w->n--;
		if (!append_step(f, w->stack[w->n].at,
				 &(struct sp_formula_step){ .op = w->stack[w->n].op }))
			return false;
	}
	return true;
}

static bool wait_for(struct sp_formula *f, struct waiting *w, enum sp_formula_op op, uint32_t at,
		     bool open)
{
	if (w->n == SP_FORMULA_STEPS)
		return sp_formula_wrong(f, at, "a formula of more than 256 words", NULL, 0, "");
	w->stack[w->n].op = op;
	w->stack[w->n].at = at;
	w->stack[w->n++].open = open;
	return true;
}

static bool close_one(struct sp_formula *f, struct waiting *w, uint32_t at)
{
	if (!release(f, w, 0))
		return false;
	if (!w->n)
		return sp_formula_wrong(f, at, "')' without its '('", NULL, 0, "");
	w->n--;
	return true;
}

static bool end_of_infix(struct sp_formula *f, struct waiting *w)
{
	if (!release(f, w, 0))
		return false;
	return !w->n ||
	       sp_formula_wrong(f, w->stack[w->n - 1].at, "'(' is not closed", NULL, 0, "");
}

bool sp_formula_infix(struct sp_formula *f)
{
	struct waiting w = { .n = 0 };
	bool value_due = true;		/* else an operator */
	uint32_t at = 0, from;

	for (;;) {
		struct sp_formula_step s;
		enum word word = next_word(f, &at, &from, &s);
		bool begins = word == WORD_VALUE || word == WORD_OPEN;

		if (word == WORD_WRONG)
			return false;
		if (value_due && !begins)
			return sp_formula_wrong(f, from, "an event or a number is missing here",
						NULL, 0, "");
		if (!value_due && begins)
			return sp_formula_wrong(f, from, "an operator is missing before ",
						f->text + from, at - from, "");
		if (word == WORD_END)
			return end_of_infix(f, &w);
		if (word == WORD_VALUE && !append_step(f, from, &s))
			return false;
		if (word == WORD_OPEN && !wait_for(f, &w, s.op, from, true))
			return false;
		if (word == WORD_CLOSE && !close_one(f, &w, from))
			return false;
		if (word == WORD_OPERATOR && (!release(f, &w, rank(s.op) + f->as_papi) ||
					      !wait_for(f, &w, s.op, from, false)))
			return false;
		value_due = word == WORD_OPEN || word == WORD_OPERATOR;
	}
}

/* ---- presets, by PAPI's rules --------------------------------------------------- */

/* Returns whether an operator is between its operands, with no '|' next to it. */
static bool is_infix(const char *p)
{
	if (strchr(p, '('))
		return true;
	for (size_t i = 1; p[0] && p[i]; i++)
		if (strchr("+-*/", p[i]) && p[i - 1] != '|' && p[i + 1] && p[i + 1] != '|' &&
		    !strchr("+-*/", p[i - 1]))
			return true;
	return false;
}

static bool read_preset(struct sp_formula *f, const char *text, struct sp_formula_step step[WORDS])
{
	*f = (struct sp_formula){ .text = text,
				  .n = (uint32_t)strlen(text),
				  .step = step,
				  .room = WORDS,
				  .as_papi = true,
				  .highest = -1 };
	return is_infix(text) ? sp_formula_infix(f) : sp_formula_postfix(f);
}

enum term { ZERO, CONSTANT, LINEAR, OTHER };

static enum term combine(enum sp_formula_op op, enum term a, enum term b)
{
	if (a == OTHER || b == OTHER)
		return OTHER;
	if (op == SP_FORMULA_ADD || op == SP_FORMULA_SUB) {
		if (a == ZERO || b == ZERO)
			return a == ZERO ? b : a;
		return a == b ? a : OTHER;
	}
	if (op == SP_FORMULA_MUL) {
		if (a == ZERO || b == ZERO)
			return ZERO;
		return a == CONSTANT ? b : b == CONSTANT ? a : OTHER;
	}
	return b == CONSTANT ? a : OTHER;	/* division; one by 0 has no value */
}

static enum term term_of(const struct sp_formula_step *s)
{
	return s->op == SP_FORMULA_TERM				? LINEAR
	       : s->op == SP_FORMULA_NUMBER && s->number == 0.0 ? ZERO
								: CONSTANT;
}

bool sp_formula_is_linear(const char *formula)
{
	struct sp_formula_step step[WORDS];
	enum term at[WORDS + 1];
	struct sp_formula f;
	uint32_t n = 0;

	if (!read_preset(&f, formula, step))
		return false;
	for (uint32_t i = 0; i < f.n_steps; i++)
		if (step[i].op < SP_FORMULA_ADD) {
			at[n++] = term_of(&step[i]);
		} else {
			n--;
			at[n - 1] = combine(step[i].op, at[n - 1], at[n]);
		}
	return at[0] == LINEAR;
}

bool sp_formula_calculate(enum sp_formula_op op, double *a, double b)
{
	if (op == SP_FORMULA_ADD)
		*a += b;
	else if (op == SP_FORMULA_SUB)
		*a -= b;
	else if (op == SP_FORMULA_MUL)
		*a *= b;
	else if (b < 0.0 || b > 0.0)
		*a /= b;
	else
		return false;
	return true;
}

bool sp_formula_value(const char *formula, const double *n, unsigned natives, double *value)
{
	struct sp_formula_step step[WORDS];
	double at[WORDS + 1];
	struct sp_formula f;
	uint32_t used = 0;

	if (!read_preset(&f, formula, step) || f.highest >= (int32_t)natives)
		return false;
	for (uint32_t i = 0; i < f.n_steps; i++) {
		if (step[i].op == SP_FORMULA_HERTZ)
			return false;
		if (step[i].op < SP_FORMULA_ADD)
			at[used++] =
				step[i].op == SP_FORMULA_TERM ? n[step[i].term] : step[i].number;
		else if (used--, !sp_formula_calculate(step[i].op, &at[used - 1], at[used]))
			at[used - 1] = 0;
	}
	*value = at[0];
	return true;
}

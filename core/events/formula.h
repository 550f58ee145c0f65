/* formula.h: PAPI's postfix and infix formulas, into steps; and a preset's as PAPI reads it. */
#ifndef SP_FORMULA_H
#define SP_FORMULA_H

#include "../base/base.h"

#define SP_FORMULA_TERMS 64u		/* N0 .. N63 */
#define SP_FORMULA_STEPS 256u		/* most words of one formula */

enum sp_formula_op {
	SP_FORMULA_TERM,
	SP_FORMULA_NUMBER,
	SP_FORMULA_HERTZ,
	SP_FORMULA_ADD,
	SP_FORMULA_SUB,
	SP_FORMULA_MUL,
	SP_FORMULA_DIV
};

struct sp_formula_step {
	enum sp_formula_op op;
	uint32_t term;			/* of the definition: 0 .. n_terms - 1 */
	double number;
};

struct sp_formula {
	const char *text;		/* n bytes */
	uint32_t n;
	bool as_papi;			/* no decimal numbers; equal operators of infix bind from
					 * the right */
	struct sp_formula_step *step;
	uint32_t n_steps, room;
	/* What is wrong, if it is: at text[at]. */
	uint32_t at;
	char reason[160];
	/* The highest N that is used, and where. */
	int32_t highest;
	uint32_t highest_at;
};

bool sp_formula_postfix(struct sp_formula *f);
bool sp_formula_infix(struct sp_formula *f);

/* "text", or "text 'w' more" with the n bytes of w, as the reason. false. */
bool sp_formula_wrong(struct sp_formula *f, uint32_t at, const char *text, const char *w,
		      uint32_t n, const char *more);

/* a op b; false: a division by 0. */
bool sp_formula_calculate(enum sp_formula_op op, double *a, double b);

/* Is a preset's value a sum of its native counts, each times a constant?  Then values add up: a
 * counter.  PAPI's postfix formula, or one in infix form; what cannot be read is not linear. */
bool sp_formula_is_linear(const char *formula);

/* Its value for native counts of n[i], i below `natives`; false: it cannot be read, or needs the
 * clock's frequency (#). */
bool sp_formula_value(const char *formula, const double *n, unsigned natives, double *value);

#endif

/* formula.h: parses PAPI's postfix and infix formulas into steps, and evaluates those of
 * presets. */
#ifndef SP_FORMULA_H
#define SP_FORMULA_H

#include "../base/base.h"

#define SP_FORMULA_TERMS 64u		/* N0 .. N63 */
#define SP_FORMULA_STEPS 256u		/* words of one formula */

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
	uint32_t term;			/* index in the definition: 0 .. n_terms - 1 */
	double number;
};

struct sp_formula {
	const char *text;		/* n bytes */
	uint32_t n;
	/* PAPI's rules: no decimal numbers; equal infix operators bind from the right */
	bool as_papi;
	struct sp_formula_step *step;
	uint32_t n_steps, room;
	/* The error, at text[at]. */
	uint32_t at;
	char reason[160];
	/* The highest N in the formula, and its position. */
	int32_t highest;
	uint32_t highest_at;
};

bool sp_formula_postfix(struct sp_formula *f);
bool sp_formula_infix(struct sp_formula *f);

/* Set the reason to "text", or to "text 'w' more" with the n bytes of w. Returns false. */
bool sp_formula_wrong(struct sp_formula *f, uint32_t at, const char *text, const char *w,
		      uint32_t n, const char *more);

/* *a = *a op b; false for a division by 0. */
bool sp_formula_calculate(enum sp_formula_op op, double *a, double b);

/* Returns whether a preset's value is a linear sum of its native counts, so that values add up. The
 * formula is PAPI's postfix, or infix; an invalid formula is not linear. */
bool sp_formula_is_linear(const char *formula);

/* Evaluate the formula for native counts n[0 .. natives - 1]; false if it is invalid or needs the
 * clock frequency (#). */
bool sp_formula_value(const char *formula, const double *n, unsigned natives, double *value);

#endif

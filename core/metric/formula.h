/* formula.h: PAPI's postfix and infix formulas, into steps. */
#ifndef SP_FORMULA_H
#define SP_FORMULA_H

#include "metric.h"

struct sp_formula {
	const char *text;		/* n bytes */
	uint32_t n;
	struct sp_metric_step *step;	/* room for SP_METRIC_STEPS */
	uint32_t n_steps;
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
bool sp_formula_wrong(struct sp_formula *f, uint32_t at, const char *text, const char *w, uint32_t n, const char *more);

#endif

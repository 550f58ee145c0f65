/* rates.h: how fast a process counts, from one look at its live file to the next. */
#ifndef SP_RATES_H
#define SP_RATES_H

#include "../out.h"
#include "../view/model.h"

struct sp_rates {			/* as the last look found it; zero: there was none */
	uint64_t ns;
	uint32_t n_events;
	int64_t *total;
};

/* "solver (pid 4711), in the last 2.00 s: PAGE-FAULTS 1,234/s": since the last look, or since the process began. */
void sp_rates_write(const struct sp_rates *r, struct sp_out *o, const struct sp_model *m);

/* m is the last look from now on.  Before the end: with NULL. */
void sp_rates_keep(struct sp_rates *r, const struct sp_model *m);

#endif

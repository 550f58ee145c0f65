/* short.c: see short.h. */
#include "short.h"

SP_COLD void sp_short_open(struct sp_set *s, int id)
{
	/* A call path is more than the address; what libpapi calls inside is not the program's. */
	if (sp_process.unwinds || sp_self.nests || !sp_get(&sp_process.papi) || !sp_get(&sp_process.proof_works) ||
	    !sp_self.calls || sp_self.generation != sp_process.generation || sp_get(&s->hot) != sp_self.id)
		return;
	sp_put(&s->number, id);
	sp_order();
	sp_put(&sp_self.set, s);
}

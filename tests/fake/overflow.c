/* overflow.c: the scripted libpapi samples nothing: overflow is refused, histograms stay empty. */
#include "fakelib.h"

FK_API int PAPI_overflow(int EventSet, int EventCode, int threshold, int flags,
			 PAPI_overflow_handler_t handler)
{
	FK_ENTER(PAPI_overflow);
	(void)EventSet, (void)EventCode, (void)threshold, (void)flags, (void)handler;
	FK_RETURN(PAPI_ECMP);
}

FK_API int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int EventSet,
		       int EventCode, int threshold, int flags)
{
	FK_ENTER(PAPI_profil);
	(void)buf, (void)bufsiz, (void)offset, (void)scale, (void)EventCode, (void)threshold,
		(void)flags;
	FK_RETURN(fk_lookup(EventSet) ? PAPI_OK : PAPI_ENOEVST);
}

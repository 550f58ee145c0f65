/* fortran.c: the scripted libpapi's papif_* functions in their spellings, from fortran.def. */
#include <stdio.h>

#include "fakelib.h"

/* Trailing blanks are not part of a Fortran string; PAPI cuts at 127. */
static void cut(char *to, const char *from, int n)
{
	if (n > PAPI_MAX_STR_LEN - 1)
		n = PAPI_MAX_STR_LEN - 1;
	while (n > 0 && from[n - 1] == ' ')
		n--;
	memcpy(to, from, (size_t)(n < 0 ? 0 : n));
	to[n < 0 ? 0 : n] = '\0';
}

#define STRING(t)			\
	char t[PAPI_MAX_STR_LEN];	\
	cut(t, s, n)

/* Before 7.1 the plain spelling is exported, too. */
#if FAKE_PAPI_VERSION < 0x0701
#define PLAIN __attribute__((visibility("default")))
#else
#define PLAIN __attribute__((visibility("hidden")))
#endif
#define SAME_AS(name) __attribute__((visibility("default"), alias(#name)))

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define FORT(name, caps, params, ...)				\
	PLAIN void papif_##name params;				\
	void papif_##name params				\
	{							\
		(void)fk_enter(F_papif_##name);		\
		errno = FK_ERRNO + F_papif_##name;		\
		__VA_ARGS__;					\
	}							\
	SAME_AS(papif_##name) void papif_##name##_ params;	\
	SAME_AS(papif_##name) void papif_##name##__ params;	\
	SAME_AS(papif_##name) void PAPIF_##caps params;
#include "fortran.def"

/* recorder.c: a libpapi that does nothing but record its arguments; one function a
 * row of papi.def and fortran.def, so that no row can be forgotten.
 */
#include <errno.h>
#include <papi.h>

#include "recorder.h"

struct recorded recorded;

#define SEE(a)	(recorded.size[recorded.n] = sizeof(a), recorded.arg[recorded.n++] = (uintptr_t)(a))
#define SEE0()
#define SEE1(a, ...)	SEE(a); __VA_OPT__(SEE2(__VA_ARGS__))
#define SEE2(a, ...)	SEE(a); __VA_OPT__(SEE3(__VA_ARGS__))
#define SEE3(a, ...)	SEE(a); __VA_OPT__(SEE4(__VA_ARGS__))
#define SEE4(a, ...)	SEE(a); __VA_OPT__(SEE5(__VA_ARGS__))
#define SEE5(a, ...)	SEE(a); __VA_OPT__(SEE6(__VA_ARGS__))
#define SEE6(a, ...)	SEE(a); __VA_OPT__(SEE7(__VA_ARGS__))
#define SEE7(a, ...)	SEE(a); __VA_OPT__(SEE8(__VA_ARGS__))
#define SEE8(a)		SEE(a)
#define SEE_ALL(...)	__VA_OPT__(SEE1(__VA_ARGS__))

#define BODY(text, args) \
	recorded.errno_seen = errno; \
	recorded.name = text; \
	recorded.calls++; \
	recorded.n = 0; \
	SEE_ALL args; \
	errno = recorded.give_errno

#define ROW(type, name, params, args, before, after) \
	type name params \
	{ \
		BODY(#name, args); \
		return recorded.give_rc; \
	}
#define VOID(name, params, args, before, after) void name params { BODY(#name, args); }
#define OLD(type, name, params, args) type name params; ROW(type, name, params, args, , )
#include "../../preload/papi/papi.def"

#define F(symbol, params, args) void symbol params; void symbol params { BODY(#symbol, args); }
#define FROW(name, NAME, params, args, before, after) \
	F(name, params, args) F(name##_, params, args) \
	F(name##__, params, args) F(NAME, params, args)
#include "../../preload/papi/fortran.def"

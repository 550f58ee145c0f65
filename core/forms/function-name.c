/* function-name.c: cuts a C++ function's name down; see function-name.h. */
#include <string.h>

#include "function-name.h"

/* Behind a substitution: St, Sa, S_, S0_, T_, T1_. */
static const char *behind_substitution(const char *s)
{
	s++;
	while ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z'))
		s++;
	return *s ? s + 1 : s;
}

/* The parts of _ZN3sim6Solver4stepEi, and of _Z4stepi, from behind the _Z; template arguments and what the standard
 * abbreviates are left out.  False: another construct (operators, lambdas). */
static bool demangled(struct sp_out *o, const char *s)
{
	bool nested = *s == 'N', any = false;
	const char *class = "";
	size_t n = 0, depth = 0;

	if (*s == 'Z') {		/* within a function */
		any = demangled(o, s + 1);
		sp_out_text(o, strstr(s, "Ul") ? "::lambda" : "::local");
		return any;
	}
	for (s += nested; *s;) {
		if (*s >= '1' && *s <= '9') {
			for (n = 0; *s >= '0' && *s <= '9' && n < SP_FUNCTION_NAME; s++)
				n = n * 10 + (size_t)(*s - '0');
			if (strnlen(s, n) < n)
				return false;
			if (!depth && (n != 12 || memcmp(s, "_GLOBAL__N_1", 12) != 0)) {
				class = s;
				sp_out_text(o, any ? "::" : "");
				sp_out_bytes(o, s, n);
				any = true;
			}
			s += n;
			if (!nested && !depth && *s != 'I')
				return any;
		} else if (*s == 'S' || *s == 'T') {
			s = behind_substitution(s);
		} else if (depth && *s == 'L') {
			s += strcspn(s, "E") + (strchr(s, 'E') != NULL);
		} else if (*s == 'I' || (depth && strchr("NXJF", *s))) {
			depth++, s++;
		} else if (*s == 'E') {
			if (!depth || (depth == 1 && !nested))
				return any;
			depth--, s++;
		} else if (!depth && any && (*s == 'C' || *s == 'D') && *class) {
			sp_out_text(o, *s == 'C' ? "::" : "::~");
			sp_out_bytes(o, class, n);
			return true;
		} else if (!depth && any && !strncmp(s, "cl", 2)) {
			sp_out_text(o, "::operator()");
			return true;
		} else if (depth || strchr("KVrLRO", *s)) {
			s++;
		} else {
			return false;
		}
	}
	return false;
}

/* What addr2line -C says without arguments and what stands in angle brackets:
 * (anonymous namespace)::Solver<double>::step(int) const, main::{lambda(int)#1}::operator()(int). */
static void plain_name(struct sp_out *o, const char *name)
{
	unsigned depth = 0;

	for (const char *p = name; *p; p++) {
		if (!depth && !strncmp(p, "(anonymous namespace)::", 23)) {
			p += 22;
		} else if (!depth && !strncmp(p, "{lambda", 7) && strstr(p, "operator()")) {
			sp_out_text(o, "lambda");
			return;
		} else if (!depth && !strncmp(p, "operator", 8)) {
			sp_out_text(o, "operator");
			sp_out_bytes(o, p + 8, 1 + strcspn(p + 9, "("));
			return;
		} else if (!depth && *p == '(') {
			return;
		} else if (*p == '<' || *p == '>') {
			depth = *p == '<' ? depth + 1 : depth - (depth != 0);
		} else if (!depth) {
			sp_out_char(o, *p);
		}
	}
}

const char *sp_function_name(char text[SP_FUNCTION_NAME], const char *symbol, bool brief)
{
	char whole[SP_FUNCTION_NAME];
	const char *from = whole;
	struct sp_out t;

	sp_memory_init(&t, whole, sizeof(whole));
	if (strncmp(symbol, "_Z", 2) != 0) {
		plain_name(&t, symbol);
	} else if (!demangled(&t, symbol + 2)) {
		sp_memory_init(&t, whole, sizeof(whole));
		sp_out_bytes(&t, symbol, sp_min(strlen(symbol), sizeof(whole) - 1));
	}
	sp_memory_text(&t);
	for (const char *last = strstr(whole, "::"), *next; brief && last && (next = strstr(last + 2, "::")) != NULL; last = next)
		from = last + 2;
	return sp_text_f(text, SP_FUNCTION_NAME, "%s", from);
}

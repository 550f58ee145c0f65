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

/* ---- template arguments of a linker's name ------------------------------------- */

#define DEEP 8u				/* types within types */

static const char *type(struct sp_out *o, const char *s, unsigned deep);

static const char *list(struct sp_out *o, const char *s, unsigned deep)
{
	const char *between = "<";

	while (s && *s && *s != 'E') {
		sp_out_text(o, between);
		s = type(o, s, deep);
		between = ", ";
	}
	sp_out_char(o, '>');
	return s && *s ? s + 1 : NULL;
}

/* A name of its length, and its own arguments. */
static const char *named(struct sp_out *o, const char *s, unsigned deep)
{
	size_t n = 0;

	for (; *s >= '0' && *s <= '9' && n < SP_FUNCTION_NAME; s++)
		n = n * 10 + (size_t)(*s - '0');
	if (!n || strnlen(s, n) < n)
		return NULL;
	sp_out_bytes(o, s, n);
	return s[n] == 'I' ? list(o, s + n + 1, deep) : s + n;
}

static const char *nested_name(struct sp_out *o, const char *s, unsigned deep)
{
	const char *between = "";

	for (s += *s == 'K'; s && *s && *s != 'E'; between = "::") {
		sp_out_text(o, between);
		if (!strncmp(s, "St", 2)) {
			sp_out_text(o, "std");
			s += 2;
		} else {
			s = named(o, s, deep);
		}
	}
	return s && *s ? s + 1 : NULL;
}

/* Li4E, Lin4E, Lb1E */
static const char *number(struct sp_out *o, const char *s)
{
	bool truth = *s == 'b';

	for (s++; *s && *s != 'E'; s++) {
		if (truth)
			sp_out_text(o, *s == '0' ? "false" : "true");
		else
			sp_out_char(o, *s == 'n' ? '-' : *s);
	}
	return *s ? s + 1 : NULL;
}

/* One of them; behind it, or NULL: of another kind. */
static const char *type(struct sp_out *o, const char *s, unsigned deep)
{
	static const char *const plain[] = { "vvoid", "bbool", "cchar", "asigned char", "hunsigned char", "sshort", "tunsigned short", "iint",
					     "junsigned int", "llong", "munsigned long", "xlong long", "yunsigned long long", "ffloat", "ddouble",
					     "elong double" };
	const char *behind = *s == 'P' ? "*" : *s == 'R' ? "&" : *s == 'O' ? "&&" : *s == 'K' ? " const" : NULL;

	if (deep >= DEEP)
		return NULL;
	for (size_t i = 0; i < SP_COUNT(plain); i++)
		if (*s == *plain[i]) {
			sp_out_text(o, plain[i] + 1);
			return s + 1;
		}
	if (behind) {
		s = type(o, s + 1, deep + 1);
		sp_out_text(o, behind);
		return s;
	}
	if (*s == 'L')
		return number(o, s + 1);
	if (*s == 'N')
		return nested_name(o, s + 1, deep + 1);
	if (*s == 'S' && (s[1] == 't' || s[1] == 's')) {
		sp_out_text(o, s[1] == 't' ? "std::" : "std::string");
		return s[1] == 't' ? named(o, s + 2, deep + 1) : s + 2;
	}
	return named(o, s, deep + 1);
}

/* Those that begin here; the same place: they are of kinds that are not told. */
static const char *given(struct sp_out *o, const char *s)
{
	char text[SP_FUNCTION_NAME];
	const char *end;
	struct sp_out t;

	sp_memory_init(&t, text, sizeof(text));
	end = list(&t, s + 1, 0);
	if (end)
		sp_out_text(o, sp_memory_text(&t));
	return end ? end : s;
}

/* ---- names --------------------------------------------------------------------- */

/* The parts of _ZN3sim6Solver4stepEi, and of _Z4stepi, from behind the _Z; what the standard abbreviates is left out,
 * and template arguments are unless they are asked for.  False: another construct (operators, lambdas). */
static bool demangled(struct sp_out *o, const char *s, bool arguments)
{
	bool nested = *s == 'N', any = false;
	const char *class = "", *behind;
	size_t n = 0, depth = 0;

	if (*s == 'Z') {		/* within a function */
		any = demangled(o, s + 1, arguments);
		sp_out_text(o, strstr(s, "Ul") ? "::lambda" : "::local");
		return any;
	}
	for (s += nested; *s;) {
		if (!depth && *s == 'I' && arguments && (behind = given(o, s)) != s) {
			s = behind;
			if (nested)
				continue;
			return any;
		}
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

/* What addr2line -C says without arguments, what it returns, and, unless they are asked for, template arguments:
 * void (anonymous namespace)::Solver<double>::step<int>(int) const, main::{lambda(int)#1}::operator()(int). */
static void plain_name(char whole[SP_FUNCTION_NAME], const char *name, bool arguments)
{
	unsigned depth = 0;
	struct sp_out o;

	sp_memory_init(&o, whole, SP_FUNCTION_NAME);
	if (!name[strcspn(name, "(< >")])	/* C's, mostly */
		sp_out_text(&o, name);
	for (const char *p = o.used ? "" : name; *p; p++) {
		if (!depth && !strncmp(p, "(anonymous namespace)::", 23)) {
			p += 22;
		} else if (!depth && !strncmp(p, "{lambda", 7) && strstr(p, "operator()")) {
			sp_out_text(&o, "lambda");
			break;
		} else if (!depth && !strncmp(p, "operator", 8)) {
			sp_out_text(&o, "operator");
			sp_out_bytes(&o, p + 8, p[8] ? 1 + strcspn(p + 9, "(") : 0);
			break;
		} else if (!depth && (*p == '(' || !strncmp(p, " [", 2))) {
			break;
		} else if (!depth && *p == ' ') {	/* it was what it returns */
			sp_memory_init(&o, whole, SP_FUNCTION_NAME);
		} else {
			depth -= *p == '>' && depth;
			if (arguments || (!depth && *p != '<' && *p != '>'))
				sp_out_char(&o, *p);
			depth += *p == '<';
		}
	}
	sp_memory_text(&o);
}

/* Behind the namespaces; what stands in angle brackets has its own. */
static const char *brief_name(const char *whole)
{
	const char *from = whole, *last = NULL;
	unsigned depth = 0;

	for (const char *p = whole; *p; p++) {
		depth += *p == '<';
		depth -= *p == '>' && depth;
		if (depth || strncmp(p, "::", 2) != 0)
			continue;
		from = last ? last + 2 : from;
		last = p++;
	}
	return from;
}

const char *sp_function_name(char text[SP_FUNCTION_NAME], const char *symbol, unsigned how)
{
	char whole[SP_FUNCTION_NAME];
	struct sp_out t;

	if (strncmp(symbol, "_Z", 2) != 0) {
		plain_name(whole, symbol, how & SP_NAME_ARGUMENTS);
	} else {
		sp_memory_init(&t, whole, sizeof(whole));
		if (!demangled(&t, symbol + 2, how & SP_NAME_ARGUMENTS)) {
			sp_memory_init(&t, whole, sizeof(whole));
			sp_out_bytes(&t, symbol, sp_min(strlen(symbol), sizeof(whole) - 1));
		}
		sp_memory_text(&t);
	}
	return sp_text_f(text, SP_FUNCTION_NAME, "%s", how & SP_NAME_BRIEF ? brief_name(whole) : whole);
}

/* function-name.c: shortens a C++ function's name; see function-name.h. */
#include "function-name.h"

/* Skips a substitution: St, Sa, S_, S0_, T_, T1_. */
static const char *behind_substitution(const char *s)
{
	s++;
	while ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z'))
		s++;
	return *s ? s + 1 : s;
}

/* Writes the parts of _ZN3sim6Solver4stepEi or _Z4stepi after the _Z, without template arguments
 * and the standard's abbreviations. False: another construct (operators, lambdas). */
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

/* Shortens the output of addr2line -C: removes arguments, the return type and, unless requested,
 * template arguments: void (anonymous namespace)::Solver<double>::step<int>(int) const,
 * main::{lambda(int)#1}::operator()(int). */
static void plain_name(char whole[SP_FUNCTION_NAME], const char *name, bool arguments)
{
	unsigned depth = 0;
	struct sp_out o;

	sp_memory_init(&o, whole, SP_FUNCTION_NAME);
	if (!name[strcspn(name, "(< >")])	/* usually a C function */
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
		} else if (!depth && *p == ' ') {	/* the return type precedes */
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

/* Returns the name after its namespaces; names in angle brackets keep theirs. */
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
		if (!demangled(&t, symbol + 2)) {
			sp_memory_init(&t, whole, sizeof(whole));
			sp_out_bytes(&t, symbol, sp_min(strlen(symbol), sizeof(whole) - 1));
		}
		sp_memory_text(&t);
	}
	return sp_text_f(text, SP_FUNCTION_NAME, "%s",
			 how & SP_NAME_BRIEF ? brief_name(whole) : whole);
}

const char *sp_site_call_name(enum sp_site_call call)
{
	static const char *const names[] = {
		[SP_REGION_BEGINS] = "begin",
		[SP_REGION_READ] = "read",
		[SP_REGION_ENDS] = "end",
		[SP_SITE_PAPI + SP_OP_START] = "PAPI_start",
		[SP_SITE_PAPI + SP_OP_READ] = "PAPI_read",
		[SP_SITE_PAPI + SP_OP_STOP] = "PAPI_stop",
		[SP_SITE_PAPI + SP_OP_ACCUM] = "PAPI_accum",
		[SP_SITE_PAPI + SP_OP_RESET] = "PAPI_reset",
		[SP_SITE_PAPI + SP_OP_WRITE] = "PAPI_write",
	};

	return names[call];
}

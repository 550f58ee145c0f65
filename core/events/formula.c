/* formula.c: does a preset's formula add up, and to what?  See formula.h.
 *
 * PAPI computes it on a stack: |N0|N1|+|2|/| is (N0 + N1) / 2.  Here the stack holds
 * not numbers but what is known of them: a constant, a sum of native counts times
 * constants, or something else.  A constant that is added to counts makes
 * them something else: it would be booked again after each zeroing.
 *
 * PAPI cuts the result to a whole number, so that a division by a constant loses up to
 * 1 of what the events counted, once a value.  What is booked is what PAPI
 * handed out: differences of cut values, which add up to the last of them.
 */
#include <string.h>

#include "formula.h"

#define DEEPEST 32
#define LONGEST 2048			/* PAPI's PAPI_HUGE_STR_LEN, twice */

enum term { ZERO, CONSTANT, LINEAR, OTHER };

struct stack {
	enum term at[DEEPEST];
	int n;
};

static enum term combine(char op, enum term a, enum term b)
{
	if (a == OTHER || b == OTHER)
		return OTHER;
	if (op == '+' || op == '-') {
		if (a == ZERO || b == ZERO)
			return a == ZERO ? b : a;
		return a == b ? a : OTHER;
	}
	if (op == '*') {
		if (a == ZERO || b == ZERO)
			return ZERO;
		return a == CONSTANT ? b : b == CONSTANT ? a : OTHER;
	}
	return b == CONSTANT ? a : OTHER;	/* division; by 0 it is nothing */
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool operator(char c)
{
	return c == '+' || c == '-' || c == '*' || c == '/';
}

/* A number, N with a number, or # (the clock's frequency); NULL: none of them.  Real
 * numbers PAPI does not read. */
static const char *operand(const char *p, enum term *t)
{
	bool native = *p == 'N', zero = true;

	*t = native ? LINEAR : CONSTANT;
	if (*p == '#')
		return p + 1;
	p += native;
	if (!digit(*p))
		return NULL;
	for (; digit(*p); p++)
		zero = zero && *p == '0';
	if (!native && zero)
		*t = ZERO;
	return p;
}

static bool postfix_is_linear(const char *p)
{
	struct stack s = { .n = 0 };

	while (*p) {
		if (*p == '|' || *p == ' ') {
			p++;
		} else if (operator(*p)) {
			if (s.n < 2)
				return false;
			s.n--;
			s.at[s.n - 1] = combine(*p++, s.at[s.n - 1], s.at[s.n]);
		} else {
			if (s.n == DEEPEST)
				return false;
			p = operand(p, &s.at[s.n++]);
			if (!p)
				return false;
		}
	}
	return s.n == 1 && s.at[0] == LINEAR;
}

static int rank(char op)
{
	return op == '*' || op == '/' ? 2 : op == '+' || op == '-' ? 1 : 0;
}

/* As PAPI turns infix into postfix: operators of one rank bind from the right. */
static bool to_postfix(const char *p, char out[LONGEST])
{
	char ops[DEEPEST];
	int n = 0;
	size_t used = 0;

	for (; *p && used + 4 < LONGEST; p++) {
		if (*p == '(') {
			if (n == DEEPEST)
				return false;
			ops[n++] = '(';
		} else if (*p == ')' || operator(*p)) {
			out[used++] = '|';
			while (n && ops[n - 1] != '(' && (*p == ')' || rank(ops[n - 1]) > rank(*p)) && used + 4 < LONGEST)
				out[used++] = ops[--n];
			if (*p == ')' ? !n || ops[--n] != '(' : n == DEEPEST)
				return false;
			if (*p != ')')
				ops[n++] = *p;
		} else {
			out[used++] = *p;
		}
	}
	out[used++] = '|';
	while (n && used + 1 < LONGEST)
		out[used++] = ops[--n];
	out[used] = 0;
	return !*p && !n;
}

/* An operator that has no '|' beside it stands between what it works on. */
static bool is_infix(const char *p)
{
	if (strchr(p, '('))
		return true;
	for (size_t i = 1; p[0] && p[i]; i++)
		if (operator(p[i]) && p[i - 1] != '|' && p[i + 1] && p[i + 1] != '|' && !operator(p[i - 1]))
			return true;
	return false;
}

bool sp_formula_is_linear(const char *formula)
{
	char postfix[LONGEST];

	if (!is_infix(formula))
		return postfix_is_linear(formula);
	return to_postfix(formula, postfix) && postfix_is_linear(postfix);
}

/* ---- its value ------------------------------------------------------------ */

static bool value_of(const char **p, const double *n, unsigned natives, double *value)
{
	bool native = **p == 'N';
	double number = 0;

	*p += native;
	if (!digit(**p))
		return false;
	for (; digit(**p); (*p)++)
		number = number * 10 + (**p - '0');
	if (native && number >= natives)
		return false;
	*value = native ? n[(unsigned)number] : number;
	return true;
}

static double result(char op, double a, double b)
{
	return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : b != 0 ? a / b : 0;
}

bool sp_formula_value(const char *formula, const double *n, unsigned natives, double *value)
{
	char postfix[LONGEST];
	double at[DEEPEST];
	unsigned used = 0;
	const char *p = formula;

	if (is_infix(formula)) {
		if (!to_postfix(formula, postfix))
			return false;
		p = postfix;
	}
	while (*p) {
		if (*p == '|' || *p == ' ') {
			p++;
		} else if (operator(*p)) {
			if (used < 2)
				return false;
			used--;
			at[used - 1] = result(*p++, at[used - 1], at[used]);
		} else if (used == DEEPEST || !value_of(&p, n, natives, &at[used++])) {
			return false;
		}
	}
	*value = used ? at[0] : 0;
	return used == 1;
}

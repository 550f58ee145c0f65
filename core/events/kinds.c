/* kinds.c: see kinds.h. */
#include <string.h>
#include <strings.h>

#include "formula.h"
#include "kinds.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Units of gauges. */
static const char *const gauge_units[] = {
	"%", "percent", "C", "degC", "degrees C", "mC", "W",   "mW",  "uW",
	"V", "mV",	"A", "mA",   "RPM",	  "Hz", "kHz", "MHz",
};

static const char *const derivations_that_rate[] = { "DERIVED_PS", "DERIVED_ADD_PS" };

/* Whole words of gauges' descriptions. */
static const char *const gauge_words[] = { "average",	 "mean",  "percent",
					   "percentage", "ratio", "utilization" };

/* Returns whether name contains one of the words, which '|' separates. */
static bool has_one_of(const char *name, const char *words)
{
	while (words && *words) {
		size_t n = strcspn(words, "|");

		for (const char *at = name; *at; at++)
			if (strncmp(at, words, n) == 0)
				return true;
		words += n + (words[n] == '|');
	}
	return false;
}

/* Compare the event's name and those of a preset's natives. */
static bool is_of_the_other_kind(const struct sp_component_fact *fact, const char *name,
				 const struct sp_event_traits *traits)
{
	if (has_one_of(name, fact->others))
		return true;
	for (unsigned i = 0; i < traits->natives; i++)
		if (has_one_of(traits->native + i * traits->stride, fact->others))
			return true;
	return false;
}

/* Search the description of a device's event: a driver names these at run time, so no table can
 * list them. Other descriptions may mention an average that the event does not count. */
static bool is_described_as_gauge(const struct sp_component_fact *fact, const char *text)
{
	if (fact && fact->scope != SP_SCOPE_DEVICE)
		return false;
	while (*text) {
		size_t n = strspn(text, LETTERS);

		for (unsigned i = 0; n && i < SP_COUNT(gauge_words); i++)
			if (strlen(gauge_words[i]) == n &&
			    strncasecmp(text, gauge_words[i], n) == 0)
				return true;
		text += n;
		text += strcspn(text, LETTERS);
	}
	return false;
}

static bool is_rate(const struct sp_event_traits *traits)
{
	for (unsigned i = 0; i < SP_COUNT(derivations_that_rate); i++)
		if (strcmp(traits->derived, derivations_that_rate[i]) == 0)
			return true;
	return (strcmp(traits->derived, "DERIVED_POSTFIX") == 0 ||
		strcmp(traits->derived, "DERIVED_INFIX") == 0) &&
	       !sp_formula_is_linear(traits->postfix);
}

enum sp_kind sp_event_kind(const struct sp_component_fact *fact, const char *name,
			   const struct sp_event_traits *traits)
{
	enum sp_kind kind = fact ? fact->kind : SP_COUNTER;

	/* Bits are not a number, and a value that is not relative to the start is not a count. */
	if (is_rate(traits) || !traits->grows)
		return SP_GAUGE;
	if (fact && is_of_the_other_kind(fact, name, traits))
		return kind == SP_GAUGE ? SP_COUNTER : SP_GAUGE;
	if (is_described_as_gauge(fact, traits->description))
		return SP_GAUGE;
	for (unsigned i = 0; i < SP_COUNT(gauge_units); i++)
		if (strcasecmp(traits->units, gauge_units[i]) == 0)
			return SP_GAUGE;
	return kind;
}

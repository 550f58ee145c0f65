/* kinds.c: see kinds.h. */
#include <string.h>
#include <strings.h>

#include "formula.h"
#include "kinds.h"

/* Of what is measured, not counted. */
static const char *const gauge_units[] = {
	"%", "percent", "C", "degC", "degrees C", "mC", "W", "mW", "uW", "V", "mV", "A", "mA", "RPM", "Hz", "kHz", "MHz",
};

static const char *const derivations_that_rate[] = { "DERIVED_PS", "DERIVED_ADD_PS" };

/* Has name one of these in it?  They are separated by '|'. */
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

/* By its own name, or those of a preset's natives. */
static bool is_of_the_other_kind(const struct sp_component_fact *fact, const char *name, const PAPI_event_info_t *info)
{
	if (has_one_of(name, fact->others))
		return true;
	for (unsigned i = 0; i < info->count && i < PAPI_MAX_INFO_TERMS; i++)
		if (has_one_of(info->name[i], fact->others))
			return true;
	return false;
}

static bool is_rate(const PAPI_event_info_t *info)
{
	for (unsigned i = 0; i < SP_COUNT(derivations_that_rate); i++)
		if (strcmp(info->derived, derivations_that_rate[i]) == 0)
			return true;
	return (strcmp(info->derived, "DERIVED_POSTFIX") == 0 || strcmp(info->derived, "DERIVED_INFIX") == 0) &&
	       !sp_formula_is_linear(info->postfix);
}

enum sp_kind sp_kind_of(const struct sp_component_fact *fact, const char *name, const PAPI_event_info_t *info)
{
	enum sp_kind kind = fact ? fact->kind : SP_COUNTER;

	/* Bits are no number; what was not zeroed since START is no count since then. */
	if (is_rate(info) || info->data_type == PAPI_DATATYPE_BIT64 || info->value_type == PAPI_VALUETYPE_ABSOLUTE ||
	    info->timescope != PAPI_TIMESCOPE_SINCE_START)
		return SP_GAUGE;
	if (fact && is_of_the_other_kind(fact, name, info))
		return kind == SP_GAUGE ? SP_COUNTER : SP_GAUGE;
	for (unsigned i = 0; i < SP_COUNT(gauge_units); i++)
		if (strcasecmp(info->units, gauge_units[i]) == 0)
			return SP_GAUGE;
	return kind;
}

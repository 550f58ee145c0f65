/* domain.h: names of the modes in which an event is counted (PAPI_DOM_*).
 *
 * An event in several modes is several events, named by mode: "perf::PAGE-FAULTS (user)". The
 * kernel's clocks are an exception: they count a thread's CPU time in all modes.
 */
#ifndef SP_DOMAIN_H
#define SP_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP_DOMAINS 4u
#define SP_DOMAIN_USER 1u
#define SP_DOMAIN_KERNEL 2u
#define SP_DOMAIN_OTHER 4u
#define SP_DOMAIN_SUPERVISOR 8u
#define SP_DOMAIN_TEXT 48u

static inline const char *sp_domain_name(uint32_t bit)
{
	static const char *const names[SP_DOMAINS] = { "user", "kernel", "other", "supervisor" };

	return names[bit];
}

/* Writes "user+kernel"; "" for 0. */
static inline const char *sp_domain_words(uint32_t domain, char text[SP_DOMAIN_TEXT])
{
	*text = 0;
	for (uint32_t i = 0; i < SP_DOMAINS; i++)
		if (domain >> i & 1)
			strcat(strcat(text, *text ? "+" : ""), sp_domain_name(i));
	return text;
}

/* Length of an event's name without its modes. */
static inline size_t sp_name_bytes(const char *name)
{
	const char *p = strrchr(name, '(');
	char text[SP_DOMAIN_TEXT];

	for (uint32_t domain = 1; p && p > name && p[-1] == ' ' && domain < 1u << SP_DOMAINS;
	     domain++) {
		size_t n = strlen(sp_domain_words(domain, text));

		if (strncmp(p + 1, text, n) == 0 && strcmp(p + 1 + n, ")") == 0)
			return (size_t)(p - 1 - name);
	}
	return strlen(name);
}

/* Is it a kernel clock, with any masks (:u=1) and modes? */
static inline bool sp_name_is_clock(const char *name)
{
	static const char *const clocks[] = { "TASK-CLOCK", "CPU-CLOCK", "SW_TASK_CLOCK",
					      "SW_CPU_CLOCK" };
	size_t n;

	if (strncmp(name, "perf::", 6) != 0)
		return false;
	name += 6;
	n = strcspn(name, ": ");
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (n >= strlen(clocks[i]) &&
		    strncmp(name + n - strlen(clocks[i]), clocks[i], strlen(clocks[i])) == 0)
			return true;
	return false;
}

/* Is this the event's name, with or without its modes? */
static inline bool sp_event_has_name(const char *event, const char *name, size_t n)
{
	return strncmp(event, name, n) == 0 && (!event[n] || sp_name_bytes(event) == n);
}

#endif

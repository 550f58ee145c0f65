/* libpapi.h: libpapi as the command uses it, always in a child: any version, and it may crash. */
#pragma once

#include <papi.h>
#include <stdbool.h>
#include <stdint.h>

#define SP_PROBE_CALLS(X) \
	X(PAPI_library_init) \
	X(PAPI_get_opt) X(PAPI_num_components) X(PAPI_get_component_info) X(PAPI_strerror) \
		X(PAPI_create_eventset) X(PAPI_event_name_to_code) X(PAPI_add_event) X(PAPI_start) \
			X(PAPI_read) \
			X(PAPI_stop) X(PAPI_get_event_info) X(PAPI_event_code_to_name) \
				X(PAPI_enum_cmp_event) X(PAPI_get_event_component)

struct sp_probe_papi {
	void *library;
	int version;			/* 0x07000000 */
#define X(name) __typeof__(&name) name;
	SP_PROBE_CALLS(X)
#undef X
};

/* Returns NULL, or one line on the failure, static or from the loader. */
const char *sp_probe_load(struct sp_probe_papi *p, const char *path);

/* Calls PAPI_library_init with the library's own version. 0: the version is unknown. */
int sp_probe_init(struct sp_probe_papi *p, const char *path);

/* Reads component i. False: no such component. */
struct sp_probe_component {
	const char *name;
	const char *off;		/* why it counts nothing here, or NULL */
	bool waits;			/* may count once it is used */
	int counters, presets, natives;
	int index;			/* for the caller */
};
bool sp_probe_component(const struct sp_probe_papi *p, int i, struct sp_probe_component *c);

/* Calls fn for each word of libpapi that the loader has set to a function's or variable's
 * address, with its name. Returns true as soon as fn does. in_plt: the word serves calls. */
bool sp_probe_each(const struct sp_probe_papi *p,
		   bool (*fn)(uintptr_t at, const char *name, bool in_plt, void *arg));

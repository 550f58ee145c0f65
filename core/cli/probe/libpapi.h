/* libpapi.h: libpapi as the command asks it, always in a child: it may be of any version, and
 * crash. */
#pragma once

#include <papi.h>
#include <stdbool.h>
#include <stdint.h>

#define SP_PROBE_CALLS(X) \
	X(PAPI_library_init) \
	X(PAPI_get_opt) X(PAPI_num_components) X(PAPI_get_component_info) X(PAPI_strerror) \
		X(PAPI_create_eventset) X(PAPI_event_name_to_code) X(PAPI_add_event) X(PAPI_start) \
			X(PAPI_stop) X(PAPI_get_event_info) X(PAPI_event_code_to_name) \
				X(PAPI_enum_cmp_event) X(PAPI_get_event_component)

struct sp_probe_papi {
	void *library;
	int version;			/* 0x07000000 */
#define X(name) __typeof__(&name) name;
	SP_PROBE_CALLS(X)
#undef X
};

/* 0, or a line of what is wrong with it: static, or the loader's. */
const char *sp_probe_load(struct sp_probe_papi *p, const char *path);

/* PAPI_library_init with the version that it is of; what that gives, or 0 if the version cannot be
 * told. */
int sp_probe_init(struct sp_probe_papi *p, const char *path);

/* Component number i.  False: there is none. */
struct sp_probe_component {
	const char *name;
	const char *off;		/* why it counts nothing here; NULL: it does, or */
	bool waits;			/* may once it is used */
	int counters, presets, natives;
	int index;			/* for the caller */
};
bool sp_probe_component(const struct sp_probe_papi *p, int i, struct sp_probe_component *c);

/* Each word of libpapi's that the loader has filled in with another function or variable (in_plt:
 * to be called), and that one's name, until fn says true, which is returned. */
bool sp_probe_each(const struct sp_probe_papi *p,
		   bool (*fn)(uintptr_t at, const char *name, bool in_plt, void *arg));

/* program-part.c: can a library be preloaded into the program, and does it use PAPI? */
#include <stdio.h>
#include <stdlib.h>

#include "doctor.h"

static void report_kind(struct sp_doctor *d)
{
	const struct sp_program *p = d->program;

	if (*p->script)
		sp_doctor_report(d, SP_GOOD, "%s is a script, which %s runs", p->script, p->path);
	if (p->unread)
		sp_doctor_report(d, SP_WORTH,
				 "%s may be executed but not read; it was not checked further",
				 p->path);
	else if (p->kind == SP_PROGRAM_FOREIGN) {
		sp_doctor_report(d, SP_BLOCKING,
				 "%s is built for another word size or machine than libsspapi",
				 p->path);
		sp_doctor_fix(d, "build sspapi for that machine, or the program for this one");
	} else if (p->kind == SP_PROGRAM_STATIC) {
		sp_doctor_report(d, SP_BLOCKING,
				 "%s is statically linked: nothing can be preloaded into it",
				 p->path);
		sp_doctor_fix(d, "link the program dynamically, without -static");
	} else if (*p->loader) {
		sp_doctor_report(
			d, SP_BLOCKING,
			"%s is built for another C library (%s): libsspapi cannot be loaded into "
			"it",
			p->path, p->loader);
		sp_doctor_fix(d, "build the program with the C library that sspapi was built with "
				 "(sspapi stat counts any program)");
	} else {
		sp_doctor_report(d, SP_GOOD, "%s is dynamically linked", p->path);
	}
	if (p->set_id_other) {
		sp_doctor_report(d, SP_BLOCKING,
				 "the program is set-user-ID, set-group-ID or has capabilities: "
				 "the loader ignores LD_PRELOAD");
		sp_doctor_fix(d, "run a copy of it (cp removes these rights)");
	} else if (p->set_id) {
		sp_doctor_report(d, SP_WORTH,
				 "the program is set-user-ID: the loader ignores LD_PRELOAD for "
				 "all but its owner");
	}
}

static void report_linked(struct sp_doctor *d)
{
	const struct sp_program *p = d->program;

	if (!realpath(p->papi, d->papi))
		snprintf(d->papi, sizeof(d->papi), "%s", p->papi);
	if (!p->papi_missing) {
		sp_doctor_report(d, SP_GOOD, "the program links %s", d->papi);
		return;
	}
	sp_doctor_report(d, SP_BLOCKING,
			 "the program needs %s, which the loader does not find: it cannot start",
			 p->papi);
	sp_doctor_fix(
		d,
		"put its folder into LD_LIBRARY_PATH, or load the module that it was built with");
	*d->papi = 0;
}

static void report_papi(struct sp_doctor *d)
{
	const struct sp_program *p = d->program;

	if (*p->papi) {
		report_linked(d);
	} else if (*p->papi_object) {
		sp_doctor_report(d, SP_GOOD,
				 "%s, which the program links, contains libpapi (libpapi.a): "
				 "only PAPI calls that the loader binds are counted",
				 p->papi_object);
	} else if (p->static_papi) {
		sp_doctor_report(d, SP_BLOCKING,
				 "libpapi is linked into the program statically: its PAPI calls "
				 "cannot be intercepted");
		sp_doctor_fix(d, "link with -lpapi and libpapi.so (no libpapi.a, no -Wl,-Bstatic)");
	} else if (p->names_papi) {
		sp_doctor_report(d, SP_GOOD,
				 "the program does not link libpapi, but names it: it may load "
				 "libpapi with dlopen, which is supported");
	} else if (p->loads_or_starts) {
		sp_doctor_report(d, SP_WORTH,
				 "the program does not use libpapi itself; libraries that it "
				 "loads or programs that it starts may");
		sp_doctor_fix(d, "if this is a launcher or interpreter, check the program that "
				 "it starts: sspapi doctor PROGRAM");
	} else {
		sp_doctor_report(d, SP_BLOCKING,
				 "the program does not use PAPI: it neither links nor names "
				 "libpapi");
		sp_doctor_fix(d, "use sspapi stat, which counts any program; sspapi run needs a "
				 "program that uses PAPI");
	}
}

void sp_doctor_program(struct sp_doctor *d)
{
	sp_doctor_head(d, d->name);
	report_kind(d);
	if (d->program->kind == SP_PROGRAM_DYNAMIC && !d->program->unread)
		report_papi(d);
	else if (d->program->static_papi)
		sp_doctor_report(d, SP_BLOCKING,
				 "libpapi is also linked into the program statically");
}

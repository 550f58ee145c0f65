/* program-part.c: can a library be preloaded into the program, and does it use PAPI? */
#include <stdio.h>
#include <stdlib.h>

#include "doctor.h"

static void report_kind(struct sp_doctor *d)
{
	const struct sp_program *p = d->program;

	if (*p->script)
		sp_doctor_report(d, SP_GOOD, "%s is a script; what runs is %s", p->script, p->path);
	if (p->unread)
		sp_doctor_report(d, SP_WORTH,
				 "%s may be run but not read: no more can be said of it", p->path);
	else if (p->kind == SP_PROGRAM_FOREIGN) {
		sp_doctor_report(d, SP_BLOCKING,
				 "%s is made for another word size or machine than libsspapi",
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
			"%s is made for another C library (%s): libsspapi cannot be loaded into it",
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
		sp_doctor_fix(d, "run a copy without these (cp), as yourself");
	} else if (p->set_id) {
		sp_doctor_report(d, SP_WORTH,
				 "the program is set-user-ID: for anybody but its owner the loader "
				 "ignores LD_PRELOAD");
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
			 "the program needs %s, which the loader does not find: it will not start",
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
				 "%s, which the program links, has libpapi in it (libpapi.a): "
				 "calls of PAPI that the loader binds are seen",
				 p->papi_object);
	} else if (p->static_papi) {
		sp_doctor_report(d, SP_BLOCKING,
				 "libpapi is linked into the program statically: calls of PAPI "
				 "cannot be seen");
		sp_doctor_fix(d, "link with -lpapi and libpapi.so (no libpapi.a, no -Wl,-Bstatic)");
	} else if (p->names_papi) {
		sp_doctor_report(d, SP_GOOD,
				 "the program does not link libpapi, but names libpapi: it may "
				 "load libpapi with dlopen, which is seen");
	} else if (p->loads_or_starts) {
		sp_doctor_report(d, SP_WORTH,
				 "the program neither links nor names libpapi; what the program "
				 "loads or starts may have libpapi");
		sp_doctor_fix(d, "if this is a launcher or interpreter, ask for the program that "
				 "is started: sspapi doctor PROGRAM");
	} else {
		sp_doctor_report(d, SP_BLOCKING,
				 "no PAPI in sight: the program neither links nor names libpapi");
		sp_doctor_fix(d, "sspapi stat counts any program; sspapi run shows what a program "
				 "counts with PAPI itself");
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
				 "libpapi is linked into the program statically, too");
}

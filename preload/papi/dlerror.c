/* dlerror.c: keeps the application's dlerror, and gives it back; see dlerror.h. */
#include <dlfcn.h>
#include <string.h>

#include "../../core/base/base.h"
#include "dlerror.h"
#include "real.h"

void *sp_next_dlsym;
static char *(*next_dlerror)(void);

static __thread struct sp_pending_error pending __attribute__((tls_model("initial-exec")));

/* By dlvsym, which nobody stands in front of: at the start of a sanitizer, which asks us
 * for its first functions, not even dl_iterate_phdr works yet. */
void sp_dlsym_find(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

	for (unsigned i = 0; i < SP_COUNT(versions) && !sp_next_dlsym; i++)
		sp_next_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (!sp_next_dlsym)
		sp_next_dlsym = sp_real_next("dlsym");
}

void *sp_real_dlsym(void *handle, const char *name)
{
	if (!sp_next_dlsym)
		sp_dlsym_find();
	return sp_next_dlsym ? ((void *(*)(void *, const char *))sp_next_dlsym)(handle, name) : NULL;
}

char *sp_real_dlerror(void)
{
	if (!next_dlerror)
		next_dlerror = (char *(*)(void))sp_real_next("dlerror");
	return next_dlerror ? next_dlerror() : NULL;
}

void sp_dlerror_keep(struct sp_pending_error *p)
{
	char *text = pending.is ? pending.text : sp_real_dlerror();

	p->is = text != NULL;
	memset(p->text, 0, sizeof(p->text));
	if (text)
		memcpy(p->text, text, strnlen(text, sizeof(p->text) - 1));
}

void sp_dlerror_back(const struct sp_pending_error *p)
{
	(void)sp_real_dlerror();
	if (p->is)
		pending = *p;
}

__attribute__((visibility("default"))) char *dlerror(void)
{
	static __thread char given[sizeof(pending.text)] __attribute__((tls_model("initial-exec")));
	char *newer = sp_real_dlerror();

	if (newer || !pending.is) {
		pending.is = false;
		return newer;
	}
	memcpy(given, pending.text, sizeof(given));
	pending.is = false;
	return given;
}

void sp_dlerror_say(const char *object, const char *name)
{
	(void)sp_real_dlerror();
	memset(&pending, 0, sizeof(pending));
	strncat(pending.text, object, 300);
	strcat(pending.text, ": undefined symbol: ");
	strncat(pending.text, name, 100);
	pending.is = true;
}

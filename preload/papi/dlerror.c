/* dlerror.c: saves and restores the application's pending dlerror; see dlerror.h. */
#include <dlfcn.h>
#include <string.h>

#include "../../core/base/base.h"
#include "dlerror.h"
#include "elf.h"

SP_AT_START void *sp_next_dlsym;
SP_AT_START static char *(*next_dlerror)(void);
static int (*next_dlclose)(void *);

static __thread struct sp_pending_error pending __attribute__((tls_model("initial-exec")));

/* Use dlvsym, which no library wraps: a sanitizer calls dlsym at its start, when not even
 * dl_iterate_phdr works. */
void sp_dlsym_find(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

	for (unsigned i = 0; i < SP_COUNT(versions) && !sp_next_dlsym; i++)
		sp_next_dlsym = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
}

void *sp_real_dlsym(void *handle, const char *name)
{
	if (!sp_next_dlsym)
		sp_dlsym_find();
	return sp_next_dlsym ? ((void *(*)(void *, const char *))sp_next_dlsym)(handle, name)
			     : NULL;
}

int sp_real_dlclose(void *handle)
{
	if (!next_dlclose)
		next_dlclose = (int (*)(void *))sp_real_dlsym(RTLD_NEXT, "dlclose");
	return next_dlclose ? next_dlclose(handle) : -1;
}

static int find_dlerror(const struct sp_object *o, void *arg)
{
	bool *past_own = arg;

	if (sp_elf_contains(o, (uintptr_t)&find_dlerror))
		*past_own = true;
	else if (*past_own)
		next_dlerror = (char *(*)(void))sp_elf_symbol(o, "dlerror");
	return next_dlerror != NULL;
}

/* Call the next dlerror. Find it without dlsym, which would clear the application's error. If
 * libsspapi was opened by dlopen, libc is before it in the loader's order. */
char *sp_real_dlerror(void)
{
	bool past_own = false;

	if (!next_dlerror && !sp_elf_each(find_dlerror, &past_own))
		sp_elf_each(find_dlerror, &past_own);
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

void sp_dlerror_set(const char *object, const char *name)
{
	(void)sp_real_dlerror();
	memset(&pending, 0, sizeof(pending));
	strncat(pending.text, object, 300);
	strcat(pending.text, ": undefined symbol: ");
	strncat(pending.text, name, 100);
	pending.is = true;
}

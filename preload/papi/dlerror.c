/* dlerror.c: see dlerror.h. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "../../core/sys.h"
#include "dlerror.h"
#include "real.h"

void *sp_next_dlsym;
static char *(*next_dlerror)(void);

/* What the application's dlerror says next, if it is not the loader's; then what it said last.  Not in the thread's own
 * storage: of that the loader has little for libraries which come after an auditor (LD_AUDIT; on aarch64 the program did
 * not start).  A thread keeps its page until it ends, the next one takes it. */
struct page {
	struct page *next;
	int tid;
	struct sp_pending_error error;
};

static struct page *pages;		/* all there are; they stay */
static __thread struct page *own __attribute__((tls_model("initial-exec")));

/* Also in a child of fork, which has another number. */
static bool take(struct page *p, int was, int tid)
{
	return was == tid || sp_cas(&p->tid, &was, tid);
}

/* The calling thread's page, or NULL: no memory. */
static struct page *own_page(void)
{
	int tid = (int)sp_sys(SYS_gettid), pid = (int)sp_sys(SYS_getpid);
	struct page *p = own;

	if (p && take(p, sp_get(&p->tid), tid))
		return p;
	for (p = sp_acquire(&pages); p; p = p->next) {
		int was = sp_get(&p->tid);

		if (was == tid || (sp_sys(SYS_tgkill, pid, was, 0) == -ESRCH && take(p, was, tid)))
			break;
	}
	if (!p && (p = sp_map(sizeof(*p)))) {
		p->tid = tid;
		p->next = sp_get(&pages);
		while (!sp_cas(&pages, &p->next, p))
			;
	}
	if (p)
		p->error.is = false;
	own = p;
	return p;
}

static bool is_pending(void)
{
	return own && own->error.is;
}

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
	char *text = is_pending() ? own->error.text : sp_real_dlerror();

	p->is = text != NULL;
	memset(p->text, 0, sizeof(p->text));
	if (text)
		memcpy(p->text, text, strnlen(text, sizeof(p->text) - 1));
}

void sp_dlerror_back(const struct sp_pending_error *p)
{
	struct page *to;

	(void)sp_real_dlerror();
	if (p->is && (to = own_page()))
		to->error = *p;
}

__attribute__((visibility("default"))) char *dlerror(void)
{
	char *newer = sp_real_dlerror();
	bool is = is_pending();

	if (is)
		own->error.is = false;
	return is && !newer ? own->error.text : newer;
}

void sp_dlerror_say(const char *object, const char *name)
{
	struct page *to = own_page();

	(void)sp_real_dlerror();
	if (!to)
		return;
	to->error.text[0] = 0;
	strncat(to->error.text, object, 300);
	strcat(to->error.text, ": undefined symbol: ");
	strncat(to->error.text, name, 100);
	to->error.is = true;
}

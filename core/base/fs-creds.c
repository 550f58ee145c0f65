/* fs-creds.c: switches to the real user's credentials and back; see fs-creds.h. */
#include <linux/capability.h>

#include "conf.h"
#include "fs-creds.h"
#include "sys.h"

/* an invalid ID: changes nothing and returns the current one */
#define NOBODY (-1L)

static struct __user_cap_header_struct own_thread(void)
{
	return (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
}

/* Set the file IDs of this thread only; libc's functions would change all threads. The calls do not
 * report failure, so check the result. */
static bool files_as(long user, long group)
{
	(void)sp_sys(SYS_setfsgid, group);
	(void)sp_sys(SYS_setfsuid, user);
	return sp_sys(SYS_setfsuid, NOBODY) == user && sp_sys(SYS_setfsgid, NOBODY) == group;
}

static int without_capabilities(const struct sp_fs_creds *r)
{
	struct __user_cap_header_struct head = own_thread();
	uint32_t none[6];

	memcpy(none, r->capabilities, sizeof(none));
	none[0] = none[3] = 0;
	return (int)sp_sys(SYS_capset, &head, none);
}

int sp_fs_creds_drop(struct sp_fs_creds *r)
{
	struct __user_cap_header_struct head = own_thread();
	int error;

	memset(r, 0, sizeof(*r));
	if (!sp_conf_privileged())
		return 0;
	error = (int)sp_sys(SYS_capget, &head, r->capabilities);
	if (error < 0)
		return error;
	sp_signals_block(&r->signals);
	r->user = sp_sys(SYS_setfsuid, NOBODY);
	r->group = sp_sys(SYS_setfsgid, NOBODY);
	r->lowered = true;
	if (!files_as(sp_sys(SYS_getuid), sp_sys(SYS_getgid)))
		error = -EPERM;
	if (!error)
		error = without_capabilities(r);
	if (error < 0)
		sp_fs_creds_restore(r);
	return error;
}

void sp_fs_creds_restore(struct sp_fs_creds *r)
{
	struct __user_cap_header_struct head = own_thread();

	if (!r->lowered)
		return;
	/* Set the capabilities before and after: setfsuid changes those over files. */
	(void)sp_sys(SYS_capset, &head, r->capabilities);
	(void)files_as(r->user, r->group);
	(void)sp_sys(SYS_capset, &head, r->capabilities);
	sp_signals_restore(&r->signals);
	r->lowered = false;
}

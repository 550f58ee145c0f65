/* seccomp.c: counts seccomp filters; see seccomp.h. */
#include <sys/prctl.h>

#include "seccomp.h"
#include "sys.h"

uint32_t sp_seccomp_filters(void)
{
	char text[4096];
	const char *p;
	uint32_t n = 0;

	if (sp_sys(SYS_prctl, PR_GET_SECCOMP, 0L, 0L, 0L, 0L) <= 0)
		return 0;
	if (sp_read_file("/proc/thread-self/status", text, sizeof(text) - 1) <= 0)
		return 1;
	p = strstr(text, "Seccomp_filters:");
	for (p = p ? p + strlen("Seccomp_filters:") : ""; *p == ' ' || *p == '\t'; p++)
		;
	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	return n ? n : 1;
}

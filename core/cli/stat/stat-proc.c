/* stat-proc.c: reads the state of threads and processes from /proc. */
#include "../tool/cmd.h"
#include "stat-attach-common.h"

bool sp_proc_thread(int pid, int tid, struct sp_process_stat *p)
{
	return sp_process_stat(pid, tid, p) && p->state != 'Z' && p->state != 'X';
}

uint64_t sp_proc_status(int id, const char *name, int base)
{
	char path[64], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
	at = sp_read_file(path, text, sizeof(text)) > 0 ? strstr(text, name) : NULL;
	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

void sp_proc_name(int pid, int tid, char name[16])
{
	char path[80], text[32];
	long n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	n = sp_read_file(path, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	snprintf(name, 16, "%.15s", text);
}

uint32_t sp_proc_args(int pid, char **args)
{
	char path[64], text[SP_STAT_ARGS_MOST + 1];
	long n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = sp_read_file(path, text, SP_STAT_ARGS_MOST);
	*args = NULL;
	if (n <= 0)
		return 0;
	n += text[n - 1] != 0;		/* add the NUL if the text was cut or overwritten */
	*args = memcpy(sp_check_alloc(malloc((size_t)n)), text, (size_t)n);
	return (uint32_t)n;
}

uint32_t sp_proc_children(int pid, int tid, int child[SP_STAT_CHILDREN_MOST])
{
	char path[80], text[2 * SP_STAT_CHILDREN_MOST], *at = text, *end;
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if (sp_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	/* (the last of a text that did not fit may be a part of a number) */
	for (long id; (id = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
		child[n++] = (int)id;
	return n;
}

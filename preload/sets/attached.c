/* attached.c: see attached.h. */
#include <string.h>

#include "../../core/base/run-root.h"
#include "../../core/base/lock.h"
#include "../../core/base/out.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../process/process.h"
#include "attached.h"

/* Finds the words of a command line of /proc, as many as there is room for. */
static uint32_t split_words(char *line, long bytes, const char **word, uint32_t room)
{
	uint32_t n = 0;

	for (long at = 0; at < bytes && n < room; at += (long)strlen(line + at) + 1)
		word[n++] = line + at;
	return n;
}

void sp_attached_add(int tid)
{
	char path[64], name[32], line[2048];
	const char *word[64];
	struct sp_process_stat stat = { 0 };
	struct sp_watched *w;
	struct sp_lock_state lock_state;
	long n, bytes;

	if (!sp_store.header || !sp_process_stat(tid, 0, &stat))
		return;
	sp_path_f(path, sizeof(path), "/proc/%d/comm", tid);
	n = sp_read_file(path, name, sizeof(name));
	sp_path_f(path, sizeof(path), "/proc/%d/cmdline", tid);
	bytes = sp_read_file(path, line, sizeof(line));
	sp_lock_take(&sp_store.lock, &lock_state);
	w = sp_store_watched(&sp_store, tid, stat.start_ticks);
	if (w && !w->args) {
		n = n > 0 ? (long)strcspn(name, "\n") : 0;
		memcpy(w->name, name, sp_min((uint64_t)n, sizeof(w->name) - 1));
		w->args = sp_store_texts(&sp_store, split_words(line, bytes, word, SP_COUNT(word)),
					 word);
	}
	sp_lock_give(&sp_store.lock, &lock_state);
}

void sp_attached_scan(void)
{
	struct sp_watched *w;

	for (sp_off off = sp_store.header->watched; off; off = w->next) {
		struct sp_process_stat stat = { 0 };

		w = (struct sp_watched *)sp_store_reader_block(&sp_store.reader, off,
							       SP_BLOCK_WATCHED, sizeof(*w));
		if (!w)
			return;
		w->over = sp_process_stat(w->tid, 0, &stat) && stat.start_ticks == w->start_ticks &&
					  !sp_process_is_over(&stat)
				  ? SP_OVER_NO
				  : SP_OVER_YES;
	}
}

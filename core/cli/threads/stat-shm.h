/* stat-shm.h: the memory by which a program's threads tell `sspapi stat` that they begin: threads.c
 * has the program's side, core/cli/stat/stat-threads.c the command's.
 *
 * The memory is a file without a name that the command holds open.  A process that may trace the
 * command maps it by the path and number in the environment: no descriptor stays in the program,
 * and a thread that begins needs no system call but futex and gettid.  Each process that maps it
 * may write anything into it: the command believes numbers of threads that the kernel says it
 * counts, and nothing else.
 */
#pragma once

#include <stdint.h>

#define SP_STAT_SHM_NAME	"_SSPSTAT"	/* DEVICE:INODE:PATH; no setting: for the library
						 * beside it alone */
#define SP_STAT_SHM_SLOTS	1023u
#define SP_STAT_SHM_MS	1000		/* for so long a thread waits for the command; then nobody
					 * does, until it answers again */

/* A slot's state: SP_SLOT_STATES times how often it was used, and one of these. */
enum { SP_SLOT_FREE, SP_SLOT_TAKEN, SP_SLOT_REQUESTED, SP_SLOT_STATES = 4 };

struct sp_stat_shm {
	uint32_t bell;			/* a futex: another thread is there */
	uint32_t listens;		/* the command does */
	uint32_t late;			/* threads that did not wait any longer */
	uint32_t hurries;		/* an answer did not come in time: no thread of any process
					 * waits */
	struct sp_slot {
		uint32_t state;		/* a futex: has it been answered? */
		int32_t pid, tid;
	} slot[SP_STAT_SHM_SLOTS];
};

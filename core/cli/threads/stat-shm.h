/* stat-shm.h: shared memory through which a program's threads announce themselves to `sspapi stat`.
 *
 * threads.c is the program's side, core/cli/stat/stat-threads.c the command's. The memory is an
 * unnamed file that the command has open. A process that may trace the command maps it by the
 * path and number in the environment. So no descriptor stays in the program, and a new thread
 * makes only the system calls futex and gettid. Every process that maps it may write anything:
 * the command only trusts thread numbers that the kernel reports as counted.
 */
#pragma once

#include <stdint.h>

#define SP_STAT_SHM_NAME	"_SSPSTAT"	/* DEVICE:INODE:PATH; not a setting, but for the
						 * library alone */
#define SP_STAT_SHM_SLOTS	1023u
#define SP_STAT_SHM_MS	1000		/* time for which a thread waits for the command; after
					 * that none waits until the command answers */

/* State of a slot: SP_SLOT_STATES times the number of its uses, plus one of these. */
enum { SP_SLOT_FREE, SP_SLOT_TAKEN, SP_SLOT_REQUESTED, SP_SLOT_STATES = 4 };

struct sp_stat_shm {
	uint32_t bell;			/* futex: a new thread is waiting */
	uint32_t listens;		/* the command is listening */
	uint32_t late;			/* threads that stopped waiting */
	uint32_t hurries;		/* an answer was late: threads of all processes no longer
					 * wait */
	struct sp_slot {
		uint32_t state;		/* futex: changes with the answer */
		int32_t pid, tid;
	} slot[SP_STAT_SHM_SLOTS];
};

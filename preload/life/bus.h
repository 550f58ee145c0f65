/* bus.h: nobody crashes the application by truncating the live file.
 *
 * A store into a page of a file that is not there any more is a SIGBUS.  While the
 * store lives in a file, SIGBUS is ours: for an address inside the store the page is
 * replaced by private memory and the store goes on (what stood there is lost, and
 * noted); any other is the application's, whose own disposition sigaction and
 * signal keep here and show it, so that it cannot tell.
 */
#ifndef SP_BUS_H
#define SP_BUS_H

#include <signal.h>

void sp_bus_set_up(void);		/* the store is in a file; again in a child */

/* A SIGBUS that is blocked ends the process, handler or not.  Where a thread that counts blocks it the
 * store leaves its file before that thread touches it again: at its next call of PAPI, which comes
 * through sp_enter as long as some thread's is due. */
void sp_bus_check(void);		/* asks the kernel; the calling thread will touch the store */
void sp_bus_checked(void);		/* the same, if the thread has blocked it since, or is new */
bool sp_bus_due(void);

/* Around exec: a signal that the application ignores stays ignored in the new program. */
void sp_bus_before_exec(void);
void sp_bus_after_exec(void);

#endif

/* shadow-fds.c: opens and closes sspapi's own descriptors, within the budget; see shadow-fds.h. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "../../core/base/perf.h"
#include "shadow-fds.h"

/* higher numbers would enlarge the table that each fork duplicates */
#define MAX_NUMBER 8192u
#define MAX_DEFAULT 4096u

/* [room] by number minus `lowest`: the kernel's id of the event that was opened there; 0: none. */
static uint64_t *id;
static uint32_t lowest, room, n_fds;
static long fd_limit = -1;		/* SSPAPI_DESCRIPTORS */

static uint32_t soft_limit(void)
{
	struct rlimit r = { 0 };

	if (sp_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &r) < 0)
		return 0;
	return r.rlim_cur > INT32_MAX ? INT32_MAX : (uint32_t)r.rlim_cur;
}

/* The present limit: the application may have lowered its own since. */
static uint32_t budget(void)
{
	uint32_t limit = soft_limit();

	return (uint32_t)sp_min(room, fd_limit >= 0 ? sp_min((uint64_t)fd_limit, limit)
						    : sp_min(limit / 4, MAX_DEFAULT));
}

uint32_t sp_counters_left(void)
{
	uint32_t all = budget(), has = load_relaxed(&n_fds);

	return all > has ? all - has : 0;
}

static void grow_table(void)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = sp_perf_open(&a, 0, -1, -1, 0);

	if (fd < 0)
		return;
	sp_close((int)sp_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest + room - 1));
	sp_close(fd);
}

void sp_counters_begin(long most)
{
	uint32_t n, limit = soft_limit(),
		    top = (uint32_t)sp_max(sp_min(limit, MAX_NUMBER),
					   most > 0 ? sp_min((uint64_t)most * 2, limit) : 0);

	fd_limit = most;
	if (room || !most)
		return;
	n = (uint32_t)sp_min(most > 0 ? (uint64_t)most : sp_min(limit / 4, MAX_DEFAULT), top / 2);
	id = n ? sp_map(n * sizeof(*id)) : NULL;
	if (!id)
		return;
	lowest = top - n;
	store_release(&room, n);	/* last, since another thread may fork now */
	(void)sp_sys(SYS_madvise, id, sp_align(room * sizeof(*id), 4096), MADV_POPULATE_WRITE);
	grow_table();
}

/* The kernel's id of a perf event; 0: not a perf event. */
static uint64_t id_of(int fd)
{
	uint64_t kernel_id = 0;

	return sp_sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &kernel_id) < 0 ? 0 : kernel_id;
}

static bool is_own(int fd)
{
	uint32_t i = (uint32_t)fd - lowest;
	uint64_t kernel_id = fd >= 0 && i < room ? load_relaxed(&id[i]) : 0;

	return kernel_id && kernel_id == id_of(fd);
}

/* A number that the application has closed stays reserved until its owner closes it. Otherwise two
 * owners could have the same number. */
static uint32_t next_free(uint32_t from)
{
	while (from < room && load_relaxed(&id[from]))
		from++;
	return from;
}

/* Moves `fd` to a high number, and records it. */
static int move_up(int fd)
{
	uint32_t from = 0, i;
	uint64_t kernel_id;
	int high;

	for (;;) {
		high = from < room ? (int)sp_sys(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest + from)
				   : -EDQUOT;
		i = (uint32_t)high - lowest;
		if (high < 0 || i >= room || !load_relaxed(&id[i]))
			break;
		sp_close(high);
		from = next_free(i);
	}
	sp_close(fd);
	kernel_id = high >= 0 && i < room ? id_of(high) : 0;
	if (kernel_id) {
		store_relaxed(&id[i], kernel_id);
		return high;
	}
	sp_close(high);
	/* The application has lowered its limit below our numbers. */
	return high == -EINVAL ? -EMFILE : high < 0 ? high : -EDQUOT;
}

static bool reserve_one(void)
{
	if (sp_add(&n_fds, 1) < budget())
		return true;
	sp_add(&n_fds, -1u);
	return false;
}

int sp_counter_open(const struct perf_event_attr *attr, int tid, int cpu, int leader)
{
	int fd;

	if (!reserve_one())
		return -EDQUOT;
	fd = sp_perf_open(attr, tid, cpu, leader, 0);
	if (fd >= 0)
		fd = move_up(fd);
	if (fd < 0)
		sp_add(&n_fds, -1u);
	return fd;
}

void sp_counter_close(int fd)
{
	bool is_open;

	if (fd < 0 || (uint32_t)fd - lowest >= room)
		return;
	is_open = is_own(fd);
	store_relaxed(&id[(uint32_t)fd - lowest], 0);
	if (is_open)
		sp_close(fd);
	sp_add(&n_fds, -1u);
}

bool sp_counter_read(int fd, uint64_t *to, unsigned words)
{
	return is_own(fd) &&
	       sp_sys(SYS_read, fd, to, words * sizeof(*to)) == (long)(words * sizeof(*to));
}

bool sp_counter_switch(int fd, bool on)
{
	return is_own(fd) &&
	       sp_sys(SYS_ioctl, fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) >= 0;
}

void sp_counters_child(void)
{
	for (uint32_t i = 0; i < room; i++)
		if (id[i]) {
			if (is_own((int)(lowest + i)))
				sp_close((int)(lowest + i));
			id[i] = 0;
		}
	n_fds = 0;
}

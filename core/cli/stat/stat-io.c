/* stat-io.c: the io of a process, which the kernel counts in /proc/PID/io: the events of the PAPI
 * component io, which itself reads only its own process.
 *
 * The file includes all threads, also those that have ended, and each child from the moment at
 * which the process has waited for it. After the end it remains readable until the parent waits,
 * but not for an ordinary user. So it is also read meanwhile.
 */
#include <dirent.h>
#include <stdio.h>

#include "../probe/kernel-events.h"
#include "../tool/cmd.h"
#include "stat.h"

bool sp_stat_plan_io(struct sp_stat_plan *p, const char *name)
{
	struct sp_stat_event *e = &p->event[p->n_events];
	uint32_t i = 0;

	while (i < SP_IO_EVENTS &&
	       (strncmp(name, "io:::", 5) != 0 || strcmp(name + 5, sp_io_events[i].name) != 0))
		i++;
	if (i == SP_IO_EVENTS)
		return false;
	*e = (struct sp_stat_event){ .is_machine_wide = true,
				     .io_line = (uint8_t)(i + 1),
				     .scope = SP_SCOPE_PROCESS,
				     .place = SP_PLACE_MACHINE };
	strcpy(e->name, name);
	strcpy(e->component, "io");
	strcpy(e->derived, "NOT_DERIVED");
	strcpy(e->units, sp_io_events[i].units);
	strcpy(e->description, sp_io_events[i].description);
	p->n_events++;
	return true;
}

static bool has_io(const struct sp_stat_plan *p)
{
	for (uint32_t e = 0; e < p->n_events; e++)
		if (p->event[e].io_line)
			return true;
	return false;
}

/* Returns false if the file cannot be read or has not all lines. */
static bool read_file(int fd, int64_t *value)
{
	char text[1024];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	for (uint32_t i = 0; i < SP_IO_EVENTS; i++) {
		char name[32];
		const char *at;

		snprintf(name, sizeof(name), "%s: ", sp_io_events[i].name);
		at = strstr(text, name);
		/* ("cancelled_write_bytes: " ends like another) */
		while (at && at > text && at[-1] != '\n')
			at = strstr(at + 1, name);
		if (!at)
			return false;
		value[i] = strtoll(at + strlen(name), NULL, 10);
	}
	return true;
}

static void add_child(struct sp_stat_io *io, int pid)
{
	struct sp_process_stat p;

	if (!sp_process_stat(pid, 0, &p))
		return;
	io->child = sp_grow_array(io->child, &io->child_room, io->n_children + 1,
				  sizeof(*io->child));
	io->child[io->n_children++] = (struct sp_stat_io_child){ pid, p.start_ticks };
}

static void find_children(struct sp_stat_io *io, int pid)
{
	int child[SP_STAT_CHILDREN_MOST];
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		uint32_t n = sp_proc_children(pid, atoi(e->d_name), child);

		for (uint32_t i = 0; i < n; i++)
			add_child(io, child[i]);
	}
	if (d)
		closedir(d);
}

void sp_stat_io_begin(struct sp_stat_counters *c, int pid, int tid, bool waits)
{
	struct sp_stat_io *io = &c->io;
	struct sp_stat_io_of *of;
	char path[64];

	if (!has_io(c->plan))
		return;
	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/io", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/io", pid);
	io->of = sp_check_alloc(reallocarray(io->of, io->n + 1, sizeof(*io->of)));
	of = &io->of[io->n++];
	*of = (struct sp_stat_io_of){ .fd = sp_open(path, O_RDONLY, 0) };
	if (!read_file(of->fd, of->before)) {
		io->wrong = errno == EACCES || errno == EPERM
				    ? "not permitted: this user may not read /proc/PID/io of the "
				      "process"
			    : access("/proc/self/io", F_OK) < 0
				    ? "not counted: this kernel does not count io "
				      "(CONFIG_TASK_IO_ACCOUNTING)"
				    : "not counted: a process had ended before counting began";
		io->n_unread++;
		if (of->fd >= 0)
			sp_close(of->fd);
		of->fd = -1;
		return;
	}
	if (tid)
		io->is_of_threads = true;
	else
		find_children(io, pid);
	if (waits) {			/* the child will read that it is released */
		of->before[0]++;
		of->before[2]++;
	}
	memcpy(of->now, of->before, sizeof(of->now));
	of->read_ns = sp_boot_ns();
}

void sp_stat_io_read(struct sp_stat_counters *c)
{
	struct sp_stat_io *io = &c->io;

	for (uint32_t i = 0; i < io->n; i++) {
		struct sp_stat_io_of *of = &io->of[i];
		int64_t now[SP_IO_EVENTS];
		uint64_t ns = sp_boot_ns();

		if (of->fd < 0)
			continue;
		if (read_file(of->fd, now)) {
			memcpy(of->now, now, sizeof(now));
			of->read_ns = ns;
			of->missed_ns = 0;
			continue;
		}
		of->missed_ns = ns - of->read_ns;
		if (errno == ESRCH) {	/* gone; otherwise an exec may permit it again */
			sp_close(of->fd);
			of->fd = -1;
		}
	}
}

void sp_stat_io_end(struct sp_stat_counters *c)
{
	struct sp_stat_io *io = &c->io;

	sp_stat_io_read(c);
	for (uint32_t i = 0; i < io->n_children; i++) {
		struct sp_process_stat p;

		io->n_gone += !sp_process_stat(io->child[i].pid, 0, &p) ||
			      p.start_ticks != io->child[i].start_ticks;
	}
	for (uint32_t i = 0; i < io->n; i++) {
		io->missed_ns = sp_max(io->missed_ns, io->of[i].missed_ns);
		if (io->of[i].fd >= 0)
			sp_close(io->of[i].fd);
	}
}

const char *sp_stat_io_wrong(const struct sp_stat_counters *c)
{
	return c->io.n_unread == c->io.n ? c->io.wrong : NULL;
}

int64_t sp_stat_io_value(const struct sp_stat_counters *c, const struct sp_stat_event *e)
{
	const uint32_t line = e->io_line - 1u;
	int64_t sum = 0;

	for (uint32_t i = 0; i < c->io.n; i++)
		sum += sp_max(c->io.of[i].now[line] - c->io.of[i].before[line], 0);
	return sum;
}

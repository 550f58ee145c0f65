/* switches.c: see switches.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../../core/lock.h"
#include "../../core/sys.h"
#include "switches.h"
#include "where.h"

#define SAMPLE_BYTES 16			/* time and CPU, at the end of each record */
#define NEAR_FULL 128			/* bytes: room for no more than the record of a loss */

/* ---- the kernel's side -------------------------------------------------- */

static int open_event(int cpu, bool signals)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, .sample_id_all = 1, .context_switch = 1,
		.exclude_kernel = 1, .exclude_hv = 1,	/* or perf_event_paranoid 2 refuses it */
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};

	a.watermark = signals;
	a.wakeup_watermark = signals;
	return (int)sp_sys(SYS_perf_event_open, &a, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int send_signals(int fd, int number)
{
	struct f_owner_ex owner = { F_OWNER_TID, (int)sp_sys(SYS_gettid) };
	long r = sp_sys(SYS_fcntl, fd, F_SETOWN_EX, &owner);

	if (r == 0)
		r = sp_sys(SYS_fcntl, fd, F_SETSIG, number);
	if (r == 0)
		r = sp_sys(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC);
	return (int)r;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void touch(struct perf_event_mmap_page *page, unsigned pages)
{
	for (unsigned i = 1; i <= pages; i++)
		(void)*((volatile char *)page + i * page_bytes());
}

struct perf_event_mmap_page *sp_switches_map(int cpu, unsigned pages, int trigger, int *error)
{
	int fd = open_event(cpu, trigger != 0), r = 0;
	struct perf_event_mmap_page *page;
	long at;

	if (fd < 0) {
		*error = -fd;
		return NULL;
	}
	at = sp_sys(SYS_mmap, NULL, (pages + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at < 0 && at > -4096) {
		*error = (int)-at;
		sp_close(fd);
		return NULL;
	}
	page = (struct perf_event_mmap_page *)at;
	/* Full from the start: a trigger signals nothing before it is armed.  The store also
	 * makes the page writable for good. */
	sp_put(&page->data_tail, (uint64_t)(trigger != 0));
	if (trigger)
		r = send_signals(fd, trigger);
	sp_close(fd);			/* the mapping holds the event */
	if (r < 0) {
		sp_switches_unmap(page, pages);
		*error = -r;
		return NULL;
	}
	touch(page, pages);
	return page;
}

void sp_switches_unmap(struct perf_event_mmap_page *page, unsigned pages)
{
	/* libc's: TSan has to know that these addresses are nobody's now. */
	(void)munmap(page, (pages + 1) * page_bytes());
}

/* ---- what the records say ----------------------------------------------- */

static uint64_t ahead;			/* ns that our clock is ahead of the records'; wraps */

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - ahead;
}

static const char *number(const char *p, uint64_t *n)
{
	bool minus;

	while (*p == ' ')
		p++;
	minus = *p == '-';
	p += minus;
	for (*n = 0; *p >= '0' && *p <= '9'; p++)
		*n = *n * 10 + (uint64_t)(*p - '0');
	*n = minus ? -*n : *n;
	return p;
}

/* In a time namespace; the kernel's records are not.  What /proc says is for children, who after
 * unshare(2) are in another one. */
void sp_switches_clock(void)
{
	struct stat own, children;
	uint64_t s = 0, ns = 0;
	char text[256];
	const char *p;

	ahead = 0;
	if (sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/time", &own, 0) < 0 ||
	    sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/time_for_children", &children, 0) < 0 ||
	    own.st_ino != children.st_ino || sp_read_file("/proc/self/timens_offsets", text, sizeof(text) - 1) <= 0)
		return;
	p = strstr(text, "monotonic");
	if (p) {
		number(number(p + strlen("monotonic"), &s), &ns);
		ahead = s * 1000000000u + ns;
	}
}

/* From here we know where the thread is, and nothing of what was before. */
static void resume(struct sp_switches *s, int cpu, uint64_t ns)
{
	s->lost++;
	s->cpu = cpu;
	s->in_ns = ns;
}

static void switched(struct sp_switches *s, bool out, uint64_t ns, int cpu)
{
	if (out) {
		s->on_ns += ns > s->in_ns ? ns - s->in_ns : 0;
		s->in_ns = ns;
		return;
	}
	s->in_ns = ns;
	if (cpu == s->cpu)
		return;
	s->cpu = cpu;
	s->moves++;
	s->move[s->moves % SP_MOVES_KEPT] = (struct sp_move){ s->on_ns, cpu };
}

/* Out of a ring, where a record may go on at the start. */
static void take(const struct sp_switches *s, uint64_t at, void *to, uint64_t n)
{

	for (uint64_t i = 0; i < n; i++)
		((char *)to)[i] = s->data[(at + i) & (s->bytes - 1)];
}

static void take_records(struct sp_switches *s, uint64_t head)
{
	bool full = head - s->tail + NEAR_FULL > s->bytes;

	while (head - s->tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		struct {
			uint64_t time;
			uint32_t cpu, reserved;
		} sample;

		take(s, s->tail, &h, sizeof(h));
		if (h.size < sizeof(h) + SAMPLE_BYTES || h.size > head - s->tail) {
			full = true;
			break;
		}
		take(s, s->tail + h.size - SAMPLE_BYTES, &sample, SAMPLE_BYTES);
		if (h.type == PERF_RECORD_SWITCH)
			switched(s, h.misc & PERF_RECORD_MISC_SWITCH_OUT, sample.time, (int)sample.cpu);
		else if (h.type == PERF_RECORD_LOST)
			full = true;
		s->tail += h.size;
	}
	s->tail = head;
	if (full)
		resume(s, sp_cpu_here(), clock_now());
	sp_publish(&s->page->data_tail, head);
}

static void look(struct sp_switches *s, struct sp_look *to)
{
	uint64_t head, now;
	int here, tries = 8;

	do {
		head = sp_acquire(&s->page->data_head);
		if (head != s->tail)
			take_records(s, head);
		here = sp_cpu_here();
		now = clock_now();
	} while (sp_acquire(&s->page->data_head) != head && --tries);
	if (!tries || here != s->cpu)
		resume(s, here, now);
	to->on_ns = s->on_ns + (now > s->in_ns ? now - s->in_ns : 0);
	to->moves = s->moves;
	to->lost = s->lost;
	to->cpu = here;
}

void sp_switches_look(struct sp_switches *s, struct sp_look *to)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (SP_UNLIKELY(sp_get(&s->off))) {
		*to = (struct sp_look){ .cpu = sp_cpu_here() };
		return;
	}
	if (SP_UNLIKELY(sp_get(&s->looking))) {
		int saved = errno;
		bool on_top = sp_interrupted(sp_get(&s->looking), frame);

		errno = saved;
		if (on_top) {
			*to = (struct sp_look){ .cpu = sp_cpu_here() };
			return;
		}
		s->lost++;		/* a handler jumped out of it, wherever it was */
		s->tail = sp_acquire(&s->page->data_head);
		resume(s, sp_cpu_here(), clock_now());
	}
	sp_put(&s->looking, frame);
	sp_order();
	look(s, to);
	s->serial += s->serial == UINT32_MAX ? 2 : 1;
	to->serial = s->serial;
	sp_order();
	sp_put(&s->looking, 0);
}

void sp_switches_off(struct sp_switches *s, bool off)
{
	if (off == sp_get(&s->off))
		return;
	s->lost++;			/* no more: it may be in a handler, on top of a look */
	sp_put(&s->off, off);
}

/* ---- windows ------------------------------------------------------------ */

static bool add_part(struct sp_part *parts, int *n, int room, int cpu, uint64_t ns)
{
	int i = 0;

	while (i < *n && parts[i].cpu != cpu)
		i++;
	if (i == room)
		return false;
	if (i == *n)
		parts[(*n)++] = (struct sp_part){ cpu, 0 };
	parts[i].weight += ns;
	return true;
}

int sp_switches_parts(const struct sp_switches *s, const struct sp_look *from, const struct sp_look *to,
		      struct sp_part *parts, int room)
{
	uint64_t at = from->on_ns;
	int n = 0, cpu = from->cpu;
	struct sp_part last;

	if (!from->serial || !to->serial || from->lost != to->lost || to->moves - from->moves >= SP_MOVES_KEPT)
		return 0;
	for (uint32_t m = from->moves + 1; m != to->moves + 1; m++) {
		const struct sp_move *v = &s->move[m % SP_MOVES_KEPT];

		if (!add_part(parts, &n, room, cpu, v->on_ns > at ? v->on_ns - at : 0))
			return 0;
		at = sp_max(at, v->on_ns);
		cpu = v->cpu;
	}
	if (!add_part(parts, &n, room, cpu, to->on_ns > at ? to->on_ns - at : 0))
		return 0;
	for (int i = 0; i < n - 1; i++)
		if (parts[i].cpu == to->cpu) {
			last = parts[i];
			parts[i] = parts[n - 1];
			parts[n - 1] = last;
		}
	return n;
}

uint64_t sp_switches_since_move(const struct sp_switches *s, const struct sp_look *look)
{
	uint64_t at = s->move[look->moves % SP_MOVES_KEPT].on_ns;

	return look->on_ns > at ? look->on_ns - at : 0;
}

/* ---- opening ------------------------------------------------------------ */

int sp_switches_open(struct sp_switches *s, unsigned pages)
{
	int error = 0;

	s->page = sp_switches_map(-1, pages, 0, &error);
	if (!s->page)
		return -error;
	s->data = (const char *)s->page + page_bytes();
	s->bytes = pages * page_bytes();
	s->tail = sp_acquire(&s->page->data_head);
	s->off = false;
	resume(s, sp_cpu_here(), clock_now());
	return 0;
}

void sp_switches_close(struct sp_switches *s)
{
	if (s->page)
		sp_switches_unmap(s->page, (unsigned)(s->bytes / page_bytes()));
	s->page = NULL;
}

/* stat-ring.c: reads the ring into which the kernel writes the records of a perf event. */
#include "../../base/sys.h"
#include "stat.h"

#define RECORD_MOST 4096u
#define RECORD_USUAL 64u		/* longest record of the events that stat opens */

size_t sp_ring_bytes(uint32_t pages)
{
	return (pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
}

void *sp_ring_map(int fd, uint32_t pages)
{
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sp_ring_bytes(pages), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				0);

	return p == MAP_FAILED ? NULL : p;
}

void sp_ring_unmap(void *ring, uint32_t pages)
{
	if (ring)
		munmap(ring, sp_ring_bytes(pages));
}

bool sp_ring_each(void *ring, uint32_t pages, sp_ring_take take, void *arg)
{
	struct perf_event_mmap_page *m = ring;
	uint64_t head = m ? load_acquire(&m->data_head) : 0, tail = m ? m->data_tail : 0, page,
		 size;
	union {
		struct perf_event_header h;
		uint64_t aligned;
		char bytes[RECORD_MOST];
	} r;

	bool whole;

	if (tail == head)
		return true;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	size = pages * page;
	/* The kernel reports dropped records with the next record that fits, which may never
	 * follow. */
	whole = head - tail + RECORD_USUAL <= size;
	while (tail < head) {
		const char *data = (const char *)m + page;
		uint64_t at = tail % size, first;

		memcpy(&r.h, data + at, sizeof(r.h));	/* records are aligned to 8 bytes */
		if (r.h.size < sizeof(r.h) || r.h.size > sizeof(r) || r.h.size > head - tail)
			break;
		first = sp_min(r.h.size, size - at);
		memcpy(r.bytes, data + at, first);
		memcpy(r.bytes + first, data, r.h.size - first);
		take(arg, &r.h, r.bytes + sizeof(r.h));
		tail += r.h.size;
	}
	store_release(&m->data_tail, head);
	return whole && tail == head;
}

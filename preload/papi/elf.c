/* elf.c: reads the symbol tables of loaded objects, which the loader has mapped and checked; see
 * elf.h. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "../../core/base/elf-file.h"
#include "../../core/base/elf-slots.h"
#include "../../core/base/sys.h"
#include "elf.h"

#define FIRST_PAGE	4096u

struct walk {
	int (*each)(const struct sp_object *, void *);
	void *arg;
	unsigned index;
};

static void read_dynamic(struct sp_object *o)
{
	ElfW(Addr) soname = 0;
	bool named = false;

	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const void *)sp_elf_pointer(o->base, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->strings = (const void *)sp_elf_pointer(o->base, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			o->gnu_hash = (const void *)sp_elf_pointer(o->base, d->d_un.d_ptr);
			break;
		case DT_SONAME:
			soname = d->d_un.d_val;
			named = true;
			break;
		}
	}
	o->soname = named && o->strings ? o->strings + soname : "";
}

/* Read the address range; false if the object is not mapped. */
static bool read_header(struct sp_object *o)
{
	uintptr_t high = 0;

	o->low = UINTPTR_MAX;
	for (unsigned i = 0; i < o->headers; i++) {
		const ElfW(Phdr) *p = &o->header[i];
		uintptr_t at = o->base + p->p_vaddr;

		if (p->p_type == PT_LOAD) {
			o->low = (uintptr_t)sp_min(o->low, at);
			high = (uintptr_t)sp_max(high, at + p->p_memsz);
		} else if (p->p_type == PT_DYNAMIC) {
			o->dynamic = (const ElfW(Dyn) *)at;
		}
	}
	o->span = high - o->low;
	return high > o->low;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = arg;
	struct sp_object o = { .path = info->dlpi_name ? info->dlpi_name : "",
			       .base = info->dlpi_addr,
			       .soname = "",
			       .index = w->index++,
			       .header = info->dlpi_phdr,
			       .headers = info->dlpi_phnum };

	(void)size;
	if (!read_header(&o))
		return 0;
	if (o.dynamic)
		read_dynamic(&o);
	return w->each(&o, w->arg);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE		/* since glibc 2.35 */
/* An object's first page. dlfo_map_start may be the start of a later part if the kernel left gaps
 * between the parts of the program or of ld.so (aarch64; linked for large pages). Their first page
 * is then at their base, or, if the program is not relocated, at the kernel's AT_PHDR. */
static const void *first_page(const struct dl_find_object *found)
{
	const uintptr_t in_first[] = { found->dlfo_link_map->l_addr, getauxval(AT_PHDR) };
	struct dl_find_object first;

	for (unsigned i = 0; i < SP_COUNT(in_first); i++)
		if (_dl_find_object((void *)in_first[i], &first) == 0 &&
		    first.dlfo_link_map == found->dlfo_link_map)
			return first.dlfo_map_start;
	return found->dlfo_map_start;
}

bool sp_elf_at(struct sp_object *o, uintptr_t address)
{
	struct dl_find_object found;
	const ElfW(Ehdr) *h;

	if (_dl_find_object((void *)address, &found) < 0 || !found.dlfo_link_map)
		return false;
	h = first_page(&found);
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_phentsize != sizeof(ElfW(Phdr)) ||
	    h->e_phoff > FIRST_PAGE || h->e_phoff + h->e_phnum * sizeof(ElfW(Phdr)) > FIRST_PAGE)
		return false;
	*o = (struct sp_object){ .path = found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name
								     : "",
				 .soname = "",
				 .base = found.dlfo_link_map->l_addr,
				 .headers = h->e_phnum,
				 .header = (const ElfW(Phdr) *)((const char *)h + h->e_phoff) };
	return read_header(o) && sp_elf_contains(o, address);
}
#else
bool sp_elf_at(struct sp_object *o, uintptr_t address)
{
	(void)o;
	(void)address;
	return false;
}
#endif

/* ---- all objects ------------------------------------------------------
 *
 * dl_iterate_phdr takes a lock that glibc does not free in a child of fork. If another thread had
 * it at the fork, the child waits for ever (seen on an emulated aarch64, once in 18,000 forks with
 * other threads counting). While the child has one thread no other can change the loader's list, so
 * read it without the lock.
 */
SP_AT_START static bool is_child;
static uintptr_t n_closed;

void sp_elf_in_child(void)
{
	is_child = true;
}

void sp_elf_note_close(void)
{
	__atomic_fetch_add(&n_closed, 1, __ATOMIC_RELAXED);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static bool has_one_thread(void)
{
	struct stat tasks;

	return sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 &&
	       tasks.st_nlink == 2 + 1;
}

static bool can_be_read(const struct link_map *l)
{
	struct sp_object o;

	for (; l; l = l->l_next)
		if (!sp_elf_at(&o, (uintptr_t)l->l_ld) && l->l_addr != getauxval(AT_SYSINFO_EHDR))
			return false;
	return true;
}

/* The head of the loader's list, or NULL to use dl_iterate_phdr, also if the headers of an object
 * are not in its first page. */
static const struct link_map *list_of_child(void)
{
	const struct link_map *m = NULL;
	struct dl_find_object own;
	int saved = errno;

	if (!is_child)
		return NULL;
	if (has_one_thread() && _dl_find_object((void *)(uintptr_t)&list_of_child, &own) == 0)
		m = own.dlfo_link_map;
	while (m && m->l_prev)
		m = m->l_prev;
	if (!can_be_read(m))
		m = NULL;
	errno = saved;
	return m;
}

static int visit_list(struct walk *w, const struct link_map *m)
{
	struct sp_object o;
	int r = 0;

	for (; m && r == 0; m = m->l_next, w->index++)
		if (sp_elf_at(&o, (uintptr_t)m->l_ld)) {
			o.index = w->index;
			if (o.dynamic)
				read_dynamic(&o);
			r = w->each(&o, w->arg);
		}
	return r;
}
#else
static const struct link_map *list_of_child(void)
{
	return NULL;
}

static int visit_list(struct walk *w, const struct link_map *m)
{
	(void)m;
	return dl_iterate_phdr(visit, w);
}
#endif

int sp_elf_each(int (*each)(const struct sp_object *, void *), void *arg)
{
	const struct link_map *list = list_of_child();
	struct walk w = { each, arg, 0 };

	return list ? visit_list(&w, list) : dl_iterate_phdr(visit, &w);
}

static bool is_defined(const struct sp_object *o, const ElfW(Sym) *s, const char *name)
{
	unsigned type = s->st_info & 15;

	return s->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_NOTYPE) &&
	       sp_same(o->strings + s->st_name, name);
}

uintptr_t sp_elf_symbol(const struct sp_object *o, const char *name)
{
	const uint32_t *t = o->gnu_hash, *buckets, *chain;
	uint32_t h = 5381;

	if (!o->symbols || !o->strings || !t || !t[0])
		return 0;
	for (const char *p = name; *p; p++)
		h = h * 33 + (unsigned char)*p;
	buckets = t + 4 + t[2] * (sizeof(ElfW(Addr)) / 4);
	chain = buckets + t[0] - t[1];
	for (uint32_t i = buckets[h % t[0]]; i >= t[1]; i++) {
		if ((chain[i] | 1) == (h | 1) && is_defined(o, &o->symbols[i], name))
			return o->base + o->symbols[i].st_value;
		if (chain[i] & 1)
			break;
	}
	return 0;
}

const unsigned char *sp_elf_build_id(const struct sp_object *o, uint32_t *n)
{
	const unsigned char *id = NULL;

	for (unsigned i = 0; i < o->headers && !id; i++)
		if (o->header[i].p_type == PT_NOTE && o->header[i].p_align <= 4)
			id = sp_elf_note_id((const unsigned char *)(o->base + o->header[i].p_vaddr),
					    o->header[i].p_memsz, n);
	return id;
}

static int take_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long long *loads = arg;

	if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid))
		*loads = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

unsigned long long sp_elf_load_count(void)
{
	const struct link_map *list = list_of_child();
	unsigned long long loads = n_closed;

	if (!list)
		dl_iterate_phdr(take_loads, &loads);
	for (; list; list = list->l_next)
		loads = loads * 31 + (uintptr_t)list->l_ld;
	return loads;
}

struct place {
	uintptr_t address;
	struct sp_object *object;
};

static int is_place(const struct sp_object *o, void *arg)
{
	const struct place *p = arg;

	if (!sp_elf_contains(o, p->address))
		return 0;
	*p->object = *o;
	return 1;
}

bool sp_elf_find(struct sp_object *o, uintptr_t address)
{
	*o = (struct sp_object){ .path = "", .soname = "" };
	return sp_elf_each(is_place, &(struct place){ address, o });
}

bool sp_elf_contains(const struct sp_object *o, uintptr_t address)
{
	return address - o->low < o->span;
}

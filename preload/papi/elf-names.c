/* elf-names.c: reads an object's file for its functions' names; see elf-names.h. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>

#include "../../core/base/sys.h"
#include "elf-names.h"

#define HEADERS_MOST 512u
#define SYMBOLS_MOST (4ull << 20)	/* looked at of a file */
#define AT_ONCE 1024u			/* read at a time */

struct file {
	long fd;
	struct sp_elf_want *want;
	uint32_t n;
	void (*found)(const struct sp_elf_want *want, const char *name);
	ElfW(Shdr) section[HEADERS_MOST];
	ElfW(Sym) symbol[AT_ONCE];
	char text[4096];
};

static bool read_at(const struct file *f, void *to, uint64_t n, uint64_t at)
{
	return at <= INT64_MAX && sp_sys(SYS_pread64, f->fd, to, n, at) == (long)n;
}

static bool is_id(const struct file *f, const ElfW(Phdr) *note, const unsigned char *id, uint32_t n)
{
	uint64_t bytes = sp_min(note->p_filesz, sizeof(f->text)), at = 0;
	ElfW(Nhdr) h;

	if (note->p_type != PT_NOTE || note->p_align > 4 || !read_at(f, (char *)f->text, bytes, note->p_offset))
		return false;
	while (bytes - at >= sizeof(h)) {
		uint64_t desc;

		memcpy(&h, f->text + at, sizeof(h));
		desc = at + sizeof(h) + sp_align(h.n_namesz, 4);
		if (desc > bytes || h.n_descsz > bytes - desc)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && h.n_descsz == n && !memcmp(f->text + desc, id, n))
			return true;
		at = sp_min(desc + sp_align(h.n_descsz, 4), bytes);
	}
	return false;
}

/* Is it the object that was loaded?  Without a build id nothing tells. */
static bool is_it(const struct file *f, const ElfW(Ehdr) *e, const unsigned char *id, uint32_t n)
{
	ElfW(Phdr) p;

	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_phentsize != sizeof(p) || !n)
		return false;
	for (unsigned i = 0; i < e->e_phnum && i < HEADERS_MOST; i++)
		if (read_at(f, &p, sizeof(p), e->e_phoff + i * sizeof(p)) && is_id(f, &p, id, n))
			return true;
	return false;
}

static void sort(struct sp_elf_want *w, uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			struct sp_elf_want one = w[i];
			uint32_t k = i;

			for (; k >= gap && w[k - gap].offset > one.offset; k -= gap)
				w[k] = w[k - gap];
			w[k] = one;
		}
}

/* The first that is wanted from this offset on. */
static uint32_t from(const struct file *f, uint64_t offset)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (f->want[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool read_name(struct file *f, const ElfW(Shdr) *strings, uint32_t at)
{
	uint64_t n = at < strings->sh_size ? sp_min(strings->sh_size - at, SP_ELF_NAME) : 0;

	return n && read_at(f, f->text, n, strings->sh_offset + at) && *f->text && strnlen(f->text, n) < n;
}

static void look_at(struct file *f, const ElfW(Shdr) *strings, const ElfW(Sym) *s)
{
	unsigned type = s->st_info & 15;
	bool named = false;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF)
		return;
	for (uint32_t i = from(f, s->st_value); i < f->n && f->want[i].offset - s->st_value < s->st_size; i++) {
		if (f->want[i].found)
			continue;
		named = named || read_name(f, strings, s->st_name);
		if (!named)
			return;
		f->want[i].found = true;
		f->found(&f->want[i], f->text);
	}
}

static void table(struct file *f, const ElfW(Shdr) *t, const ElfW(Shdr) *strings)
{
	uint64_t n = t->sh_entsize == sizeof(ElfW(Sym)) ? sp_min(t->sh_size / sizeof(ElfW(Sym)), SYMBOLS_MOST) : 0;

	for (uint64_t i = 0; i < n; i += AT_ONCE) {
		uint64_t some = sp_min(n - i, AT_ONCE);

		if (!read_at(f, f->symbol, some * sizeof(ElfW(Sym)), t->sh_offset + i * sizeof(ElfW(Sym))))
			return;
		for (uint64_t k = 0; k < some; k++)
			look_at(f, strings, &f->symbol[k]);
	}
}

static void tables(struct file *f, const unsigned char *id, uint32_t id_bytes)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	ElfW(Ehdr) e;
	unsigned n;

	if (!read_at(f, &e, sizeof(e), 0) || !is_it(f, &e, id, id_bytes) || e.e_shentsize != sizeof(f->section[0]))
		return;
	n = (unsigned)sp_min(e.e_shnum, HEADERS_MOST);
	if (!read_at(f, f->section, n * sizeof(f->section[0]), e.e_shoff))
		return;
	for (unsigned k = 0; k < SP_COUNT(types); k++)
		for (unsigned i = 0; i < n; i++)
			if (f->section[i].sh_type == types[k] && f->section[i].sh_link < n)
				table(f, &f->section[i], &f->section[f->section[i].sh_link]);
}

void sp_elf_names(const char *path, const unsigned char *id, uint32_t id_bytes, struct sp_elf_want *want, uint32_t n,
		  void (*found)(const struct sp_elf_want *want, const char *name))
{
	struct file *f = sp_map(sizeof(*f));

	if (!f)
		return;
	f->fd = sp_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	f->want = want;
	f->n = n;
	f->found = found;
	sort(want, n);
	if (f->fd >= 0) {
		tables(f, id, id_bytes);
		sp_sys(SYS_close, f->fd);
	}
	sp_unmap(f, sizeof(*f));
}

/* elf-file.c: reads an ELF file's dynamic section, symbols and build id; see elf-file.h. */
#include <elf.h>

#include "elf-file.h"
#include "sys.h"

#define HEADERS_MOST 128u
#define SECTIONS_MOST 65536u
#define DYNAMIC_MOST 4096u
#define SYMBOLS_MOST (16ull << 20)	/* read of one table */
#define SCAN_MOST (64ul << 20)
#define AT_ONCE 128u			/* symbols per read */
#define NOTE_MOST 1024u

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static bool read_at(const struct sp_elf_file *f, void *to, uint64_t n, uint64_t at)
{
	return at <= f->size && n <= f->size - at &&
	       sp_sys(SYS_pread64, f->fd, to, n, at) == (long)n;
}

/* ---- headers ------------------------------------------------------------------ */

static bool segment(const struct sp_elf_file *f, const ElfW(Ehdr) *e, uint32_t i, ElfW(Phdr) *h)
{
	return i < sp_min(e->e_phnum, HEADERS_MOST) &&
	       read_at(f, h, sizeof(*h), e->e_phoff + i * sizeof(*h));
}

/* Convert an address of the loaded object to an offset in the file; 0 if it is not in the file. */
static uint64_t file_offset(const struct sp_elf_file *f, const ElfW(Ehdr) *e, uint64_t address)
{
	ElfW(Phdr) h;

	for (uint32_t i = 0; segment(f, e, i, &h); i++)
		if (h.p_type == PT_LOAD && address >= h.p_vaddr && address - h.p_vaddr < h.p_filesz)
			return h.p_offset + (address - h.p_vaddr);
	return 0;
}

static void read_dynamic(struct sp_elf_file *f, const ElfW(Ehdr) *e, const ElfW(Phdr) *at)
{
	uint64_t entries = sp_min(at->p_filesz / sizeof(ElfW(Dyn)), DYNAMIC_MOST), strings = 0;
	ElfW(Dyn) d;

	for (uint64_t i = 0;
	     i < entries && read_at(f, &d, sizeof(d), at->p_offset + i * sizeof(d)) &&
	     d.d_tag != DT_NULL;
	     i++) {
		strings = d.d_tag == DT_STRTAB ? d.d_un.d_ptr : strings;
		f->strings_size = d.d_tag == DT_STRSZ ? d.d_un.d_val : f->strings_size;
		f->audited |= d.d_tag == DT_AUDIT || d.d_tag == DT_DEPAUDIT;
	}
	f->strings_at = file_offset(f, e, strings);
}

static void read_interpreter(struct sp_elf_file *f, const ElfW(Phdr) *h)
{
	f->interpreter = true;
	if (h->p_filesz >= sizeof(f->loader) || !read_at(f, f->loader, h->p_filesz, h->p_offset))
		f->loader[0] = 0;
}

const unsigned char *sp_elf_note_id(const unsigned char *note, uint64_t bytes, uint32_t *n)
{
	ElfW(Nhdr) h;

	while (bytes >= sizeof(h)) {
		uint64_t id, all;

		memcpy(&h, note, sizeof(h));
		id = sizeof(h) + sp_align(h.n_namesz, 4);
		all = id + sp_align(h.n_descsz, 4);
		if (id > bytes || h.n_descsz > bytes - id)
			break;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && note[sizeof(h) + 1] == 'N') {
			*n = h.n_descsz;
			return note + id;
		}
		note += sp_min(all, bytes);
		bytes -= sp_min(all, bytes);
	}
	return NULL;
}

static void read_note(struct sp_elf_file *f, const ElfW(Phdr) *note)
{
	unsigned char bytes[NOTE_MOST];
	uint64_t n = sp_min(note->p_filesz, sizeof(bytes));
	const unsigned char *id;
	uint32_t id_bytes;

	if (f->build_id_bytes || note->p_align > 4 || !read_at(f, bytes, n, note->p_offset))
		return;
	id = sp_elf_note_id(bytes, n, &id_bytes);
	if (!id || id_bytes > SP_ELF_ID)
		return;
	memcpy(f->build_id, id, id_bytes);
	f->build_id_bytes = id_bytes;
}

static int read_headers(struct sp_elf_file *f)
{
	ElfW(Phdr) h;
	ElfW(Ehdr) e;

	if (!read_at(f, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	f->foreign = e.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
		     e.e_machine != MACHINE;
	if (f->foreign)
		return 0;
	if (e.e_phentsize != sizeof(h))
		return -ENOEXEC;
	for (uint32_t i = 0; segment(f, &e, i, &h); i++) {
		if (h.p_type == PT_INTERP)
			read_interpreter(f, &h);
		if (h.p_type == PT_NOTE)
			read_note(f, &h);
		if (h.p_type == PT_DYNAMIC && !f->strings_at)
			read_dynamic(f, &e, &h);
	}
	f->sections_at = e.e_shoff;
	f->n_sections = e.e_shentsize == sizeof(ElfW(Shdr))
				? (uint32_t)sp_min(e.e_shnum, SECTIONS_MOST)
				: 0;
	return 0;
}

int sp_elf_file_open(struct sp_elf_file *f, const char *path)
{
	struct stat s;
	int r;

	memset(f, 0, sizeof(*f));
	f->fd = (int)sp_sys(SYS_openat, AT_FDCWD, path,
			    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return f->fd;
	r = (int)sp_sys(SYS_newfstatat, f->fd, "", &s, AT_EMPTY_PATH);
	if (r == 0) {
		f->size = (uint64_t)s.st_size;
		r = S_ISREG(s.st_mode) ? read_headers(f) : -ENOEXEC;
	}
	if (r < 0)
		sp_elf_file_close(f);
	return r;
}

void sp_elf_file_close(struct sp_elf_file *f)
{
	sp_close(f->fd);
	f->fd = -1;
}

/* ---- bytes ---------------------------------------------------------------------- */

/* The offset of the first occurrence of n bytes between two offsets, or UINT64_MAX. */
static uint64_t find(const struct sp_elf_file *f, uint64_t at, uint64_t end, const char *bytes,
		     size_t n)
{
	char buffer[8192];
	long got = 1;

	for (; got > 0 && at + n <= end; at += (uint64_t)got - n + 1) {
		const char *found;

		got = sp_sys(SYS_pread64, f->fd, buffer, sp_min(sizeof(buffer), end - at), at);
		if (got < (long)n)
			break;
		found = memmem(buffer, (size_t)got, bytes, n);
		if (found)
			return at + (uint64_t)(found - buffer);
	}
	return UINT64_MAX;
}

bool sp_elf_file_has_name(const struct sp_elf_file *f, const char *const *wanted)
{
	uint64_t end = f->strings_at + sp_min(f->strings_size, SCAN_MOST);
	char name[SP_ELF_NAME];
	bool found = false;

	for (; f->strings_at && *wanted && !found; wanted++) {
		size_t n = strlen(*wanted) + 2;

		if (n > sizeof(name))
			continue;
		name[0] = 0;
		memcpy(name + 1, *wanted, n - 1);
		found = find(f, f->strings_at, end, name, n) != UINT64_MAX;
	}
	return found;
}

bool sp_elf_file_contains(const struct sp_elf_file *f, const char *text)
{
	return find(f, 0, sp_min(f->size, SCAN_MOST), text, strlen(text)) != UINT64_MAX;
}

/* ---- symbols ---------------------------------------------------------------------- */

static bool section(const struct sp_elf_file *f, uint32_t i, ElfW(Shdr) *s)
{
	return i < f->n_sections && read_at(f, s, sizeof(*s), f->sections_at + i * sizeof(*s));
}

/* Call each() for every symbol in tables of the type, with the section of its name, until it
 * returns true. */
static bool each_symbol(const struct sp_elf_file *f, uint32_t type,
			bool (*each)(const ElfW(Sym) * s, const ElfW(Shdr) * strings, void *arg),
			void *arg)
{
	ElfW(Sym) symbol[AT_ONCE];
	ElfW(Shdr) t, strings;

	for (uint32_t i = 0; section(f, i, &t); i++) {
		uint64_t n = t.sh_entsize == sizeof(ElfW(Sym))
				     ? sp_min(t.sh_size / sizeof(ElfW(Sym)), SYMBOLS_MOST)
				     : 0;

		if (t.sh_type != type || !section(f, t.sh_link, &strings))
			continue;
		for (uint64_t from = 0; from < n; from += AT_ONCE) {
			uint64_t some = sp_min(n - from, AT_ONCE);

			if (!read_at(f, symbol, some * sizeof(*symbol),
				     t.sh_offset + from * sizeof(*symbol)))
				break;
			for (uint64_t k = 0; k < some; k++)
				if (each(&symbol[k], &strings, arg))
					return true;
		}
	}
	return false;
}

/* The offsets at which a name occurs in a string table. It may occur several times, also as the end
 * of a longer name. */
struct defined {
	const struct sp_elf_file *f;
	const char *name;
	uint64_t of;			/* the string table of `at` */
	uint64_t at[8];			/* the offsets; UINT64_MAX ends the list */
};

static void find_name(struct defined *d, const ElfW(Shdr) *strings)
{
	uint64_t at = strings->sh_offset,
		 end = at <= d->f->size ? at + sp_min(strings->sh_size, d->f->size - at) : at;

	d->of = at;
	for (unsigned i = 0; i < SP_COUNT(d->at); i++) {
		d->at[i] = at == UINT64_MAX
				   ? at
				   : find(d->f, at, sp_min(end, strings->sh_offset + SCAN_MOST),
					  d->name, strlen(d->name) + 1);
		at = d->at[i] == UINT64_MAX ? UINT64_MAX : d->at[i] + 1;
	}
}

static bool is_defined(const ElfW(Sym) *s, const ElfW(Shdr) *strings, void *arg)
{
	struct defined *d = arg;

	if (d->of != strings->sh_offset)
		find_name(d, strings);
	for (unsigned i = 0; i < SP_COUNT(d->at) && d->at[i] != UINT64_MAX; i++)
		if (s->st_shndx != SHN_UNDEF && strings->sh_offset + s->st_name == d->at[i])
			return true;
	return false;
}

bool sp_elf_file_defines(const struct sp_elf_file *f, const char *name)
{
	struct defined d = { .f = f, .name = name };

	return each_symbol(f, SHT_SYMTAB, is_defined, &d) ||
	       each_symbol(f, SHT_DYNSYM, is_defined, &d);
}

bool sp_elf_file_has_symbols(const struct sp_elf_file *f)
{
	ElfW(Shdr) s;

	for (uint32_t i = 0; section(f, i, &s); i++)
		if (s.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

/* ---- names of functions ------------------------------------------------------------ */

struct names {
	const struct sp_elf_file *f;
	struct sp_elf_want *want;
	uint32_t n;
	void (*found)(const struct sp_elf_want *want, const char *name);
};

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

/* The index of the first entry at or after the offset. */
static uint32_t from(const struct names *all, uint64_t offset)
{
	uint32_t lo = 0, hi = all->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (all->want[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool name_those(const ElfW(Sym) *s, const ElfW(Shdr) *strings, void *arg)
{
	struct names *all = arg;
	unsigned type = s->st_info & 15;
	char name[SP_ELF_NAME] = "";

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF ||
	    s->st_name >= strings->sh_size)
		return false;
	for (uint32_t i = from(all, s->st_value);
	     i < all->n && all->want[i].offset - s->st_value < s->st_size; i++) {
		uint64_t n = sp_min(strings->sh_size - s->st_name, sizeof(name));

		if (all->want[i].found)
			continue;
		if (!*name && (!read_at(all->f, name, n, strings->sh_offset + s->st_name) ||
			       !*name || strnlen(name, n) == n))
			return false;
		all->want[i].found = true;
		all->found(&all->want[i], name);
	}
	return false;
}

void sp_elf_file_names(const struct sp_elf_file *f, struct sp_elf_want *want, uint32_t n,
		       void (*found)(const struct sp_elf_want *want, const char *name))
{
	struct names all = { f, want, n, found };

	sort(want, n);
	each_symbol(f, SHT_SYMTAB, name_those, &all);
	each_symbol(f, SHT_DYNSYM, name_those, &all);
}

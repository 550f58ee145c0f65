/* elf-file.c: reads an ELF file's dynamic section and symbols; see elf-file.h. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf-file.h"

#define HEADERS_MOST 128u
#define DYNAMIC_MOST 4096u
#define NAMES_MOST (16ul << 20)
#define SCAN_MOST (64ul << 20)

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static bool read_at(const struct sp_elf_file *f, void *to, uint64_t n, uint64_t at)
{
	return at <= f->size && n <= f->size - at && pread(f->fd, to, n, (off_t)at) == (ssize_t)n;
}

/* n bytes of it, and a NUL behind them, to be freed; NULL: none, more than `most`, or not all there. */
static void *take(const struct sp_elf_file *f, uint64_t at, uint64_t n, uint64_t most)
{
	char *bytes = n && n <= most ? calloc(1, n + 1) : NULL;

	if (bytes && read_at(f, bytes, n, at))
		return bytes;
	free(bytes);
	return NULL;
}

/* Where this address of the loaded object stands in the file; 0: nowhere. */
static uint64_t file_offset(const ElfW(Phdr) *h, unsigned n, uint64_t address)
{
	for (unsigned i = 0; i < n; i++)
		if (h[i].p_type == PT_LOAD && address >= h[i].p_vaddr && address - h[i].p_vaddr < h[i].p_filesz)
			return h[i].p_offset + (address - h[i].p_vaddr);
	return 0;
}

static void read_entry(struct sp_elf_file *f, const ElfW(Dyn) *d, uint64_t *strings)
{
	switch (d->d_tag) {
	case DT_NEEDED:
		if (f->n_needed < SP_ELF_NEEDED)
			f->needed[f->n_needed++] = d->d_un.d_val;
		break;
	case DT_RPATH: f->rpath = d->d_un.d_val; break;
	case DT_RUNPATH: f->runpath = d->d_un.d_val; break;
	case DT_SONAME: f->soname = d->d_un.d_val; break;
	case DT_STRTAB: *strings = d->d_un.d_ptr; break;
	case DT_STRSZ: f->strings_size = d->d_un.d_val; break;
	}
}

static void read_dynamic(struct sp_elf_file *f, const ElfW(Phdr) *h, unsigned n, unsigned at)
{
	uint64_t entries = sp_min(h[at].p_filesz / sizeof(ElfW(Dyn)), DYNAMIC_MOST), strings = 0;
	ElfW(Dyn) *d = take(f, h[at].p_offset, entries * sizeof(*d), UINT64_MAX);

	for (uint64_t i = 0; d && i < entries && d[i].d_tag != DT_NULL; i++)
		read_entry(f, &d[i], &strings);
	free(d);
	f->strings_at = file_offset(h, n, strings);
}

static void read_interpreter(struct sp_elf_file *f, const ElfW(Phdr) *h)
{
	f->interpreter = true;
	if (h->p_filesz >= sizeof(f->loader) || !read_at(f, f->loader, h->p_filesz, h->p_offset))
		f->loader[0] = 0;
}

static int read_headers(struct sp_elf_file *f)
{
	ElfW(Phdr) h[HEADERS_MOST];
	ElfW(Ehdr) e;
	unsigned n;

	if (!read_at(f, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	f->foreign = e.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || e.e_machine != MACHINE;
	if (f->foreign)
		return 0;
	n = (unsigned)sp_min(e.e_phnum, HEADERS_MOST);
	if (e.e_phentsize != sizeof(h[0]) || !read_at(f, h, n * sizeof(h[0]), e.e_phoff))
		return -ENOEXEC;
	for (unsigned i = 0; i < n; i++) {
		if (h[i].p_type == PT_INTERP)
			read_interpreter(f, &h[i]);
		if (h[i].p_type == PT_DYNAMIC && !f->strings_at)
			read_dynamic(f, h, n, i);
	}
	return 0;
}

int sp_elf_file_open(struct sp_elf_file *f, const char *path)
{
	struct stat s;
	int r;

	memset(f, 0, sizeof(*f));
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return -errno;
	r = fstat(f->fd, &s) < 0 ? -errno : S_ISREG(s.st_mode) ? 0 : -ENOEXEC;
	if (r == 0) {
		f->size = (uint64_t)s.st_size;
		r = read_headers(f);
	}
	if (r < 0)
		sp_elf_file_close(f);
	return r;
}

void sp_elf_file_close(struct sp_elf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

const char *sp_elf_file_text(const struct sp_elf_file *f, uint64_t offset, char *text, size_t room)
{
	ssize_t n = 0;

	if (f->strings_at && offset && offset < f->strings_size)
		n = pread(f->fd, text, room - 1, (off_t)(f->strings_at + offset));
	text[n > 0 ? n : 0] = 0;
	return text;
}

bool sp_elf_file_has_name(const struct sp_elf_file *f, const char *const *wanted)
{
	uint64_t n = sp_min(f->strings_size, NAMES_MOST);
	char *text = f->strings_at ? take(f, f->strings_at, n, NAMES_MOST) : NULL;
	bool found = false;

	for (; text && *wanted && !found; wanted++) {
		size_t length = strlen(*wanted);

		for (const char *p = text; !found && (p = memmem(p, n - (uint64_t)(p - text), *wanted, length)) != NULL; p++)
			found = p > text && p[-1] == 0 && p[length] == 0;
	}
	free(text);
	return found;
}

/* Symbols of .dynsym or .symtab, by the section headers: those of a table are few
 * enough to be read one by one in blocks. */
static bool defined_in(const struct sp_elf_file *f, const ElfW(Shdr) *table, const ElfW(Shdr) *strings, const char *name)
{
	uint64_t n = table->sh_entsize == sizeof(ElfW(Sym)) ? table->sh_size / sizeof(ElfW(Sym)) : 0;
	size_t length = strlen(name) + 1;
	char *text = take(f, strings->sh_offset, strings->sh_size, SCAN_MOST);
	ElfW(Sym) s[256];
	bool found = false;

	for (uint64_t i = 0; text && i < n && !found; i += SP_COUNT(s)) {
		uint64_t some = sp_min(n - i, SP_COUNT(s));

		if (!read_at(f, s, some * sizeof(s[0]), table->sh_offset + i * sizeof(s[0])))
			break;
		for (uint64_t j = 0; j < some && !found; j++)
			found = s[j].st_shndx != SHN_UNDEF && s[j].st_name < strings->sh_size &&
				strings->sh_size - s[j].st_name >= length && memcmp(text + s[j].st_name, name, length) == 0;
	}
	free(text);
	return found;
}

/* Its section headers and their number; NULL: none that can be read. */
static ElfW(Shdr) *sections(const struct sp_elf_file *f, unsigned *n)
{
	ElfW(Ehdr) e;

	if (f->foreign || !read_at(f, &e, sizeof(e), 0) || e.e_shentsize != sizeof(ElfW(Shdr)))
		return NULL;
	*n = e.e_shnum;
	return take(f, e.e_shoff, *n * sizeof(ElfW(Shdr)), UINT64_MAX);
}

bool sp_elf_file_defines(const struct sp_elf_file *f, const char *name)
{
	unsigned n = 0;
	ElfW(Shdr) *s = sections(f, &n);
	bool found = false;

	for (unsigned i = 0; s && i < n && !found; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) && s[i].sh_link < n)
			found = defined_in(f, &s[i], &s[s[i].sh_link], name);
	free(s);
	return found;
}

bool sp_elf_file_has_symbols(const struct sp_elf_file *f)
{
	unsigned n = 0;
	ElfW(Shdr) *s = sections(f, &n);
	bool found = false;

	for (unsigned i = 0; s && i < n; i++)
		found |= s[i].sh_type == SHT_SYMTAB;
	free(s);
	return found;
}

bool sp_elf_file_holds(const struct sp_elf_file *f, const char *text)
{
	size_t length = strlen(text), kept = 0, room = 1u << 20;
	char *buffer = malloc(room);
	bool found = false;

	for (uint64_t at = 0; buffer && !found && at < SCAN_MOST;) {
		ssize_t n = pread(f->fd, buffer + kept, room - kept, (off_t)at);

		if (n <= 0)
			break;
		at += (uint64_t)n;
		found = memmem(buffer, kept + (size_t)n, text, length) != NULL;
		n += (ssize_t)kept;
		kept = sp_min((uint64_t)n, length - 1);
		memmove(buffer, buffer + n - kept, kept);
	}
	free(buffer);
	return found;
}

static bool id_of_note(const struct sp_elf_file *f, const ElfW(Phdr) *note, char *id, size_t room)
{
	unsigned char bytes[4096];
	uint64_t n = sp_min(note->p_filesz, sizeof(bytes)), at = 0;
	ElfW(Nhdr) h;

	if (note->p_align > 4 || !read_at(f, bytes, n, note->p_offset))
		return false;
	while (n - at >= sizeof(h)) {
		uint64_t desc;

		memcpy(&h, bytes + at, sizeof(h));
		desc = at + sizeof(h) + sp_align(h.n_namesz, 4);
		if (desc > n || h.n_descsz > n - desc)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(bytes + at + sizeof(h), "GNU", 4) == 0) {
			for (uint32_t i = 0; i < h.n_descsz && 2 * i + 3 <= room; i++)
				snprintf(id + 2 * i, 3, "%02x", bytes[desc + i]);
			return h.n_descsz && 2 * h.n_descsz < room;
		}
		at = desc + sp_align(h.n_descsz, 4);
		if (at > n)
			return false;
	}
	return false;
}

bool sp_elf_file_build_id(const struct sp_elf_file *f, char *id, size_t room)
{
	ElfW(Phdr) note;
	ElfW(Ehdr) e;
	bool found = false;

	if (f->foreign || !read_at(f, &e, sizeof(e), 0) || e.e_phentsize != sizeof(note))
		return false;
	for (unsigned i = 0; i < e.e_phnum && i < HEADERS_MOST && !found; i++)
		found = read_at(f, &note, sizeof(note), e.e_phoff + i * sizeof(note)) && note.p_type == PT_NOTE &&
			id_of_note(f, &note, id, room);
	return found;
}

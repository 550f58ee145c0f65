/* library-path.c: looks for a library where ld.so(8) would, in its order; see library-path.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

#include "library-path.h"

#define CACHE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MOST (16l << 20)

struct cache_head {
	char magic[20];
	uint32_t n, strings, more[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value, version;	/* offsets from the head */
	uint64_t hwcap;
};

static bool is_ours(const char *path)
{
	struct sp_elf_file f;
	bool ours;

	if (sp_elf_file_open(&f, path) < 0)
		return false;
	ours = !f.foreign && f.strings_at;
	sp_elf_file_close(&f);
	return ours;
}

/* One folder of a list, $ORIGIN and ${ORIGIN} replaced; what holds another $ is passed over. */
static bool in_folder(const char *folder, size_t n, const char *soname, const char *origin, char path[PATH_MAX])
{
	static const char *const words[] = { "${ORIGIN}", "$ORIGIN" };
	char plain[PATH_MAX] = "";

	for (unsigned i = 0; i < SP_COUNT(words); i++) {
		size_t w = strlen(words[i]);

		if (n >= w && strncmp(folder, words[i], w) == 0) {
			if (!origin || snprintf(plain, sizeof(plain), "%s", origin) >= (int)sizeof(plain))
				return false;
			folder += w;
			n -= w;
			break;
		}
	}
	if (memchr(folder, '$', n))
		return false;
	if (!n && !*plain)
		n = 1, folder = ".";
	return snprintf(path, PATH_MAX, "%s%.*s/%s", plain, (int)n, folder, soname) < PATH_MAX && is_ours(path);
}

static bool in_list(const char *list, const char *between, const char *soname, const char *origin, char path[PATH_MAX])
{
	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, between);

		if (in_folder(p, n, soname, origin, path))
			return true;
		p += n + (p[n] != 0);
	}
	return false;
}

static char *read_cache(size_t *size)
{
	int fd = open(CACHE, O_RDONLY | O_CLOEXEC);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char *bytes = end > 0 && end < CACHE_MOST ? malloc((size_t)end + 1) : NULL;

	if (bytes && pread(fd, bytes, (size_t)end, 0) == end) {
		bytes[end] = 0;
		*size = (size_t)end;
	} else {
		free(bytes);
		bytes = NULL;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

static bool in_cache(const char *soname, char path[PATH_MAX])
{
	static char *bytes;		/* read once: a closure asks for many */
	static size_t size;
	const char *head;
	struct cache_head h;

	if (!bytes)
		bytes = read_cache(&size);
	head = bytes ? memmem(bytes, size, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) : NULL;
	if (!head || size - (size_t)(head - bytes) < sizeof(h))
		return false;
	memcpy(&h, head, sizeof(h));
	for (uint32_t i = 0; i < h.n; i++) {
		size_t left = size - (size_t)(head - bytes), at = sizeof(h) + i * sizeof(struct cache_entry);
		struct cache_entry e;

		if (at + sizeof(e) > left)
			return false;
		memcpy(&e, head + at, sizeof(e));
		if (e.key >= left || e.value >= left || strcmp(head + e.key, soname) != 0)
			continue;
		if (snprintf(path, PATH_MAX, "%s", head + e.value) < PATH_MAX && is_ours(path))
			return true;
	}
	return false;
}

bool sp_library_find(const char *soname, const struct sp_search *by, char path[PATH_MAX])
{
	if (strchr(soname, '/'))
		return snprintf(path, PATH_MAX, "%s", soname) < PATH_MAX && is_ours(path);
	if (!by->runpath && in_list(by->rpath, ":", soname, by->origin, path))
		return true;
	if (in_list(getenv("LD_LIBRARY_PATH"), ":;", soname, NULL, path) || in_list(by->runpath, ":", soname, by->origin, path) ||
	    in_cache(soname, path))
		return true;
	return in_list("/lib64:/usr/lib64:/lib:/usr/lib", ":", soname, NULL, path);
}

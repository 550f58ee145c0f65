/* safe-open.c: opens a path's folder, part by part; see safe-open.h. */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "conf.h"
#include "safe-open.h"

#define LINKS_MOST 40			/* as the kernel */

struct way {
	int folder;
	unsigned links;
	const char *left;		/* what is left to go: of the path as it was given, or, from the first link on, */
	char text[SP_CONF_PATH];	/* at the end of this */
};

static int enter(struct way *w, int folder)
{
	if (folder < 0)
		return folder;
	sp_close(w->folder);
	w->folder = folder;
	return 0;
}

static int open_folder(int in, const char *name, int flags)
{
	return (int)sp_sys_whole(SYS_openat, in, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags, 0);
}

static int owner_of(int fd, mode_t *mode, uid_t *owner)
{
	struct stat s;
	long r = sp_sys(SYS_newfstatat, fd, "", &s, AT_EMPTY_PATH);

	*mode = s.st_mode;
	*owner = s.st_uid;
	return (int)r;
}

/* Root's, too, where root has another number: in a user namespace it has that of the root directory. */
static bool is_trusted(uid_t owner)
{
	struct stat root;

	return owner == 0 || owner == (uid_t)sp_sys(SYS_geteuid) ||
	       (sp_sys(SYS_newfstatat, AT_FDCWD, "/", &root, 0) == 0 && owner == root.st_uid);
}

static bool is_of_proc(int fd)
{
	struct statfs f;

	return sp_sys(SYS_fstatfs, fd, &f) == 0 && f.f_type == PROC_SUPER_MAGIC;
}

/* What the link says goes in front of what is left. */
static int put_before(struct way *w, int link)
{
	size_t n = strlen(w->left) + 1;
	char *rest = w->text + sizeof(w->text) - n;
	long got;

	if (n >= sizeof(w->text))
		return -ENAMETOOLONG;
	memmove(rest, w->left, n);
	if (*rest)
		*--rest = '/';
	got = sp_sys(SYS_readlinkat, link, "", w->text, rest - w->text);
	if (got <= 0 || got == rest - w->text)
		return got < 0 ? (int)got : got ? -ENAMETOOLONG : -ENOENT;
	w->left = memmove(rest - got, w->text, (size_t)got);
	return *w->left == '/' ? enter(w, open_folder(AT_FDCWD, "/", 0)) : 0;
}

/* 0: gone into, or its text is in front of what is left; 1: it is of /proc, and the last; -ENOTDIR: no link. */
static int follow(struct way *w, const char *name)
{
	int fd = (int)sp_sys_whole(SYS_openat, w->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0), r = fd;
	mode_t mode;
	uid_t owner;

	if (r >= 0)
		r = owner_of(fd, &mode, &owner);
	if (r < 0)
		;
	else if (!S_ISLNK(mode))
		r = -ENOTDIR;
	else if (!is_trusted(owner) || ++w->links > LINKS_MOST)
		r = -ELOOP;
	else if (!is_of_proc(fd))
		r = put_before(w, fd);
	else
		r = *w->left ? enter(w, open_folder(w->folder, name, 0)) : 1;
	sp_close(fd);
	return r;
}

static int go_into(struct way *w, const char *name, bool make)
{
	int fd = open_folder(w->folder, name, O_NOFOLLOW);

	if (fd == -ENOENT && make) {
		long r = sp_sys_whole(SYS_mkdirat, w->folder, name, 0777);

		if (r < 0 && r != -EEXIST)
			return (int)r;
		fd = open_folder(w->folder, name, O_NOFOLLOW);
	}
	return fd == -ENOTDIR || fd == -ELOOP ? follow(w, name) : enter(w, fd);
}

/* Cuts the first name off what is left. */
static int next(struct way *w, char name[256])
{
	size_t n;

	w->left += strspn(w->left, "/");
	n = strcspn(w->left, "/");
	if (n >= 256)
		return -ENAMETOOLONG;
	memcpy(name, w->left, n);
	name[n] = 0;
	w->left += n;
	w->left += strspn(w->left, "/");
	return n ? 0 : -EISDIR;
}

static int walk(struct way *w, struct sp_folder *p, enum sp_folder_how how)
{
	int r = 0;

	while (r == 0) {
		r = next(w, p->name);
		if (r == 0 && !*w->left) {
			r = how == SP_FOLDER_AIM ? follow(w, p->name) : 1;
			if (r == 1 && how == SP_FOLDER_AIM)
				p->follow = true;
			if (r == -ENOTDIR)
				r = 1;
		} else if (r == 0) {
			r = go_into(w, p->name, how == SP_FOLDER_MAKE);
		}
	}
	return r < 0 ? r : 0;
}

int sp_folder_open(struct sp_folder *p, const char *path, enum sp_folder_how how)
{
	struct way w;
	int r;

	p->fd = -1;
	p->follow = false;
	w.folder = -1;
	w.links = 0;
	w.left = path;
	r = enter(&w, open_folder(AT_FDCWD, *path == '/' ? "/" : ".", 0));
	if (r == 0)
		r = walk(&w, p, how);
	if (r == 0)
		p->fd = w.folder;
	else
		sp_close(w.folder);
	return r;
}

void sp_folder_close(struct sp_folder *p)
{
	sp_close(p->fd);
	p->fd = -1;
}

const char *sp_folder_why(int error)
{
	return error == -ELOOP ? "a symbolic link of another user, here or on the way, or one that leads to itself" : NULL;
}

int sp_folder_open_special(const char *path, int flags)
{
	struct sp_folder p;
	mode_t mode, folder_mode;
	uid_t owner, folder_owner;
	int fd, r = sp_folder_open(&p, path, SP_FOLDER_AIM);

	if (r < 0)
		return r;
	fd = (int)sp_sys_whole(SYS_openat, p.fd, p.name, flags | O_CLOEXEC | (p.follow ? 0 : O_NOFOLLOW), 0);
	r = fd < 0 ? fd : owner_of(fd, &mode, &owner);
	if (r >= 0 && !p.follow && S_ISFIFO(mode) && !is_trusted(owner) &&
	    (owner_of(p.fd, &folder_mode, &folder_owner) < 0 || folder_owner != owner))
		r = -EPERM;
	sp_folder_close(&p);
	if (r >= 0)
		return fd;
	sp_close(fd);
	return r;
}

/* safe-open.c: opens the folder of a path, part by part; see safe-open.h. */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "conf.h"
#include "safe-open.h"

#define LINKS_MOST 40			/* as in the kernel */

struct path_walk {
	int dir;
	unsigned links;
	/* the rest of the path: in the caller's path, or in `text` after the first link */
	const char *unresolved;
	char text[SP_CONF_PATH];	/* ends with `unresolved` */
};

static int enter(struct path_walk *w, int dir)
{
	if (dir < 0)
		return dir;
	sp_close(w->dir);
	w->dir = dir;
	return 0;
}

static int open_dir(int in, const char *name, int flags)
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

/* Returns whether the owner is the user or root. In a user namespace root has the number of the
 * root directory's owner. */
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

/* Put the target of the link before the rest of the path. */
static int prepend_link(struct path_walk *w, int link)
{
	size_t n = strlen(w->unresolved) + 1;
	char *rest = w->text + sizeof(w->text) - n;
	long got;

	if (n >= sizeof(w->text))
		return -ENAMETOOLONG;
	memmove(rest, w->unresolved, n);
	if (*rest)
		*--rest = '/';
	got = sp_sys(SYS_readlinkat, link, "", w->text, rest - w->text);
	if (got <= 0 || got == rest - w->text)
		return got < 0 ? (int)got : got ? -ENAMETOOLONG : -ENOENT;
	w->unresolved = memmove(rest - got, w->text, (size_t)got);
	return *w->unresolved == '/' ? enter(w, open_dir(AT_FDCWD, "/", 0)) : 0;
}

/* Follow a link. 0: entered a folder, or put its target before the rest of the path; 1: it is the
 * last part and a link of /proc; -ENOTDIR: not a link. */
static int follow(struct path_walk *w, const char *name)
{
	int fd = (int)sp_sys_whole(SYS_openat, w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0),
	    r = fd;
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
		r = prepend_link(w, fd);
	else
		r = *w->unresolved ? enter(w, open_dir(w->dir, name, 0)) : 1;
	sp_close(fd);
	return r;
}

static int go_into(struct path_walk *w, const char *name, bool create)
{
	int fd = open_dir(w->dir, name, O_NOFOLLOW);

	if (fd == -ENOENT && create) {
		long r = sp_sys_whole(SYS_mkdirat, w->dir, name, 0777);

		if (r < 0 && r != -EEXIST)
			return (int)r;
		fd = open_dir(w->dir, name, O_NOFOLLOW);
	}
	return fd == -ENOTDIR || fd == -ELOOP ? follow(w, name) : enter(w, fd);
}

/* Take the first name from the rest of the path. */
static int next(struct path_walk *w, char name[256])
{
	size_t n;

	w->unresolved += strspn(w->unresolved, "/");
	n = strcspn(w->unresolved, "/");
	if (n >= 256)
		return -ENAMETOOLONG;
	memcpy(name, w->unresolved, n);
	name[n] = 0;
	w->unresolved += n;
	w->unresolved += strspn(w->unresolved, "/");
	return n ? 0 : -EISDIR;
}

static int walk(struct path_walk *w, struct sp_parent_dir *p, enum sp_parent_dir_mode mode)
{
	int r = 0;

	while (r == 0) {
		r = next(w, p->name);
		if (r == 0 && !*w->unresolved) {
			r = mode == SP_PARENT_DIR_FOLLOW ? follow(w, p->name) : 1;
			if (r == 1 && mode == SP_PARENT_DIR_FOLLOW)
				p->follow = true;
			if (r == -ENOTDIR)
				r = 1;
		} else if (r == 0) {
			r = go_into(w, p->name, mode == SP_PARENT_DIR_CREATE);
		}
	}
	return r < 0 ? r : 0;
}

int sp_parent_dir_open(struct sp_parent_dir *p, const char *path, enum sp_parent_dir_mode mode)
{
	struct path_walk w;
	int r;

	p->fd = -1;
	p->follow = false;
	w.dir = -1;
	w.links = 0;
	w.unresolved = path;
	r = enter(&w, open_dir(AT_FDCWD, *path == '/' ? "/" : ".", 0));
	if (r == 0)
		r = walk(&w, p, mode);
	if (r == 0)
		p->fd = w.dir;
	else
		sp_close(w.dir);
	return r;
}

void sp_parent_dir_close(struct sp_parent_dir *p)
{
	sp_close(p->fd);
	p->fd = -1;
}

const char *sp_parent_dir_error(int error)
{
	return error == -ELOOP ? "a symbolic link of another user, here or on the way, or one that "
				 "leads to itself"
			       : NULL;
}

int sp_safe_open_special(const char *path, int flags)
{
	struct sp_parent_dir p;
	mode_t mode, dir_mode;
	uid_t owner, dir_owner;
	int fd, r = sp_parent_dir_open(&p, path, SP_PARENT_DIR_FOLLOW);

	if (r < 0)
		return r;
	fd = (int)sp_sys_whole(SYS_openat, p.fd, p.name,
			       flags | O_CLOEXEC | (p.follow ? 0 : O_NOFOLLOW), 0);
	r = fd < 0 ? fd : owner_of(fd, &mode, &owner);
	if (r >= 0 && !p.follow && S_ISFIFO(mode) && !is_trusted(owner) &&
	    (owner_of(p.fd, &dir_mode, &dir_owner) < 0 || dir_owner != owner))
		r = -EPERM;
	sp_parent_dir_close(&p);
	if (r >= 0)
		return fd;
	sp_close(fd);
	return r;
}

/* topology.c: reads the machine with hwloc for `sspapi stat`, in a child, while the program
 * starts. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../../../topo/topo.h"
#include "../../base/sys.h"
#include "probe.h"

typedef int (*load_fn)(struct sp_topo *, const char *, char *, size_t);

/* Head of the child's message; components and XML follow. */
struct head {
	uint32_t n, n_cpus;
	uint64_t xml_bytes;
	char source[PATH_MAX];
};

static void give(int fd, const struct sp_topo *t, const char *source)
{
	struct head h = { .n = t->n, .n_cpus = t->n_cpus, .xml_bytes = t->xml_bytes };

	strncpy(h.source, source, sizeof(h.source) - 1);
	sp_write_all(fd, &h, sizeof(h));
	sp_write_all(fd, t->component, t->n * sizeof(*t->component));
	sp_write_all(fd, t->xml, t->xml_bytes);
}

static void read_machine(int fd, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	load_fn load = library ? (load_fn)dlsym(library, "sp_topo_load") : NULL;
	const char *source = getenv("SSPAPI_TOPOLOGY");
	struct sp_topo t = { 0 };
	char why[300];

	source = source && *source ? source : NULL;
	if (load && source && load(&t, source, why, sizeof(why)) == 0)
		give(fd, &t, source);
	else if (load && load(&t, NULL, why, sizeof(why)) == 0)
		give(fd, &t, "system");
	else if (sp_topo_flat(&t) == 0)
		give(fd, &t, "flat");
}

void sp_stat_topo_begin(struct sp_stat_topo *t, const char *library)
{
	int null;

	t->fd = memfd_create("sspapi-topology", MFD_CLOEXEC);
	fflush(NULL);
	t->pid = t->fd < 0 ? -1 : fork();
	if (t->pid)
		return;
	null = sp_open("/dev/null", O_RDWR, 0);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	signal(SIGINT, SIG_IGN);	/* terminal signals are for the program */
	signal(SIGQUIT, SIG_IGN);
	read_machine(t->fd, library);
	_exit(0);
}

void sp_stat_topo_end(struct sp_stat_topo *t)
{
	const struct head *h;
	struct stat s;

	while (t->pid > 0 && waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
		;
	t->pid = 0;
	if (t->fd < 0 || fstat(t->fd, &s) < 0 || (size_t)s.st_size < sizeof(*h))
		return;
	t->bytes = (uint64_t)s.st_size;
	t->memory = mmap(NULL, t->bytes, PROT_READ, MAP_PRIVATE, t->fd, 0);
	sp_close(t->fd);
	t->fd = -1;
	h = t->memory;
	if (h == MAP_FAILED ||
	    sizeof(*h) + h->n * sizeof(*t->tree.component) + h->xml_bytes != t->bytes)
		return;			/* incomplete */
	t->tree = (struct sp_tree){ .component = (const void *)(h + 1),
				    .n = h->n,
				    .n_cpus = h->n_cpus,
				    .xml_bytes = h->xml_bytes };
	t->tree.xml = (const char *)(t->tree.component + h->n);
	t->source = h->source;
}

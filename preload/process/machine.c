/* machine.c: loads the topology library, and stores the component tree; see machine.h. */
#include <string.h>

#include "../../core/base/conf.h"
#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../../core/store/store.h"
#include "../../topo/topo.h"
#include "../papi/elf.h"
#include "../papi/dlerror.h"
#include "machine.h"
#include "own-libraries.h"
#include "process.h"
#include "diagnostic.h"

#define TOPO_LIBRARY "libsspapi-topo.so"

/* The tree, which a child of fork gets from its parent. The fork may have left any thread inside
 * dlopen or hwloc with a lock taken forever, so the child calls neither. */
static struct sp_topo tree;		/* n is stored last; 0: none */
static const char *tree_source;
static int loading_pid;			/* the process that is loading now; 0: none */

typedef int (*load_fn)(struct sp_topo *, const char *, char *, size_t);

static void store_tree(const struct sp_topo *t, const char *source)
{
	struct sp_lock_state h;

	sp_lock_take(&sp_store.lock, &h);
	sp_store_topology(&sp_store, t->component, t->n, t->n_cpus, source, t->xml, t->xml_bytes);
	sp_lock_give(&sp_store.lock, &h);
}

/* Notes the fallback. Reasons that are normal in a container are not printed. */
static void note_fallback(void (*note)(const char *), const char *source, const char *why,
		     const char *instead)
{
	char line[SP_CONF_PATH + 400];

	line[0] = 0;
	if (source)
		strcat(strcat(strcat(line, "SSPAPI_TOPOLOGY: '"), source), "': ");
	strncat(line, why, 300);
	strcat(line, instead);
	note(line);
}

static void load_flat(void)
{
	struct sp_topo t;

	if (sp_topo_flat(&t) == 0) {
		store_tree(&t, "flat");
		sp_topo_free(&t);
	}
}

static bool load_with(load_fn load, const char *source)
{
	char why[300] = "";
	struct sp_topo t;
	int r = load(&t, source, why, sizeof(why));

	if (r < 0) {
		note_fallback(r == -ENODATA ? sp_process_note_quiet : sp_process_note, source,
			 *why ? why : sp_diag_error(r),
			 source ? "; using this machine's" : "; using a flat list of CPUs");
		return false;
	}
	tree_source = source ? source : "system";
	tree.n_cpus = t.n_cpus;
	tree.component = t.component;
	tree.xml = t.xml;
	tree.xml_bytes = t.xml_bytes;
	store_release(&tree.n, t.n);
	store_tree(&tree, tree_source);
	return true;
}

/* True: there is nothing to load. */
static bool use_parents_tree(void)
{
	int pid = (int)sp_sys(SYS_getpid),
	    loading = __atomic_exchange_n(&loading_pid, pid, __ATOMIC_ACQ_REL);

	if (load_acquire(&tree.n)) {
		store_release(&loading_pid, 0);
		store_tree(&tree, tree_source);
		return true;
	}
	if (!loading || loading == pid)
		return false;
	store_release(&loading_pid, 0);
	sp_process_note_quiet(
		"this process was forked while its parent read the machine's topology; "
		"using a flat list of CPUs");
	load_flat();
	return true;
}

struct topo_library {
	void *handle;
	load_fn load;			/* NULL: not found */
	struct sp_pending_error pending;
};

static void open_topo(struct topo_library *l)
{
	sp_dlerror_keep(&l->pending);
	l->handle = sp_own_library_open(TOPO_LIBRARY);
	l->load = l->handle ? (load_fn)sp_real_dlsym(l->handle, "sp_topo_load") : NULL;
}

/* Unloads it: an application that opens libhwloc later would otherwise get ours, with another
 * malloc and environment. */
static void close_topo(struct topo_library *l)
{
	if (l->handle)
		sp_own_library_close(l->handle);
	sp_dlerror_back(&l->pending);
}

int sp_machine_read(struct sp_topo *t, const char *source)
{
	struct topo_library l;
	char why[300] = "";
	int r;

	open_topo(&l);
	r = l.load ? l.load(t, source, why, sizeof(why)) : -ELIBACC;
	close_topo(&l);
	return r < 0 && !source ? sp_topo_flat(t) : r;
}

void sp_machine_load(void)
{
	const char *source = *sp_conf.topology ? sp_conf.topology : NULL;
	struct topo_library l;

	if (!sp_process.counting || use_parents_tree())
		return;
	open_topo(&l);
	if (!l.load) {
		note_fallback(sp_process_note, NULL, TOPO_LIBRARY " or libhwloc cannot be loaded",
			 "; using a flat list of CPUs");
		load_flat();
	} else if (!load_with(l.load, source) && (!source || !load_with(l.load, NULL))) {
		load_flat();
	}
	close_topo(&l);
	store_release(&loading_pid, 0);
}

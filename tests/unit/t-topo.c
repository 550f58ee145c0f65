/* t-topo.c: topo.h: machines we do not own, files that are none, and what a load leaves behind.
 *
 * Linked with topo-hwloc.o, topo-check.o, topo-read.o, topo-flat.o, core/base/sys.o, hwloc: as
 * the sspapi command is.  What is particular to libsspapi-topo.so is in t-topo-dso.c.
 * Runs in the root of the repository (or $SP_TESTS names its tests/).
 */
#include "test.h"

#include <dirent.h>
#include <limits.h>
#include <locale.h>
#include <sched.h>

#include "../../topo/topo.h"
#include "../../topo/topo-inside.h"

static char scratch[] = "/tmp/t-topo.XXXXXX";
static char why[256];
static struct sp_topo t;

static const char *temporary(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static const char *write_file(const char *name, const char *bytes, size_t n)
{
	const char *path = temporary(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

static size_t change(char *b, size_t n, size_t at, size_t out, const char *in, size_t bytes)
{
	memmove(b + at + bytes, b + at + out, n - at - out);
	memcpy(b + at, in, bytes);
	return n - out + bytes;
}

/* Files that are none: one that is, of which one word is another; or it ends there (to: NULL). */
static const struct {
	const char *name, *of, *from, *to;
} edits[] = {
	{ "truncated.xml", "hybrid.xml", "gp_index=\"6\"", NULL },
	{ "malformed.xml", "hybrid.xml", "</object>", "</objekt>" },
	{ "same-gp-index.xml", "hybrid.xml", "gp_index=\"4\"", "gp_index=\"7\"" },
	{ "newer.xml", "disallowed.xml", "version=\"2.0\"", "version=\"9.0\"" },
	{ "hwloc3.xml", "disallowed.xml", "version=\"2.0\"", "version=\"3.0\"" },
	{ "v2-numa-root.xml", "disallowed.xml", "\"Machine\"", "\"NUMANode\"" },
	{ "no-nodeset.xml", "v1-numa-root.xml",
	  " nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"", "" },
	{ "same-cpu.xml", "disallowed.xml",
	  "os_index=\"3\" cpuset=\"0x00000008\" complete_cpuset=\"0x00000008\"",
	  "os_index=\"2\" cpuset=\"0x00000004\" complete_cpuset=\"0x00000004\"" },
	{ "cpu-70000.xml", "disallowed.xml", "os_index=\"3\"", "os_index=\"70000\"" },
	{ "info.xml", "disallowed.xml", "</topology>", "<info/></topology>" },
	{ "assertion.xml", "no-numa.xml", "\"PU\" os_index=\"1\"", "\"MemCache\" os_index=\"1\"" },
};

static const char *data(const char *name);

static const char *edited(size_t i)
{
	static char b[65536];
	FILE *f = fopen(data(edits[i].of), "r");
	size_t n = f ? fread(b, 1, 16384, f) : 0, from = strlen(edits[i].from);
	char *at = memmem(b, n, edits[i].from, from);

	assert_non_null(at);
	fclose(f);
	if (edits[i].to)
		n = change(b, n, (size_t)(at - b), from, edits[i].to, strlen(edits[i].to));
	else
		n = (size_t)(at - b);
	return write_file(edits[i].name, b, n);
}

static const char *data(const char *name)
{
	static char path[PATH_MAX];
	const char *tests = getenv("SP_TESTS");

	for (size_t i = 0; i < SP_COUNT(edits); i++)
		if (!strcmp(edits[i].name, name))
			return edited(i);
	snprintf(path, sizeof(path), "%s/topo/%s", tests ? tests : "tests", name);
	return path;
}

static int load(const char *source)
{
	memset(why, '?', sizeof(why));
	return sp_topo_load(&t, source, why, sizeof(why));
}

static bool in_xml(const struct sp_component *c)
{
	char gp[40], *at, *line;
	const char *type;
	size_t n = (size_t)snprintf(gp, sizeof(gp), " gp_index=\"%llu\"",
				    (unsigned long long)c->gp_index);

	if (!strcmp(c->type, "GPU") && c->gp_index > UINT64_MAX - SP_TOPO_GPUS)
		return true;		/* this machine's: in no XML of hwloc's */
	at = memmem(t.xml, t.xml_bytes, gp, n);
	if (!at)
		return false;
	for (line = at; line > t.xml && *line != '\n';)
		line--;
	/* "L3" is written type="L3Cache", "L1d" "L1Cache", "Group0" "Group", "GPU" "PCIDev" */
	type = strcmp(c->type, "GPU") ? c->type : "PCIDev";
	return !strncmp(line + strspn(line, "\n "), "<object type=\"", 14) &&
	       !strncmp(line + strspn(line, "\n ") + 14, type,
			*type == 'L'   ? 2
			: *type == 'G' ? 5
				       : strlen(type));
}

/* What must hold of any tree; 0, or the number of the line that does not. */
static int broken(void)
{
	static uint8_t seen[65536];
	uint32_t highest = 0, pus = 0;

	memset(seen, 0, sizeof(seen));
	if (!t.n || t.n > 65536 || t.component[0].parent != -1 || t.component[0].depth)
		return __LINE__;
	for (uint32_t i = 0; i < t.n; i++) {
		const struct sp_component *c = &t.component[i];
		bool pu = !strcmp(c->type, "PU");

		if (!c->type[0] || strnlen(c->name, sizeof(c->name)) == sizeof(c->name))
			return __LINE__;
		if (i && (c->parent < 0 || (uint32_t)c->parent >= i ||
			  c->depth <= t.component[c->parent].depth))
			return __LINE__;
		if (i && (t.component[c->parent].flags & SP_COMPONENT_MEMORY))
			return __LINE__;	/* they have no children */
		if (!!(c->flags & SP_COMPONENT_MEMORY) !=
		    (!strcmp(c->type, "NUMANode") || !strcmp(c->type, "MemCache")))
			return __LINE__;
		if (pu && (c->os_index < 0 || c->os_index > 65535 || seen[c->os_index]++))
			return __LINE__;
		if (pu && ++pus && (uint32_t)c->os_index + 1 > highest)
			highest = (uint32_t)c->os_index + 1;
		if (t.xml && t.n < 4096 && !in_xml(c))
			return __LINE__;
	}
	if (t.xml && (strlen(t.xml) != t.xml_bytes || !strstr(t.xml, "</topology>")))
		return __LINE__;
	return pus && highest == t.n_cpus ? 0 : __LINE__;
}

static void loads(const char *source)
{
	int r = load(source);

	if (r || *why)
		print_error("%s: %d, %s\n", source ? source : "this machine", r, why);
	assert_int_equal(r, 0);
	assert_string_equal(why, "");
	assert_int_equal(broken(), 0);
}

static unsigned number_of(const char *type)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t.n; i++)
		n += !strcmp(t.component[i].type, type);
	return n;
}

static const struct sp_component *find(const char *type, int os_index)
{
	for (uint32_t i = 0; i < t.n; i++)
		if (!strcmp(t.component[i].type, type) && t.component[i].os_index == os_index)
			return &t.component[i];
	fail_msg("no %s %d", type, os_index);
	return NULL;
}

/* ---- machines ---------------------------------------------------------- */

static void this_machine(void **state)
{
	loads(NULL);
	assert_string_equal(t.component[0].type, "Machine");
	assert_int_equal(number_of("PU"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(number_of("NUMANode") >= 1);
	sp_topo_free(&t);
	assert_null(t.component);
	assert_null(t.xml);
	sp_topo_free(&t);
}

static const struct sp_component *find_gpu(enum sp_vendor vendor, int number)
{
	for (uint32_t i = 0; i < t.n; i++)
		if (!strcmp(t.component[i].type, "GPU") && t.component[i].os_index == number &&
		    t.component[i].flags >> SP_COMPONENT_VENDOR_SHIFT == vendor)
			return &t.component[i];
	fail_msg("no GPU %d of vendor %d", number, vendor);
	return NULL;
}

/* Of a file by hwloc, of this machine by its files in /sys and /proc, of which a test has its
 * own. */
static void gpus(void **state)
{
	const char *was = sp_topo_root, *tests = getenv("SP_TESTS");
	char root[PATH_MAX];
	unsigned own, all;

	loads(data("gpus.xml"));
	assert_int_equal(number_of("GPU"), 3);
	assert_int_equal(find_gpu(SP_VENDOR_NVIDIA, 0)->parent, find("Package", 0) - t.component);
	assert_int_equal(find_gpu(SP_VENDOR_NVIDIA, 1)->parent, find("Package", 1) - t.component);
	assert_string_equal(find_gpu(SP_VENDOR_AMD, 0)->name, "MI210");
	sp_topo_free(&t);

	sp_topo_root = "/none";
	loads(NULL);
	own = t.n;
	assert_int_equal(number_of("GPU"), 0);
	sp_topo_free(&t);
	snprintf(root, sizeof(root), "%s/topo/root", tests ? tests : "tests");
	sp_topo_root = root;
	loads(NULL);
	sp_topo_root = was;
	all = t.n;
	assert_int_equal(number_of("GPU"), 3);
	assert_int_equal(all, own + 3);
	assert_string_equal(find_gpu(SP_VENDOR_NVIDIA, 0)->name, "NVIDIA H100 PCIe");
	assert_string_equal(find_gpu(SP_VENDOR_NVIDIA, 1)->name, "10de:2330");
	assert_string_equal(find_gpu(SP_VENDOR_AMD, 0)->name, "AMD Instinct MI210");
	sp_topo_free(&t);
}

static void hybrid(void **state)
{
	loads(data("hybrid.xml"));
	assert_int_equal(number_of("PU"), 12);
	assert_int_equal(t.n_cpus, 15);
	assert_string_equal(t.component[0].name, "Example & Sons 9000");
	assert_string_equal(find("Package", 0)->name, "Example(R) Hybrid CPU @ 3.00GHz");
	assert_int_equal(find("Package", 0)->cpu_kind, -1);
	assert_int_equal(find("PU", 0)->cpu_kind, 1);
	assert_int_equal(find("PU", 14)->cpu_kind, 0);
	assert_int_equal(find("Core", 0)->cpu_kind, 1);
	assert_int_equal(find("Core", 7)->cpu_kind, 0);
	assert_int_equal(find("L3", -1)->size, 25165824);
	assert_int_equal(find("NUMANode", 0)->size, 17179869184);
	sp_topo_free(&t);
}

static void alder_lake(void **state)
{
	loads(data("alder.xml"));
	assert_int_equal(find("PU", 7)->cpu_kind, 1);
	assert_int_equal(find("PU", 8)->cpu_kind, 0);
	sp_topo_free(&t);
	loads(data("holes.xml"));
	for (uint32_t i = 0; i < t.n; i++)
		assert_int_equal(t.component[i].cpu_kind, -1);
	sp_topo_free(&t);
}

static void put_pmu(const char *name, const char *cpus)
{
	char path[100];

	snprintf(path, sizeof(path), "pmus/%s", name);
	mkdir(temporary(path), 0700);
	snprintf(path, sizeof(path), "pmus/%s/type", name);
	write_file(path, "8\n", 2);
	snprintf(path, sizeof(path), "pmus/%s/cpus", name);
	write_file(path, cpus, strlen(cpus));
}

static const char *remove_pmus(void)
{
	static char command[PATH_MAX + 10];

	snprintf(command, sizeof(command), "rm -r %s/pmus", scratch);
	return command;
}

/* Two PMUs of cores are two kinds, whatever hwloc knows: of a machine whose cores are alike to
 * it. */
static void kinds_by_pmu(void **state)
{
	char *dir = strdup(temporary("pmus")), rest[32];
	const char *was = sp_topo_pmus;
	bool differ;

	loads(NULL);
	differ = find("PU", 0)->cpu_kind >= 0;
	snprintf(rest, sizeof(rest), "1-%u\n", t.n_cpus - 1);
	sp_topo_free(&t);
	if (differ || !strcmp(rest, "1-0\n")) {
		free(dir);
		skip();
	}
	mkdir(dir, 0700);
	put_pmu("armv8_cortex_a53", "0\n");
	sp_topo_pmus = dir;
	loads(NULL);
	assert_int_equal(find("PU", 0)->cpu_kind, -1);		/* one is no kinds */
	sp_topo_free(&t);
	put_pmu("armv8_cortex_a72", rest);
	loads(NULL);
	sp_topo_pmus = was;
	free(dir);
	assert_int_equal(system(remove_pmus()), 0);
	assert_true(find("PU", 0)->cpu_kind >= 0 && find("PU", 1)->cpu_kind >= 0);
	assert_int_not_equal(find("PU", 0)->cpu_kind, find("PU", 1)->cpu_kind);
	sp_topo_free(&t);
}

/* A memory child stands before its normal siblings, under the same parent. */
static void memory_children(void **state)
{
	uint32_t i = 2;

	loads(data("memcache.xml"));
	assert_string_equal(t.component[i].type, "MemCache");
	assert_int_equal(t.component[i].size, 536870912);
	assert_int_equal(t.component[i].depth, 2);
	assert_string_equal(t.component[i + 1].type, "NUMANode");
	assert_int_equal(t.component[i + 1].parent, t.component[i].parent);
	assert_int_equal(t.component[i + 1].depth, 3);
	assert_string_equal(t.component[i + 2].type, "Core");
	assert_int_equal(t.component[i + 2].depth, 2);
	sp_topo_free(&t);
	loads(data("cpuless-numa.xml"));
	assert_int_equal(number_of("NUMANode"), 3);
	sp_topo_free(&t);
}

static void large(void **state)
{
	loads("synthetic:pack:2 die:2 numa:2 l3:2 core:8 pu:2");
	assert_int_equal(number_of("PU"), 256);
	assert_int_equal(number_of("NUMANode"), 8);
	assert_int_equal(number_of("Package"), 2);
	assert_int_equal(number_of("Die"), 4);
	assert_int_equal(number_of("L3"), 16);
	assert_int_equal(find("PU", 255)->logical_index, 255);
	sp_topo_free(&t);
	loads("synthetic:pack:8 l3:16 l2:8 l1d:1 core:1 pu:2");
	assert_int_equal(t.n_cpus, 2048);
	sp_topo_free(&t);
	loads("synthetic:pu:2048");
	sp_topo_free(&t);
}

static void numbers_with_holes(void **state)
{
	loads(data("holes.xml"));
	assert_int_equal(number_of("PU"), 8);
	assert_int_equal(t.n_cpus, 8192);
	assert_int_equal(find("PU", 900)->parent, find("Core", 1) - t.component);
	sp_topo_free(&t);
}

static void disallowed(void **state)
{
	loads(data("disallowed.xml"));
	for (int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(find("PU", cpu)->flags, cpu & 1 ? SP_COMPONENT_DISALLOWED : 0);
	sp_topo_free(&t);
}

static void old_files(void **state)
{
	loads(data("v1-numa.xml"));
	assert_int_equal(number_of("NUMANode"), 2);
	assert_int_equal(number_of("PU"), 8);
	assert_int_equal(number_of("Package"), 2);
	sp_topo_free(&t);
	loads(data("v1-no-numa.xml"));
	assert_int_equal(number_of("PU"), 4);
	sp_topo_free(&t);
	loads(data("v1-numa-root.xml"));
	assert_string_equal(t.component[0].type, "Machine");
	assert_int_equal(find("NUMANode", 0)->parent, 0);
	assert_int_equal(number_of("PU"), 2);
	sp_topo_free(&t);
}

/* The hwloc view puts counts into this XML by gp_index: read again, it is the same machine. */
static void its_own_xml(void **state)
{
	static const char *const sources[] = { "hybrid.xml", "memcache.xml", "v1-numa.xml",
					       "holes.xml" };
	struct sp_topo first;

	for (size_t i = 0; i < SP_COUNT(sources); i++) {
		loads(data(sources[i]));
		first = t;
		loads(write_file("again.xml", first.xml, first.xml_bytes));
		assert_int_equal(t.n, first.n);
		assert_memory_equal(t.component, first.component, t.n * sizeof(*t.component));
		sp_topo_free(&t);
		sp_topo_free(&first);
	}
}

static void flat(void **state)
{
	struct sp_topo hwloc;

	loads(NULL);
	hwloc = t;
	assert_int_equal(sp_topo_flat(&t), 0);
	assert_int_equal(broken(), 0);
	assert_int_equal(t.n_cpus, hwloc.n_cpus);
	assert_int_equal(t.n, 1 + sysconf(_SC_NPROCESSORS_ONLN));
	assert_null(t.xml);
	sp_topo_free(&t);
	sp_topo_free(&hwloc);
}

/* ---- what is none ------------------------------------------------------ */

static void refuses(const char *source, int error, const char *word)
{
	int r = load(source);

	if (r != -error || !strstr(why, word))
		print_error("%s: %d, %s; not %d, %s\n", source, r, why, -error, word);
	assert_int_equal(r, -error);
	assert_non_null(strstr(why, word));
	assert_null(strchr(why, '\n'));
	assert_null(strstr(why, "/topo"));
	assert_null(t.component);
	assert_null(t.xml);
	assert_int_equal(t.n, 0);
}

static void bad_files(void **state)
{
	refuses(data("truncated.xml"), EINVAL,
		"as hwloc writes it; make one with: lstopo machine.xml");
	refuses(data("malformed.xml"), EINVAL,
		"that hwloc can read; make one with: lstopo machine.xml");
	refuses(data("lstopo-text.xml"), EINVAL, "as hwloc writes it");
	refuses(data("other.xml"), EINVAL, "as hwloc writes it");
	refuses(data("newer.xml"), EINVAL, "as hwloc writes it");
	refuses(data("hwloc3.xml"), EINVAL, "written by hwloc 3; this is hwloc 2.");
	refuses(data("v2-numa-root.xml"), EINVAL, "as hwloc writes it");
	refuses(data("no-nodeset.xml"), EINVAL, "as hwloc writes it");
	refuses(data("no-numa.xml"), EINVAL, "without CPUs or memory");
	refuses(data("assertion.xml"), EINVAL, "without CPUs or memory");
	refuses(data("pu-root.xml"), EINVAL, "as hwloc writes it");
	refuses(data("info.xml"), EINVAL, "as hwloc writes it");
	refuses(data("same-cpu.xml"), EINVAL, "two CPUs of one number");
	refuses(data("same-gp-index.xml"), EINVAL, "gp_index");
	refuses(data("cpu-70000.xml"), E2BIG, "above 65535");
	refuses("synthetic:", EINVAL, "description");
	refuses("synthetic:nonsense", EINVAL, "description");
	refuses("synthetic:pack:4 core:200 pu:200", E2BIG, "8192 objects");
	refuses("synthetic:pu:99999999999999999999", E2BIG, "2048 objects");
	/* hwloc would need 20 s, and 8 s */
	refuses("synthetic:pack:8 core:1024 pu:2", E2BIG, "8192 objects");
	refuses("synthetic:pu:8190", E2BIG, "2048 objects");
	refuses("synthetic:pu:2(indexes=0,4294967294)", E2BIG, "above 65535");
	refuses("synthetic:core:3(indexes=core:pu) pu:2", EINVAL, "indexes");
}

static void not_files(void **state)
{
	refuses(temporary("none.xml"), ENOENT, "no such file");
	refuses("", ENOENT, "no such file");
	refuses(scratch, EISDIR, "folder");
	refuses("/dev/zero", EINVAL, "not a regular file");
	refuses(write_file("empty.xml", "", 0), EINVAL, "empty");
	refuses(write_file("nul.xml", "<?xml \0", 7), EINVAL, "as hwloc writes it");
	assert_int_equal(mkfifo(temporary("fifo"), 0600), 0);
	refuses(temporary("fifo"), EINVAL, "not a regular file");
	if (geteuid()) {
		chmod(write_file("secret.xml", "x", 1), 0);
		refuses(temporary("secret.xml"), EACCES, "may not read");
	}
}

static void no_room_for_why(void **state)
{
	char one[1] = { 'x' };

	assert_int_equal(sp_topo_load(&t, "/none", NULL, 0), -ENOENT);
	assert_int_equal(sp_topo_load(&t, "/none", one, 1), -ENOENT);
	assert_int_equal(one[0], 0);
}

#define HEAD \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n" \
	"<topology version=\"2.0\">\n"
#define SETS	" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
#define ROOT	"<object type=\"Machine\" os_index=\"0\"" SETS " gp_index=\"1\">\n"
#define GROUP	"<object type=\"Group\"" SETS ">\n"
#define MISC	"<object type=\"Misc\"/>\n"

static const char *repeat(const char *before, const char *what, unsigned n, const char *after)
{
	FILE *f = fopen(temporary("hostile.xml"), "w");

	assert_non_null(f);
	fputs(before, f);
	while (n--)
		fputs(what, f);
	fputs(after, f);
	fclose(f);
	return temporary("hostile.xml");
}

static void hostile(void **state)
{
	int fd = open(temporary("huge.xml"), O_RDWR | O_CREAT, 0600);

	assert_int_equal(ftruncate(fd, (64l << 20) + 1), 0);
	close(fd);
	refuses(temporary("huge.xml"), EFBIG, "64 MiB");
	refuses(repeat(HEAD ROOT, GROUP, 300, "</topology>\n"), E2BIG, "deep");
	refuses(repeat(HEAD ROOT, GROUP, 500000, "</topology>\n"), E2BIG, "deep");
	refuses(repeat(HEAD ROOT, MISC, 8192, "</object></topology>\n"), E2BIG, "8192 objects");
	refuses(repeat(HEAD "<object type=\"Machine\" complete_cpuset=\"0x1\" cpuset=\"0x1", ",",
		       3000000, "\"></object></topology>\n"),
		EINVAL, "as hwloc writes it");
	refuses(repeat(HEAD ROOT "<info name=\"x\" value=\"", "<object>", 10, "\"/></topology>\n"),
		EINVAL, "as hwloc writes it");
	refuses(repeat(HEAD, "<", 1000000, "</topology>\n"), EINVAL, "as hwloc writes it");
}

/* ---- what stays as it was ---------------------------------------------- */

struct surroundings {
	char fds[4096], cwd[PATH_MAX];
	cpu_set_t cpus;
	sigset_t mask;
	char **environment;
	uint64_t hash;			/* of its strings */
	locale_t locale;
	char global_locale[256];
	int cancel, error;
};

static void look_around(struct surroundings *s)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	memset(s, 0, sizeof(*s));
	while ((e = readdir(d)))
		if (strlen(s->fds) < sizeof(s->fds) - 20)
			sprintf(s->fds + strlen(s->fds), "%.10s ", e->d_name);
	closedir(d);
	assert_non_null(getcwd(s->cwd, sizeof(s->cwd)));
	sched_getaffinity(0, sizeof(s->cpus), &s->cpus);
	pthread_sigmask(SIG_BLOCK, NULL, &s->mask);
	s->environment = environ;
	for (char **v = environ; *v; v++)
		for (const char *c = *v; *c; c++)
			s->hash = s->hash * 31 + (unsigned char)*c;
	s->locale = uselocale((locale_t)0);
	snprintf(s->global_locale, sizeof(s->global_locale), "%s", setlocale(LC_ALL, NULL));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &s->cancel);
	pthread_setcancelstate(s->cancel, NULL);
	s->error = errno;
}

static void leaves_no_trace(void **state)
{
	const char *const sources[] = { NULL,		"hybrid.xml",  "v1-numa.xml",
					"same-cpu.xml", "no-numa.xml", "malformed.xml",
					"none" };
	struct surroundings before, after;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (size_t i = 0; i < SP_COUNT(sources); i++) {
		errno = 0;
		look_around(&before);
		errno = EXDEV;
		load(sources[i] ? data(sources[i]) : NULL);
		assert_int_equal(errno, EXDEV);
		errno = 0;
		look_around(&after);
		assert_memory_equal(&before, &after, sizeof(before));
		sp_topo_free(&t);
	}
	memset(&one, 0xff, sizeof(one));
	sched_setaffinity(0, sizeof(one), &one);
}

static void *load_small(void *result)
{
	struct sp_topo mine;
	char mine_why[100];

	*(int *)result = sp_topo_load(&mine, NULL, mine_why, sizeof(mine_why));
	sp_topo_free(&mine);
	return NULL;
}

/* A thread that is cancelled meanwhile ends where the application would have, not in here. */
static void thread_with_a_small_stack(void **state)
{
	pthread_attr_t a;
	pthread_t thread;
	int r = 1;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	assert_int_equal(pthread_create(&thread, &a, load_small, &r), 0);
	pthread_join(thread, NULL);
	assert_int_equal(r, 0);
}

static void *load_cancelled(void *result)
{
	pthread_cancel(pthread_self());
	load_small(result);
	pthread_testcancel();
	*(int *)result = 2;
	return NULL;
}

static void cancelled_thread(void **state)
{
	pthread_t thread;
	void *end;
	int r = 1;

	assert_int_equal(pthread_create(&thread, NULL, load_cancelled, &r), 0);
	pthread_join(thread, &end);
	assert_ptr_equal(end, PTHREAD_CANCELED);
	assert_int_equal(r, 0);
}

/* ---- variants ---------------------------------------------------------- */

static uint64_t dice;

static unsigned roll(size_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice % n);
}

/* Values of attributes, mostly: what is cut off or unbalanced never comes as far as hwloc. */
static size_t mutate(char *b, size_t n)
{
	static const char *const values[] = { "0",
					      "1",
					      "4294967295",
					      "-1",
					      "18446744073709551615",
					      "0x0",
					      "0xf...f",
					      "0x00000001",
					      "0xffffffff,0xffffffff",
					      "0x80000000,,,,",
					      "",
					      "PU",
					      "NUMANode",
					      "Machine",
					      "Misc",
					      "Group",
					      "L3Cache",
					      "Bridge",
					      "MemCache",
					      "Die",
					      "Cache",
					      "NaN",
					      "1e999" };
	size_t at = roll(n), end, m;
	char line[1024], *quote;
	const char *value = values[roll(SP_COUNT(values))];

	switch (roll(8)) {
	case 0:
		b[at] ^= (char)(1 << roll(8));
		return n;
	case 1:
		m = roll(60);
		return at + m < n ? change(b, n, at, m, "", 0) : n;
	case 2:				/* a line again, elsewhere, or gone */
	case 3:
		for (; at && b[at - 1] != '\n';)
			at--;
		end = at + strcspn(b + at, "\n");
		m = end < n ? end + 1 - at : 0;
		if (m > sizeof(line))
			return n;
		memcpy(line, b + at, m);
		n = change(b, n, at, m, "", 0);
		for (at = roll(n); at && b[at - 1] != '\n';)
			at--;
		return roll(2) ? change(b, n, at, 0, line, m) : n;
	}
	quote = memchr(b + at, '"', n - at);
	if (!quote || quote[-1] != '=')
		return n;
	end = strcspn(quote + 1, "\"");
	return change(b, n, (size_t)(quote + 1 - b), end, value, strlen(value));
}

static void one_variant(unsigned i)
{
	static const char *const seeds[] = { "hybrid.xml",	 "memcache.xml",
					     "v1-numa.xml",	 "v1-no-numa.xml",
					     "v1-numa-root.xml", "cpuless-numa.xml",
					     "disallowed.xml",	 "holes.xml" };
	static char b[65536];
	FILE *f = fopen(data(seeds[i % SP_COUNT(seeds)]), "r");
	size_t n = f ? fread(b, 1, 16384, f) : 0;

	if (!n)
		_exit(3);
	fclose(f);
	dice = (i + 1) * 0x9e3779b97f4a7c15u;
	for (unsigned k = 1 + roll(3); k; k--) {
		n = mutate(b, n);
		b[n] = 0;
	}
	f = fopen(temporary("variant.xml"), "w");
	if (!f || fwrite(b, 1, n, f) != n || fclose(f))
		_exit(3);
	if (!load(temporary("variant.xml"))) {
		int line = broken();

		if (line)
			fprintf(stderr, "variant %u: broken at line %d\n", i, line);
		if (line)
			_exit(4);
		sp_topo_free(&t);
	}
}

/* Each may be refused; none may crash, hang, print, or come out as half a tree.
 * SP_VARIANTS: how many (2000). */
static void variants(void **state)
{
	const char *printed = temporary("printed");
	int fd = open(printed, O_RDWR | O_CREAT | O_TRUNC, 0600), status;
	unsigned n = getenv("SP_VARIANTS") ? (unsigned)atoi(getenv("SP_VARIANTS")) : 2000;
	unsigned *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct stat s;

	fflush(stdout);
	while (*at < n) {
		pid_t child = fork();

		if (!child) {
			for (int number = 1; number < 32; number++)
				signal(number, SIG_DFL);	/* cmocka's would go on with the
								 * next test in here */
			dup2(fd, 2);
			alarm(200);
			for (unsigned k = 0; k < 100; k++)
				one_variant((*at)++);
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (status && !rename(temporary("variant.xml"), "/tmp/t-topo-variant.xml"))
			print_error("status %x, variant %u, see /tmp/t-topo-variant.xml\n",
				    (unsigned)status, *at - 1);
		assert_int_equal(status, 0);
	}
	munmap(at, 4096);
	assert_int_equal(fstat(fd, &s), 0);
	assert_int_equal(s.st_size, 0);
	close(fd);
}

/* ------------------------------------------------------------------------ */

static int setup(void **state)
{
	setenv("HWLOC_HIDE_ERRORS", "2", 1);	/* in the DSO topo-getenv.c sees to it */
	return mkdtemp(scratch) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = { "again.xml", "empty.xml",	"nul.xml",
					     "fifo",	  "secret.xml", "hostile.xml",
					     "huge.xml",  "printed",	"variant.xml" };

	for (size_t i = 0; i < SP_COUNT(names); i++)
		unlink(temporary(names[i]));
	for (size_t i = 0; i < SP_COUNT(edits); i++)
		unlink(temporary(edits[i].name));
	return rmdir(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine),
		cmocka_unit_test(gpus),
		cmocka_unit_test(hybrid),
		cmocka_unit_test(alder_lake),
		cmocka_unit_test(kinds_by_pmu),
		cmocka_unit_test(memory_children),
		cmocka_unit_test(large),
		cmocka_unit_test(numbers_with_holes),
		cmocka_unit_test(disallowed),
		cmocka_unit_test(old_files),
		cmocka_unit_test(its_own_xml),
		cmocka_unit_test(flat),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(not_files),
		cmocka_unit_test(no_room_for_why),
		cmocka_unit_test(hostile),
		cmocka_unit_test(leaves_no_trace),
		cmocka_unit_test(thread_with_a_small_stack),
		cmocka_unit_test(cancelled_thread),
		cmocka_unit_test(variants),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

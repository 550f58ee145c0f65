/* t-quota.c: control groups' mounts, a process's groups and their quotas (core/cli/stat/stat-cgroups.h), on folders as the kernel has them. */
#include "test.h"

#include "../../core/cli/stat/stat-cgroups.h"
#include "folder.h"

static struct sp_cgroup_mount mount;
static struct sp_quota quota;
static char text[600];

static const char *file(const char *name)
{
	static char path[2][100];
	static unsigned turn;

	snprintf(path[turn ^= 1], sizeof(path[0]), "%s/%s", folder, name);
	return path[turn];
}

/* A mount as /proc/self/mountinfo tells it; point in our folder. */
static void mounted(const char *lines)
{
	char all[2000], *to = all;

	for (; *lines; lines++)
		to += *lines == '@' ? sprintf(to, "%s", folder) : sprintf(to, "%c", *lines);
	put("mounts", all);
}

#define V1 "30 29 0:26 / @/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
#define V2 "31 29 0:27 / @/unified rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void test_mounts(void **state)
{
	mounted("29 1 0:25 / /sys rw shared:2 - sysfs sysfs rw\n" V1 V2);
	assert_true(sp_cgroup_mounted(&mount, file("mounts"), "cpu"));
	assert_false(mount.v2);
	assert_string_equal(mount.point, file("cpu,cpuacct"));
	assert_true(sp_cgroup_mounted(&mount, file("mounts"), NULL));
	assert_true(mount.v2);
	assert_string_equal(mount.point, file("unified"));
	assert_string_equal(mount.root, "/");
	assert_false(sp_cgroup_mounted(&mount, file("mounts"), "perf_event"));
	assert_false(sp_cgroup_mounted(&mount, file("none"), NULL));
	/* a controller whose name begins like another's; blanks in a path */
	mounted("30 29 0:26 / @/a rw - cgroup cgroup rw,cpuset\n31 29 0:26 /x\\040y @/b\\134c rw - cgroup cgroup rw,cpu\n");
	assert_true(sp_cgroup_mounted(&mount, file("mounts"), "cpu"));
	assert_string_equal(mount.point, file("b\\c"));
	assert_string_equal(mount.root, "/x y");
	/* lines that make no sense */
	mounted("30 29 - cgroup2 x rw\n - cgroup2\n\n- - -\n30 29 0:1 / @/z rw - cgroup2\n");
	assert_true(sp_cgroup_mounted(&mount, file("mounts"), NULL));
	assert_string_equal(mount.point, file("z"));
}

static void test_long_path(void **state)
{
	FILE *f;

	put("mounts", "");
	f = fopen(file("mounts"), "w");
	assert_non_null(f);
	fputs("30 29 0:1 / /", f);
	for (int i = 0; i < PATH_MAX; i++)
		fputc('a', f);
	fputs(" rw - cgroup2 cgroup2 rw\n", f);
	assert_int_equal(fclose(f), 0);
	assert_false(sp_cgroup_mounted(&mount, file("mounts"), NULL));
}

static void test_groups(void **state)
{
	char path[PATH_MAX];

	put("groups", "9:cpuset:/set\n4:cpuacct,cpu:/one/two\n1:name=systemd:/s\n0::/three\n");
	assert_true(sp_cgroup_of(file("groups"), "cpu", path));
	assert_string_equal(path, "/one/two");
	assert_true(sp_cgroup_of(file("groups"), NULL, path));
	assert_string_equal(path, "/three");
	assert_false(sp_cgroup_of(file("groups"), "memory", path));
	put("groups", "nothing\n:\n0:\n10::/x\n");
	assert_false(sp_cgroup_of(file("groups"), NULL, path));
}

static void test_folders(void **state)
{
	char path[PATH_MAX];

	mount = (struct sp_cgroup_mount){ .point = "/mnt", .root = "/" };
	assert_true(sp_cgroup_folder(&mount, "/a/b", path));
	assert_string_equal(path, "/mnt/a/b");
	assert_true(sp_cgroup_folder(&mount, "/", path));
	assert_string_equal(path, "/mnt");
	assert_false(sp_cgroup_folder(&mount, "/../outside", path));
	assert_true(sp_cgroup_folder(&mount, "/..inside", path));
	/* a container that sees its own group alone, and is told its path on the host */
	strcpy(mount.root, "/docker/1");
	assert_true(sp_cgroup_folder(&mount, "/docker/1/a", path));
	assert_string_equal(path, "/mnt/a");
	assert_true(sp_cgroup_folder(&mount, "/docker/1", path));
	assert_string_equal(path, "/mnt");
	assert_false(sp_cgroup_folder(&mount, "/docker/12", path));
}

static const char *line(uint32_t i)
{
	return sp_quota_text(&quota, i, text, sizeof(text)) ? text : "nothing";
}

static void test_v2(void **state)
{
	mounted(V2);
	put("groups", "0::/a/b\n");
	put("unified/cpu.stat", "usage_usec 5\n");
	put("unified/a/cpu.max", "max 100000\n");
	put("unified/a/b/cpu.max", "150000 100000\n");
	put("unified/a/b/cpu.stat", "usage_usec 9\nnr_periods 10\nnr_throttled 2\nthrottled_usec 500\n");
	sp_quota_begin(&quota, file("mounts"), file("groups"));
	assert_int_equal(quota.n, 1);
	sp_quota_end(&quota);
	assert_string_equal(line(0), "control group /a/b allows 1.50 CPUs (cpu.max); it was not throttled meanwhile");
	assert_string_equal(line(1), "nothing");
	sp_quota_begin(&quota, file("mounts"), file("groups"));
	put("unified/a/b/cpu.stat", "usage_usec 9\nnr_periods 31\nnr_throttled 5\nthrottled_usec 120500\n");
	sp_quota_end(&quota);
	assert_string_equal(line(0), "control group /a/b allows 1.50 CPUs (cpu.max); it was throttled meanwhile in 3 of 21 periods, "
			    "120.0 ms added up over its CPUs");
	/* by its path; no quota, no line */
	sp_quota_begin_of(&quota, file("mounts"), "/a/b");
	assert_int_equal(quota.n, 1);
	sp_quota_begin_of(&quota, file("mounts"), "/a");
	assert_int_equal(quota.n, 0);
	sp_quota_begin_of(&quota, file("mounts"), "/none");
	assert_int_equal(quota.n, 0);
}

/* The tightest is told, others where they were throttled: here the container's own. */
static void test_parents(void **state)
{
	mounted("31 29 0:27 /docker/1 @/unified rw - cgroup2 cgroup2 rw\n");
	put("groups", "0::/docker/1/b\n");
	put("unified/cpu.max", "200000 100000");
	put("unified/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_usec 500\n");
	put("unified/b/cpu.max", "50000 100000");
	put("unified/b/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_usec 500\n");
	sp_quota_begin(&quota, file("mounts"), file("groups"));
	assert_int_equal(quota.n, 2);
	put("unified/cpu.stat", "nr_periods 14\nnr_throttled 3\nthrottled_usec 1500\n");
	sp_quota_end(&quota);
	assert_string_equal(line(0), "control group /b allows 0.50 CPUs (cpu.max); it was not throttled meanwhile");
	assert_string_equal(line(1), "control group / allows 2.00 CPUs (cpu.max); it was throttled meanwhile in 1 of 4 periods, 1.0 ms added up over its CPUs");
}

static void test_v1(void **state)
{
	mounted(V2 V1);
	put("groups", "4:cpu,cpuacct:/a\n0::/\n");
	put("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	put("cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n");
	put("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
	put("cpu,cpuacct/a/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 1000\nnr_bursts 0\n");
	sp_quota_begin(&quota, file("mounts"), file("groups"));
	put("cpu,cpuacct/a/cpu.stat", "nr_periods 14\nnr_throttled 6\nthrottled_time 2501000\nnr_bursts 0\n");
	sp_quota_end(&quota);
	assert_int_equal(quota.n, 1);
	assert_string_equal(line(0), "control group /a allows 0.20 CPUs (cpu.cfs_quota_us); it was throttled meanwhile in 4 of 4 periods, "
			    "2.5 ms added up over its CPUs");
}

/* What a stranger may have put there. */
static void test_strange(void **state)
{
	static const char *const none[] = { "", "max", "x 100000", "0 100000", "-5 100000", "100000", "100000 0", "100000 -7", "max 100000 7" };
	struct sp_quota_level l;
	char *much = malloc(100000);

	assert_non_null(much);
	for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++) {
		put("cpu.max", none[i]);
		assert_false(sp_quota_read(&l, folder, true));
	}
	put("cpu.max", "100000 100000");
	put("cpu.stat", "nr_throttled");
	assert_true(sp_quota_read(&l, folder, true));
	assert_false(l.known);
	memset(much, '7', 99999);
	much[99999] = 0;
	put("cpu.max", much);
	assert_false(sp_quota_read(&l, folder, true));
	put("cpu.max", "100000 100000");
	put("cpu.stat", much);
	assert_true(sp_quota_read(&l, folder, true));
	assert_false(l.known);
	/* a count that went backwards is not known */
	mounted(V2);
	put("unified/cpu.max", "50000 100000");
	put("unified/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_usec 500\n");
	sp_quota_begin_of(&quota, file("mounts"), "/");
	put("unified/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n");
	sp_quota_end(&quota);
	assert_string_equal(line(0), "control group / allows 0.50 CPUs (cpu.max)");
	free(much);
}

/* A path of more groups than are kept. */
static void test_deep(void **state)
{
	char path[200] = "", name[300];

	mounted(V2);
	for (int i = 0; i < 20; i++) {
		strcat(path, "/d");
		snprintf(name, sizeof(name), "unified%s/cpu.max", path);
		put(name, "50000 100000");
	}
	sp_quota_begin_of(&quota, file("mounts"), path);
	assert_int_equal(quota.n, SP_QUOTA_LEVELS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh_folder, folder_gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mounts), TEST(test_long_path), TEST(test_groups), TEST(test_folders), TEST(test_v2), TEST(test_parents), TEST(test_v1),
		TEST(test_strange), TEST(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* cmd-run.c: `sspapi run`, which sets the environment and execs the program; no process stays in
 * between. */
#include "../../base/output.h"
#include "../../formats/format-writer.h"
#include "../probe/probe.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "../tool/other-tools.h"
#include "../tool/output-file.h"

#define ROWS_MOST 64u

/* ---- LD_PRELOAD -------------------------------------------------------- */

/* Prepends our library to those that are preloaded already. */
static void preload(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	size_t n = strlen(path);
	char *both;

	if (old && strncmp(old, path, n) == 0 && (!old[n] || old[n] == ':' || old[n] == ' '))
		return;			/* inside another run */
	if (old && *old && asprintf(&both, "%s:%s", path, old) > 0)
		setenv("LD_PRELOAD", both, 1);
	else
		setenv("LD_PRELOAD", path, 1);
}

/* Removes what another run may have added. */
static void leave_out(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	size_t n = strlen(path);

	if (!old || strncmp(old, path, n) != 0)
		return;
	if (!old[n])
		unsetenv("LD_PRELOAD");
	else if (old[n] == ':' || old[n] == ' ')
		setenv("LD_PRELOAD", old + n + 1, 1);
}

/* ---- options ----------------------------------------------------------------- */

struct options {
	const char *verb;
	bool set[ROWS_MOST];		/* by an option: an invalid value is a usage error, not a
					 * warning */
	bool format;			/* the format was given */
	const char *output;		/* of -o; NULL: not given */
	bool wrong;
};

static unsigned row_named(const char *name, size_t n)
{
	unsigned i = 0;

	while (i < sp_conf_n_rows &&
	       (strncmp(sp_conf_rows[i].name, name, n) != 0 || sp_conf_rows[i].name[n]))
		i++;
	return i;
}

static void set(struct options *o, const char *name, const char *value)
{
	unsigned row = row_named(name, strlen(name));

	if (row < ROWS_MOST)
		o->set[row] = true;
	if (strcmp(name, "SSPAPI_FORMAT") == 0)
		o->format = true;
	if (strcmp(name, "SSPAPI_OUTPUT") == 0 && !o->format &&
	    (strcmp(value, "-") == 0 || sp_format_writer_by_extension(value)))
		unsetenv("SSPAPI_FORMAT");	/* -o x.json implies JSON; - is for people */
	setenv(name, value, 1);
}

static bool set_pair(struct options *o, const char *pair)
{
	char *name = strdup(pair), *equals = name ? strchr(name, '=') : NULL;

	if (!equals || equals == name) {
		free(name);
		return false;
	}
	*equals = 0;
	set(o, name, equals + 1);
	free(name);
	return true;
}

static bool read_options(struct options *o, int argc, char **argv)
{
	int c;

	/* "+": options after the program are its own. */
	while ((c = sp_option(argc, argv, "+o:f:e:", NULL, NULL)) != -1) {
		if (c == 'o')
			set(o, "SSPAPI_OUTPUT", o->output = optarg);
		else if (c == 'f')
			set(o, "SSPAPI_FORMAT", optarg);
		else if (c != 'e')
			return false;
		else if (!set_pair(o, optarg))
			return !sp_complain(2, o->verb,
					    strchr(optarg, ':') || strncmp(optarg, "PAPI_", 5) == 0
						    ? "-e sets a variable; the program selects "
						      "its events (sspapi stat -e does for any)"
						    : "-e takes NAME=VALUE",
					    optarg);
	}
	return !sp_check_output_format(o->verb, 2, o->output,
				       o->format ? getenv("SSPAPI_FORMAT") : NULL);
}

/* Returns a requested format that only the command can make, from a store; NULL: none. */
static const struct sp_format *made_format(void)
{
	const char *output = getenv("SSPAPI_OUTPUT"), *p = getenv("SSPAPI_FORMAT");
	const struct sp_format *format = output ? sp_format_by_extension(output) : NULL;

	if (format && !(format->can & SP_CAN_IN_PROCESS))
		return format;
	return p ? sp_format_among(p, SP_CAN_IN_PROCESS, 0) : NULL;
}

static int refuse_made(const char *verb, const struct sp_format *format)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "needs a store: use -o FILE.sspapi here, then sspapi report -o FILE%s FILE.sspapi",
		 format->extension);
	return sp_complain(2, verb, text, format->name);
}

static void bad_value(const char *line, void *arg)
{
	struct options *o = arg;
	unsigned row = row_named(line, strcspn(line, ":"));
	char *text;

	if (row >= ROWS_MOST || !o->set[row])
		return;			/* from the environment: the library reports it and uses
					 * another value */
	o->wrong = true;
	/* Cut the text at the ;, after which it names the replacement, unless it suggests a
	 * variable: here nothing is replaced. */
	text = sp_check_alloc(
		strndup(line, row == sp_conf_n_rows ? strlen(line) : strcspn(line, ";")));
	sp_complain(0, o->verb, text, NULL);
	free(text);
}

/* ---- checks before the start ------------------------------------------- */

/* Programs that start others, perhaps without importing exec. */
static bool is_launcher(const char *path)
{
	static const char *const names[] = {
		"mpirun",	 "mpiexec", "mpiexec.hydra", "mpiexec.openmpi", "mpirun.openmpi",
		"mpiexec.mpich", "orterun", "prun",	     "prterun",		"srun",
		"aprun",	 "jsrun",   "flux"
	};
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	for (unsigned i = 0; i < SP_COUNT(names); i++)
		if (strcmp(base, names[i]) == 0)
			return true;
	return false;
}

/* Returns why the program cannot be counted, or may not be; NULL: no reason. */
static const char *find_obstacle(const struct sp_program *p, const char *name, long verbose)
{
	if (p->kind == SP_PROGRAM_FOREIGN)
		return "built for another word size or machine than libsspapi: it is not counted";
	if (p->kind == SP_PROGRAM_STATIC)
		return "statically linked: nothing can be preloaded into it; it is not counted";
	if (p->set_id_other)
		return "set-user-ID or privileged: nothing can be preloaded into it; it is not "
		       "counted";
	if (p->set_id)
		return "set-user-ID: it is counted only if its owner runs it";
	if (*p->loader)
		return "built for another C library (PT_INTERP names its loader): it is not "
		       "counted; to count it anyway, use sspapi stat";
	if (p->static_papi && !*p->papi)
		return "libpapi is linked into it statically: its PAPI calls cannot be intercepted";
	if (!p->names_papi && !p->unread &&
	    ((!p->loads_or_starts && !is_launcher(name)) || verbose > 1))
		return "does not use PAPI: it neither links nor names libpapi; to count it "
		       "anyway, use sspapi stat";
	return NULL;
}

/* Writes the dump's name, or its template if the dumps are those of child processes. */
static int name_dump(char *to, size_t room, const struct sp_conf *conf, const struct sp_program *p,
		     const char *template)
{
	/* report shows it, if requested */
	const struct sp_format *store = sp_format_among(conf->format, SP_CAN_READ, SP_CAN_READ);
	const char *formats = store ? store->name : conf->format;
	const struct sp_format_writer *format =
		sp_format_writer_by_name(formats, strcspn(formats, ","));
	char host[65] = "", dir[SP_CONF_PATH], real[PATH_MAX], name[SP_CONF_PATH];
	struct sp_output_vars who = { .host = host,
			      .job = sp_conf_job(),
			      .step = sp_conf_step(),
			      .dir = dir,
			      .rank = sp_conf_rank(),
			      .pid = (int)getpid(),
			      .program = basename(p->path) };
	int r = 0;

	gethostname(host, sizeof(host) - 1);
	if (!getcwd(dir, sizeof(dir)))
		return -errno;
	if (realpath(p->path, real))
		who.program = basename(real);
	if (template)
		snprintf(name, sizeof(name), "%s", template);
	else
		r = sp_output_expand(name, sizeof(name), conf->output, &who);
	if (r == 0 && format && (strchr(conf->format, ',') || !conf->output_set))
		r = sp_output_name_for(to, room, name, format);
	else
		snprintf(to, room, "%s", name);
	if (r == 0 && strncmp(to, dir, strlen(dir)) == 0 && to[strlen(dir)] == '/')
		memmove(to, to + strlen(dir) + 1, strlen(to + strlen(dir)));	/* relative, as a
										 * user here
										 * would name it */
	return r;
}

/* Requests a message from the library at this process's exit if there is no dump. path: that of its
 * children's dumps; NULL: its own. */
static void expect_dump(bool file, const char *path)
{
	char name[sizeof(SP_PROMISED)] = "", pid[2 * SP_CONF_PATH], dir[SP_CONF_PATH] = "";

	memcpy(name, SP_PROMISED, strcspn(SP_PROMISED, "="));
	if (path && *path != '/' && !getcwd(dir, sizeof(dir)))
		return;
	snprintf(pid, sizeof(pid), "%d%s%s%s", (int)getpid(), path ? ":" : "", dir,
		 !path ? "" : *dir ? "/" : "");
	if (path)
		strncat(pid, path, sizeof(pid) - strlen(pid) - 1);
	if (file)
		setenv(name, pid, 1);
	else
		unsetenv(name);
}

/* Would sspapi report without a name find it? Stores in this folder, or one level below. */
static bool is_found(const struct sp_conf *conf, const char *path)
{
	const struct sp_format *by = sp_format_by_extension(path);

	return sp_format_among(*conf->format || !by || strchr(path, '/') ? conf->format : by->name,
			       SP_CAN_READ, SP_CAN_READ);
}

/* Names the folder of a launcher's ranks after the program that it starts. False: no argument is a
 * program, or a batch system will number the step. */
static bool name_folder(char *to, size_t room, char *const *argv)
{
	const char *base = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

	if (sp_conf_job() || strcmp(base, "srun") == 0)
		return false;
	while (*++argv && !sp_is_program(*argv))
		;
	if (!*argv)
		return false;
	base = strrchr(*argv, '/') ? strrchr(*argv, '/') + 1 : *argv;
	return (size_t)snprintf(to, room, "sspapi.%s.0.0/", base) < room;
}

/* Report where the counts go; in a job, which may have thousands of ranks, from rank 0 only. */
static void report_where(const char *verb, const struct sp_conf *conf, const struct sp_program *p,
			 char *const *argv)
{
	bool ranks = is_launcher(argv[0]),
	     for_children = ranks || *p->script || (!p->names_papi && p->loads_or_starts);
	const char *template =
		for_children ? ranks && !conf->output_set ? sp_conf_rank_output : conf->output
			     : NULL;
	char path[SP_CONF_PATH];

	if (sp_conf_rank() > 0 || strcmp(conf->output, "-") == 0 ||
	    name_dump(path, sizeof(path), conf, p, template) < 0)
		return;
	if (!conf->output_set && sp_conf_ranks() > 1 && strrchr(path, '/'))
		strrchr(path, '/')[1] = 0;	/* the folder of all ranks */
	if (ranks && !conf->output_set && !name_folder(path, sizeof(path), argv))
		snprintf(path, sizeof(path), "%s", template);
	/* Children's names may differ by %p or %n; the ranks may run on other hosts. */
	expect_dump(!for_children || (!ranks && !strchr(path, '%')), for_children ? path : NULL);
	sp_message(verb, "counts go to %s%s%s", path,
		   ranks    ? ", of each rank"
		   : for_children ? ", of each process"
			    : "",
		   is_found(conf, path) ? "; sspapi report shows them" : "");
}

static void report_program(const char *verb, char *const *argv, const struct sp_conf *conf,
			   const struct sp_program *p)
{
	const char *why = find_obstacle(p, argv[0], conf->verbose);

	if (why)
		sp_complain(0, verb, why, *p->script ? p->path : argv[0]);
	else
		report_where(verb, conf, p, argv);
}

/* ---- the verb ------------------------------------------------------------------- */

int sp_cmd_run(int argc, char **argv)
{
	const char *lib = sp_cli_library("libsspapi.so"), *output = getenv("SSPAPI_OUTPUT");
	struct options o = { .verb = argv[0] };
	static struct sp_program program;
	static struct sp_conf conf;
	bool known;

	if (!output || !*output || !sp_format_writer_by_extension(output))
		setenv("SSPAPI_FORMAT", "store", 0);
	if (!read_options(&o, argc, argv))
		return 2;
	if (made_format())
		return refuse_made(argv[0], made_format());
	sp_conf_capture(environ);
	sp_conf_read(&conf, bad_value, &o);
	if (o.wrong)
		return 2;
	if (optind >= argc)
		return sp_complain(2, argv[0], "name the program to run", NULL);
	if (access(lib, R_OK) != 0)
		return sp_complain(1, argv[0],
				   "libsspapi.so is neither in this command's folder nor "
				   "installed",
				   lib);
	if (strpbrk(lib, " :"))
		return sp_complain(1, argv[0],
				   "the loader cannot preload from a path with a space or colon",
				   lib);
	expect_dump(false, NULL);		/* another run may have set it */
	/* if not, execvp will report why it cannot be run */
	known = sp_program_inspect(&program, argv[optind]) == 0;
	if (known && !conf.disable && conf.verbose > 0)
		report_program(argv[0], argv + optind, &conf, &program);
	leave_out(lib);
	lib = sp_glibc_name(lib);
	if (known && *program.loader)
		leave_out(lib);
	else
		preload(lib);
	sp_program_precede_asan();
	execvp(argv[optind], argv + optind);
	return sp_not_started(argv[0], argv[optind], errno);
}

/* output-part.c: can the dump be written? */
#include <stdio.h>
#include <stdlib.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "doctor.h"

/* Cuts path down to its last existing folder: 0 or -errno. */
static int find_nearest_dir(char *path)
{
	struct stat s;
	char *slash;

	while ((slash = strrchr(path, '/')) != NULL) {
		slash[slash == path] = 0;
		if (stat(path, &s) == 0)
			return S_ISDIR(s.st_mode) ? 0 : -ENOTDIR;
		if (errno != ENOENT || slash == path)
			break;
	}
	return -errno;
}

/* Modes are not enough (/proc, a full or read-only file system): creates a file and removes it. */
static int try_dir(const char *dir)
{
	char name[SP_CONF_PATH + 32];
	struct sp_parent_dir seen;
	int r;

	snprintf(name, sizeof(name), "%s/.sspapi-doctor.XXXXXX", dir);
	r = sp_parent_dir_open(&seen, name, SP_PARENT_DIR_EXISTING);
	if (r < 0)
		return r;
	sp_parent_dir_close(&seen);
	return mkdtemp(name) && rmdir(name) == 0 ? 0 : -errno;
}

/* Expands the path as the process would; the pid is unknown, without a program also the name. */
static int expand(const struct sp_doctor *d, const struct sp_conf *conf, char path[SP_CONF_PATH])
{
	const char *program = d->name ? d->name : "program";
	char host[65] = "", dir[SP_CONF_PATH];
	struct sp_output_vars who = { .host = host,
			      .job = sp_conf_job(),
			      .step = sp_conf_step(),
			      .dir = dir,
			      .rank = sp_conf_rank(),
			      .pid = (int)getpid() };

	gethostname(host, sizeof(host) - 1);
	if (!getcwd(dir, sizeof(dir)))
		return -errno;
	if (strcmp(dir, "/") == 0)
		*dir = 0;
	who.program = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	return sp_output_expand(path, SP_CONF_PATH, conf->output, &who);
}

void sp_doctor_output(struct sp_doctor *d, const struct sp_conf *conf)
{
	char path[SP_CONF_PATH] = "", dir[SP_CONF_PATH];
	int r;

	if (conf->disable || strcmp(conf->output, "-") == 0)
		return;
	r = expand(d, conf, path);
	strcpy(dir, path);
	if (r == 0 && sp_output_is_special(path))
		r = access(path, W_OK) < 0 ? -errno : 0;
	else if (r == 0 && (r = find_nearest_dir(dir)) == 0)
		r = try_dir(dir);
	if (r == 0) {
		sp_doctor_report(d, SP_GOOD, "dumps can be written: %s", conf->output);
		return;
	}
	sp_doctor_report(d, SP_BLOCKING, "no dump can be written to %s (%s)%s",
			 r == -ENAMETOOLONG ? conf->output : path,
			 sp_parent_dir_error(r) ?: strerror(-r),
			 conf->output_set ? ", from SSPAPI_OUTPUT" : "; SSPAPI_OUTPUT is not set");
	sp_doctor_fix(d, "use sspapi run -o /a/folder/%%e.%%p.sspapi ..., or set SSPAPI_OUTPUT "
			 "to a file that you may write");
}

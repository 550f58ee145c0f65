/* output-part.c: where the dump is to go: can it be written there? */
#include <stdio.h>
#include <stdlib.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "doctor.h"

/* Cuts path down to the last folder of it that is there: 0, or -errno. */
static int nearest_folder(char *path)
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

/* Modes do not tell it all (/proc, a file system that is full or read-only): something is made, and taken away. */
static int try_folder(const char *folder)
{
	char name[SP_CONF_PATH + 32];
	struct sp_folder seen;
	int r;

	snprintf(name, sizeof(name), "%s/.sspapi-doctor.XXXXXX", folder);
	r = sp_folder_open(&seen, name, SP_FOLDER_THERE);
	if (r < 0)
		return r;
	sp_folder_close(&seen);
	return mkdtemp(name) && rmdir(name) == 0 ? 0 : -errno;
}

/* As the process would name it; its pid and, without a program, its name are not known yet. */
static int expand(const struct sp_doctor *d, const struct sp_conf *conf, char path[SP_CONF_PATH])
{
	const char *program = d->name ? d->name : "program";
	char host[65] = "", folder[SP_CONF_PATH];
	struct sp_who who = { .host = host, .job = sp_conf_job(), .step = sp_conf_step(), .folder = folder, .rank = sp_conf_rank(), .pid = (int)getpid() };

	gethostname(host, sizeof(host) - 1);
	if (!getcwd(folder, sizeof(folder)))
		return -errno;
	if (strcmp(folder, "/") == 0)
		*folder = 0;
	who.program = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	return sp_output_expand(path, SP_CONF_PATH, conf->output, &who);
}

void sp_doctor_output(struct sp_doctor *d, const struct sp_conf *conf)
{
	char path[SP_CONF_PATH] = "", folder[SP_CONF_PATH];
	int r;

	if (conf->disable || strcmp(conf->output, "-") == 0)
		return;
	r = expand(d, conf, path);
	strcpy(folder, path);
	if (r == 0 && sp_output_is_special(path))
		r = access(path, W_OK) < 0 ? -errno : 0;
	else if (r == 0 && (r = nearest_folder(folder)) == 0)
		r = try_folder(folder);
	if (r == 0) {
		sp_doctor_say(d, SP_GOOD, "dumps can be written: %s", conf->output);
		return;
	}
	sp_doctor_say(d, SP_IN_THE_WAY, "no dump can be written to %s (%s)%s", r == -ENAMETOOLONG ? conf->output : path, sp_folder_why(r) ?: strerror(-r),
		      conf->output_set ? ", which SSPAPI_OUTPUT says" : ", and SSPAPI_OUTPUT is not set");
	sp_doctor_mend(d, "sspapi run -o /a/folder/%%e.%%p.sspapi ..., or SSPAPI_OUTPUT to a file where you may write");
}

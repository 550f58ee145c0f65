/* live-files.c: see live-files.h. */
#include "../../base/output.h"
#include "../../formats/format-writer.h"
#include "../tool/cmd.h"
#include "live-files.h"

int sp_live_files(sp_live_found found, void *arg)
{
	DIR *d = opendir(SP_LIVE_DIR);
	struct dirent *e;
	char host[65] = "", path[PATH_MAX];

	if (!d)
		return -errno;
	gethostname(host, sizeof(host) - 1);
	while ((e = readdir(d)) != NULL) {
		struct sp_file f;
		struct stat s;
		int error;

		snprintf(path, sizeof(path), SP_LIVE_DIR "/%s", e->d_name);
		if (!sp_is_live_file(path) || lstat(path, &s) < 0 || s.st_uid != geteuid() ||
		    !S_ISREG(s.st_mode))
			continue;
		error = sp_file_load(&f, path);
		if (error == 0 && !sp_may_run(&f.model.h, &f.reader))
			found(arg, path, &f, 0);
		/* (a file that is gone by now belongs to a process that has just ended) */
		else if (error < 0 && sp_live_name_is_dead(path, host) && lstat(path, &s) == 0)
			found(arg, path, NULL, error);
		if (error == 0)
			sp_file_close(&f);
	}
	closedir(d);
	return 0;
}

/* Make an absolute path without links in its folders, or copy it if a folder does not exist. */
static void resolve(const char *path, char to[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	char *dir = sp_check_alloc(slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".")),
	     *real = realpath(dir, NULL);

	if (real)
		snprintf(to, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			 slash ? slash + 1 : path);
	else
		snprintf(to, PATH_MAX, "%s", path);
	free(real);
	free(dir);
}

bool sp_is_below_here(const char *path)
{
	char real[PATH_MAX], here[PATH_MAX];
	size_t n;

	if (!realpath(".", here))
		return false;
	resolve(path, real);
	n = strlen(here);
	return strncmp(real, here, n) == 0 && (n == 1 || real[n] == '/');
}

bool sp_live_writes(const struct sp_model *m, const char *path)
{
	const char *output = sp_model_text(m, m->h.output);
	const char *formats = sp_model_text(m, m->h.format);
	char name[SP_CONF_PATH + 16], wanted[PATH_MAX], real[PATH_MAX];
	bool several = strchr(formats, ',');

	resolve(path, wanted);
	resolve(output, real);
	if (*output != '/' || !several)
		return *output == '/' && strcmp(real, wanted) == 0;
	for (const char *p = formats; *p; p += strcspn(p, ","), p += *p == ',') {
		const struct sp_format_writer *v = sp_format_writer_by_name(p, strcspn(p, ","));

		if (v && sp_output_name_for(name, sizeof(name), real, v) == 0 &&
		    strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

struct search {
	const char *path;
	char *live;
	uint64_t start_ns;
	bool any;
};

static void compare(void *search, const char *path, struct sp_file *f, int error)
{
	struct search *s = search;

	(void)error;
	if (!f || !sp_live_writes(&f->model, s->path) ||
	    (s->any && f->model.h.process.start_ns < s->start_ns))
		return;
	s->any = true;
	s->start_ns = f->model.h.process.start_ns;
	snprintf(s->live, PATH_MAX, "%s", path);
}

bool sp_live_find(const char *path, char live[PATH_MAX])
{
	struct search s = { .path = path, .live = live };

	return sp_live_files(compare, &s) == 0 && s.any;
}

/* findings.c: prints the findings of the doctor's parts, also from children. */
#include "../../formats/format-text-words.h"
#include "../probe/subprocess.h"
#include "../tool/cmd.h"
#include "doctor.h"

#define SOFTWARE '!'			/* from a child: not a finding but sp_doctor_software() */

const char *sp_doctor_line(const char *path, char *text, size_t room)
{
	if (sp_read_file(path, text, room) < 0)
		*text = 0;
	text[strcspn(text, "\n")] = 0;
	return text;
}

static void show(struct sp_doctor *d, char kind, const char *text)
{
	char *plain = sp_plain(text), line[8192];	/* contains file names and settings */
	unsigned indent = kind == '>' ? 11 : 7;
	struct sp_out o;
	static const struct {
		char kind;
		const char *word, *colour;
	} marks[] = { { '0', "ok   ", "\033[32m" },
		      { '1', "note ", "\033[33m" },
		      { '2', "BAD  ", "\033[1;31m" },
		      { '3', "-    ", "" } };

	d->worth += kind == '1';
	d->n_blocking += kind == '2';
	for (unsigned i = 0; i < SP_COUNT(marks); i++)
		if (marks[i].kind == kind)
			printf("  %s%s%s", d->colour ? marks[i].colour : "", marks[i].word,
			       d->colour ? "\033[0m" : "");
	if (kind == '>')
		fputs("       do: ", stdout);
	sp_memory_init(&o, line, sizeof(line));
	sp_paragraph(&o, &"           "[11 - indent], indent, plain);
	fputs(sp_memory_text(&o) + indent, stdout);
	free(plain);
}

static void write_finding(struct sp_doctor *d, char kind, const char *format, va_list more)
{
	char text[1500] = { kind };
	size_t n;

	vsnprintf(text + 1, sizeof(text) - 2, format, more);
	if (d->to < 0) {
		show(d, kind, text + 1);
		return;
	}
	for (char *p = text + 1; *p; p++)
		if (*p == '\n')
			*p = ' ';
	n = strlen(text);
	text[n++] = '\n';
	sp_write_all(d->to, text, n);
}

void sp_doctor_report(struct sp_doctor *d, enum sp_finding f, const char *format, ...)
{
	va_list more;

	va_start(more, format);
	write_finding(d, (char)('0' + f), format, more);
	va_end(more);
}

void sp_doctor_fix(struct sp_doctor *d, const char *format, ...)
{
	va_list more;

	va_start(more, format);
	write_finding(d, '>', format, more);
	va_end(more);
}

void sp_doctor_head(struct sp_doctor *d, const char *title)
{
	char *plain = sp_plain(title);

	printf("%s%s%s\n", d->colour ? "\033[1m" : "", plain, d->colour ? "\033[0m" : "");
	free(plain);
}

struct child_part {
	struct sp_doctor *d;
	void (*part)(struct sp_doctor *, void *);
	void *arg;
};

static void in_child(void *child_part, int to)
{
	struct child_part *a = child_part;

	a->d->to = to;
	a->part(a->d, a->arg);
}

static void relay(void *doctor, char *line)
{
	struct sp_doctor *d = doctor;

	if (*line == SOFTWARE)
		d->software = true;
	else
		show(d, *line, line + 1);
}

void sp_doctor_software(struct sp_doctor *d)
{
	static const char line[] = { SOFTWARE, '\n' };

	sp_write_all(d->to, line, sizeof(line));
}

void sp_doctor_run_in_child(struct sp_doctor *d, const char *what,
			    void (*part)(struct sp_doctor *, void *), void *arg)
{
	struct child_part a = { d, part, arg };
	const char *how = sp_run_in_child(in_child, &a, relay, d);

	if (how)
		sp_doctor_report(d, SP_BLOCKING, "%s %s", what, how);
}

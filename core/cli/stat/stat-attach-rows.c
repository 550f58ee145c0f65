/* stat-attach-rows.c: rows of threads that ran before sspapi. The counters of such a thread
 * include the counts of its later children. Its row is the difference, if each child has a row;
 * otherwise these threads are counted together. */
#include "stat-attach-common.h"

/* Find the thread whose counters the thread inherited; NULL: unknown. */
static struct sp_stat_row *find_owner(struct sp_stat_who *w, struct sp_stat_row *row)
{
	for (uint32_t i = 0; row && !row->was_running && i < w->n; i++)
		row = row->parent_tid ? sp_stat_find_gathered(w, row->parent_pid, row->parent_tid)
				      : NULL;
	return row && row->was_running ? row : NULL;
}

/* Return whether native events were opened for the task. If its parent lacked task events when
 * it forked, only these were opened for it; its counts are then in its parent's row. */
static bool has_natives(const struct sp_stat_run *r, const struct sp_task *t)
{
	bool any = false;

	for (uint32_t v = 0; t->fd && v < r->c.n_cpus * r->c.n; v++)
		any = any || t->fd[v] >= 0;
	return any;
}

static void add_found(struct sp_stat_run *r, const struct sp_fork_track *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct sp_task *t = b->task[i];
		struct sp_stat_row *row;

		if (!has_natives(r, t))
			continue;
		row = sp_stat_add_row(&r->c, &r->who, t->pid, t->tid);
		row->was_running = true;
		row->start_ns = r->child.start_ns;
		memcpy(row->name, t->name, sizeof(row->name));
	}
}

/* Set parent and command line of the processes, as read when their counters were opened. */
static void add_processes(struct sp_stat_run *r, const struct sp_fork_track *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct sp_task *t = b->task[i];
		struct sp_stat_process *p = t->fd ? sp_stat_process(&r->who, t->pid) : NULL;

		if (!p)
			continue;
		p->ppid = t->ppid;
		p->start_ns = r->child.start_ns;
		if (t->args_bytes)
			sp_stat_set_args(p, t->args, t->args_bytes);
	}
}

/* Set each row's parent to its nearest ancestor that has a row. A task event does not report
 * threads that started before it was opened. A thread that ended before its counters had rings
 * has no row; without the search, its children's counts would also remain in the grandparent's
 * row. */
static void add_parents(struct sp_stat_run *r, const struct sp_fork_track *b)
{
	for (uint32_t i = 0; i < r->who.n; i++) {
		struct sp_stat_row *row = &r->who.row[i];
		const struct sp_task *t = sp_fork_track_find(b, row->tid);

		if (t && !*row->name)
			memcpy(row->name, t->name, sizeof(row->name));
		if (!row->parent_tid && t)
			row->parent_tid = t->parent;
		for (uint32_t n = 0; n < b->n && row->parent_tid; n++) {
			t = sp_fork_track_find(b, row->parent_tid);
			row->parent_pid = t ? t->pid : row->parent_pid;
			if (!t || sp_stat_find_gathered(&r->who, row->parent_pid, row->parent_tid))
				break;
			row->parent_tid = t->parent;
		}
	}
}

/* Mark threads that ended before the counters were enabled. Earlier records of the task rings
 * only show parents. */
static void mark_ended_before(struct sp_stat_run *r, uint64_t from_ns)
{
	for (uint32_t i = 0; i < r->who.n; i++) {
		struct sp_stat_row *row = &r->who.row[i];

		if (row->end_ns && row->end_ns < from_ns) {
			row->ended_before = true;
			row->has_read = row->was_running;	/* false: counted nothing */
		}
	}
}

static void set_counts(struct sp_stat_run *r, const struct sp_fork_track *b)
{
	uint32_t values = r->c.n_cpus * r->c.n;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct sp_task *t = b->task[i];
		struct sp_stat_row *row =
			has_natives(r, t) ? sp_stat_find_gathered(&r->who, t->pid, t->tid) : NULL;

		if (!row)
			continue;
		/* Drop records of a later thread that got the same number. */
		memset(row->counts, 0, values * sizeof(*row->counts));
		row->has_read = r->c.has_rows && !r->who.lost;
		for (uint32_t v = 0; v < values && row->has_read; v++)
			row->counts[v] = t->at ? t->at[v] : 0;
	}
}

static bool is_negative(const struct sp_stat_run *r, const struct sp_stat_row *row)
{
	for (uint32_t v = 0; v < r->c.n_cpus * r->c.n; v++)
		if (row->counts[v] < 0)
			return true;
	return false;
}

/* Reject the rows of threads whose children may be another thread's. If that thread is unknown,
 * which a negative count shows, reject all rows of this kind. */
static void reject_unclear(struct sp_stat_run *r)
{
	struct sp_stat_who *w = &r->who;
	bool all = w->has_unclear_parent;

	for (uint32_t i = 0; i < w->n; i++) {
		struct sp_stat_row *owner = w->row[i].shares_child ? find_owner(w, &w->row[i])
								   : NULL;

		if (owner)
			owner->has_read = false;
	}
	for (uint32_t i = 0; i < w->n; i++)
		all = all || (w->row[i].was_running && w->row[i].has_read &&
			      is_negative(r, &w->row[i]));
	for (uint32_t i = 0; all && i < w->n; i++)
		w->row[i].has_read = w->row[i].has_read && !w->row[i].was_running;
}

static void subtract_children(struct sp_stat_run *r, const struct sp_fork_track *b)
{
	struct sp_stat_who *w = &r->who;

	for (uint32_t i = 0; i < w->n; i++) {
		struct sp_stat_row *row = &w->row[i], *owner = row->was_running || row->ended_before
								       ? NULL
								       : find_owner(w, row);

		if (!owner)
			continue;
		owner->has_read = owner->has_read && row->has_read;
		for (uint32_t v = 0; v < r->c.n_cpus * r->c.n && row->has_read; v++)
			owner->counts[v] -= row->counts[v];
	}
	reject_unclear(r);
	/* Rows with both inherited and own counters are incomplete, and so are those of their
	 * ancestors. */
	for (uint32_t i = 0; i < b->n; i++) {
		const struct sp_task *t = b->task[i];
		struct sp_stat_row *row = has_natives(r, t) && sp_fork_track_inherited(
								       b, t, r->c.n_cpus * r->c.n)
						  ? sp_stat_find_gathered(w, t->pid, t->tid)
						  : NULL,
				   *owner;

		if (!row)
			continue;
		row->has_read = false;
		for (owner = row; owner; owner = find_owner(w, owner)) {
			owner->has_read = false;
			owner = owner->parent_tid ? sp_stat_find_gathered(w, owner->parent_pid,
									  owner->parent_tid)
						  : NULL;
			if (!owner || owner == row)
				break;
		}
	}
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].was_running && !w->row[i].has_read)
			memset(w->row[i].counts, 0,
			       r->c.n_cpus * r->c.n * sizeof(*w->row[i].counts));
}

void sp_attach_rows_compute(struct sp_stat_run *r, const struct sp_fork_track *b, uint64_t from_ns)
{
	add_found(r, b);
	sp_stat_gather(&r->c, &r->who);
	add_processes(r, b);
	sp_stat_note_threads(&r->who, false);
	sp_stat_check_rows(&r->c, &r->who);
	add_parents(r, b);
	mark_ended_before(r, from_ns);
	set_counts(r, b);
	subtract_children(r, b);
	sp_stat_add_remainder(&r->c, &r->who);
}

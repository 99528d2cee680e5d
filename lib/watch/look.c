#include "lib/watch/look.h"

#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/classify.h"
#include "lib/check/privsep.h"
#include "lib/watch/group_name.h"
#include "lib/writers/exit_status.h"
#include "mu/sys.h"

#define PROBABLY "probably "

bool
mu_watch_look_checked(const struct mu_watch_look *look)
{
	return look->status == MEMUNREACHABLE_COMPLETE ||
	    look->status == MEMUNREACHABLE_PARTIAL;
}

static const char *
without_doubt(const char *name)
{
	return name + (mu_starts_with(name, PROBABLY) ? strlen(PROBABLY) : 0);
}

bool
mu_watch_is_named(const char *a, const char *b)
{
	return strcmp(without_doubt(a), without_doubt(b)) == 0;
}

/* Groups that have the same name are one; it is certain if all are. */
static void
add_group(struct mu_watch_look *look, const struct mu_watch_group *group)
{
	struct mu_watch_group *known;
	size_t i;

	for (i = 0; i < look->num_groups; i++) {
		known = &look->groups[i];
		if (known->kind == group->kind &&
		    mu_watch_is_named(known->name, group->name)) {
			if (mu_starts_with(group->name, PROBABLY))
				strlcpy(known->name, group->name,
				    sizeof(known->name));
			known->bytes += group->bytes;
			known->blocks += group->blocks;
			known->stale_bytes += group->stale_bytes;
			known->stale_blocks += group->stale_blocks;
			if (known->stale_seconds == 0 ||
			    (group->stale_seconds > 0 &&
				group->stale_seconds < known->stale_seconds))
				known->stale_seconds = group->stale_seconds;
			return;
		}
	}
	if (look->num_groups < MU_WATCH_GROUPS)
		look->groups[look->num_groups++] = *group;
}

static void
add_lost(struct mu_watch_look *look, const struct mu_report *report)
{
	struct mu_watch_group group = { .kind = MU_WATCH_LOST };
	struct mu_groups_at at;

	if (report->groups.count == 0)
		return;
	mu_groups_open(&at, &report->entries);
	while (mu_groups_next(&at) != NULL) {
		mu_watch_name_lost(group.name, &at, &report->names);
		group.bytes = at.group.total_bytes;
		group.blocks = at.group.num_blocks;
		add_group(look, &group);
	}
}

static void
add_live(struct mu_watch_look *look, const struct mu_explained *explained)
{
	struct mu_watch_group group = { .kind = MU_WATCH_LIVE };
	const struct mu_in_use *in_use;
	size_t i;

	if (explained == NULL)
		return;
	if (explained->num_in_use > 0 || look->live_blocks == 0)
		look->typed = explained->cut ? MU_TYPED_PARTLY : MU_TYPED;
	for (i = 0; i < explained->num_in_use; i++) {
		in_use = &explained->in_use[i];
		mu_watch_name_live(group.name, in_use);
		group.bytes = in_use->size * in_use->count;
		group.blocks = in_use->count;
		group.stale_blocks = in_use->stale;
		group.stale_bytes = in_use->size * in_use->stale;
		group.stale_seconds = in_use->seconds;
		look->stale += group.stale_bytes;
		add_group(look, &group);
	}
}

/* Before the live ones, of which there may be more than have room. */
static void
add_held(struct mu_watch_look *look, const struct mu_explained *explained)
{
	struct mu_watch_group group = { .kind = MU_WATCH_HELD };
	size_t i;

	for (i = 0; explained != NULL && i < explained->num_collections; i++) {
		strlcpy(group.name, explained->collections[i].name,
		    sizeof(group.name));
		group.bytes = explained->collections[i].bytes;
		group.blocks = explained->collections[i].elements;
		add_group(look, &group);
	}
}

void
mu_watch_look_fill(struct mu_watch_look *look, const struct mu_report *report)
{
	const struct UnreachableMemoryInfo *info = &report->info;

	strlcpy(look->program, report->program, sizeof(look->program));
	look->status = info->status;
	strlcpy(look->reason, info->reason, sizeof(look->reason));
	look->pause_ns = info->pause_ns;
	look->total_ns = info->total_ns;
	/* pause_ns is the longest one. */
	look->stop_ns = info->pause_ns * (info->tries > 0 ? info->tries : 1);
	if (!mu_exit_checked(info))
		return;
	look->lost = info->leak_bytes;
	look->lost_blocks = info->num_leaks;
	look->live = info->allocation_bytes - info->leak_bytes;
	look->live_blocks = info->num_allocations - info->num_leaks;
	look->held_free = report->usage.free_held;
	add_lost(look, report);
	add_held(look, report->explained);
	add_live(look, report->explained);
}

/* The work of mu_privsep_run(). */
struct work {
	const struct mu_check *check;
	struct mu_watch_look *look;
};

static int
check_and_send(void *ctx, FILE *out)
{
	const struct work *work = ctx;
	struct mu_report report = { .stop = "" };

	report.info.status = (int)mu_check_process(work->check, &report);
	mu_watch_look_fill(work->look, &report);
	mu_check_release(&report);
	return fwrite(work->look, sizeof(*work->look), 1, out) == 1 ? 0 : -1;
}

/* What a child with the rights of another user has sent is not trusted. */
static bool
is_sound(struct mu_watch_look *look)
{
	size_t i;

	if (look->num_groups > MU_WATCH_GROUPS || look->typed > MU_TYPED)
		return false;
	look->program[sizeof(look->program) - 1] = '\0';
	look->reason[sizeof(look->reason) - 1] = '\0';
	for (i = 0; i < look->num_groups; i++) {
		look->groups[i].name[MU_WATCH_NAME - 1] = '\0';
		if (look->groups[i].kind >= MU_WATCH_KINDS)
			return false;
	}
	return true;
}

/* Run the check; false: WHY says why there is no look in RECEIVED. */
static bool
receive(
    struct mu_watch_look *received, const struct work *work, struct mu_why *why)
{
	const struct mu_check *check = work->check;
	FILE *out = fmemopen(received, sizeof(*received), "w");
	bool sent;

	if (out == NULL) {
		mu_why(why, MU_ERR_NO_MEMORY, "no memory for a look");
		return false;
	}
	sent = mu_privsep_run(check->pid, check->timeout_ns, check_and_send,
		   (void *)work, out, NULL, why) == 0;
	sent &= fflush(out) == 0 && ftell(out) == (long)sizeof(*received);
	fclose(out);
	return sent && is_sound(received);
}

void
mu_watch_look_take(struct mu_watch_look *look, const struct mu_check *check)
{
	struct mu_watch_look *received = calloc(2, sizeof(*received));
	struct work work = { .check = check };
	struct mu_why why = { .text = "the check sent no answer" };
	struct mu_watch_look own = *look;

	if (received != NULL) {
		work.look = &received[1];
		if (receive(received, &work, &why)) {
			*look = *received;
			look->real_ns = own.real_ns;
			look->mono_ns = own.mono_ns;
			look->pid = own.pid;
			look->rss = own.rss;
			look->pss = own.pss;
			look->anon = own.anon;
			look->restarted = own.restarted;
			look->new_lost = 0;
			free(received);
			return;
		}
	}
	look->status = MEMUNREACHABLE_HELPER_DIED;
	strlcpy(look->reason, why.text, sizeof(look->reason));
	free(received);
}

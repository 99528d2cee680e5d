#include "lib/helpers/image.h"

#include "lib/state/left_out.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/snapshot.h"

enum mu_status
mu_image_note(struct mu_pass *pass)
{
	pass->mapped_pages = 0;
	/*
	 * Names of mappings are part of an answer about references. Without the
	 * page another try cannot be requested.
	 */
	if (pass->request->references == NULL && !pass->hold &&
	    pass->left_out != NULL)
		pass->mapped_pages = mu_mappings_pages(pass->tid);
	if (pass->mapped_pages != 0)
		return MU_OK;
	return mu_snapshot_mappings(&pass->snap, &pass->arena, &pass->why);
}

enum mu_status
mu_image_read(struct mu_pass *pass)
{
	struct mu_snapshot *snap = &pass->snap;
	pid_t pid = mu_sys_getpid();

	if (pass->mapped_pages == 0)
		return MU_OK;
	if (mu_mappings_pages(pid) != pass->mapped_pages)
		return mu_left_out_want(pass);
	return mu_mappings_read(pid, &snap->mappings, &snap->num_mappings,
	    &pass->arena, &pass->why);
}

#include "lib/helpers/image.h"

#include "lib/state/gap_sync.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "ptrace/live/snapshot.h"

enum mu_status
mu_image_note(struct mu_image *image)
{
	image->mapped_pages = 0;
	/*
	 * An answer with references needs the names of mappings. Without the
	 * page another try cannot be requested.
	 */
	if (!image->query.references && !image->uncopied.hold &&
	    image->uncopied.page != NULL)
		image->mapped_pages = mu_mappings_pages(image->job.tid);
	if (image->mapped_pages != 0)
		return MU_OK;
	return mu_snapshot_mappings(
	    &image->snap, &image->job.arena, &image->job.why);
}

enum mu_status
mu_image_read(struct mu_image *image)
{
	struct mu_snapshot *snap = &image->snap;
	pid_t pid = mu_sys_getpid();

	if (image->mapped_pages == 0)
		return MU_OK;
	if (mu_mappings_pages(pid) != image->mapped_pages)
		return mu_gap_sync_request(image);
	return mu_mappings_read(pid, &snap->mappings, &snap->num_mappings,
	    &image->job.arena, &image->job.why);
}

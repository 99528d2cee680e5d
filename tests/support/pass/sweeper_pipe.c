#include "tests/support/pass/sweeper_pipe.h"

#include <unistd.h>

#include "mu/sys.h"

int
sweeper_pipe_open(struct mu_image *image, size_t room)
{
	int ends[2];

	if (pipe(ends) != 0)
		return -1;
	image->sweeper = (struct mu_sweeper) { .pipe_read = ends[0],
		.deadline_ns = mu_sys_now_ns() + 20 * MU_NS_PER_SEC,
		.pid = getpid() /* not a child: waiting fails */ };
	mu_arena_open(&image->job.arena, room);
	return ends[1];
}

void
sweeper_pipe_close(struct mu_image *image, int writing_end)
{
	mu_arena_close(&image->job.arena);
	close(image->sweeper.pipe_read);
	if (writing_end >= 0)
		close(writing_end);
}

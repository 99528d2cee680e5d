/*
 * Print how a pass stops threads here, in a line: "stop 2 traced 1 found 1",
 * once for this process and once for a child of it. tests/stop_methods.sh
 * verifies its environment with it.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/support/live.h"

static uintptr_t lost;

/*
 * Not inline: LINE would be in the frame of tell(), with what was there before,
 * such as the chunk behind the lost block, whose address is inside that.
 */
static __attribute__((noinline)) bool
is_traced(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "TracerPid: %d", &tracer);
	if (status != NULL)
		fclose(status);
	return tracer != 0;
}

static void
tell(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool found;

	scrub();
	GetUnreachableMemory(&info, 10);
	found = info.num_reported == 1 &&
	    mu_hide((void *)info.leaks[0].begin) == lost;
	printf("stop %d traced %d found %d\n", info.stop, is_traced(), found);
	if (info.status != MEMUNREACHABLE_COMPLETE)
		printf("%s: %s\n", memunreachable_status_name(info.status),
		    info.reason);
	fflush(stdout);
	FreeUnreachableMemoryInfo(&info);
}

static void
tell_with_thread(void)
{
	static struct worker worker;

	worker = (struct worker) { .body = worker_park };
	if (pthread_create(&worker.thread, NULL, worker_main, &worker) != 0)
		abort();
	worker_await(&worker, 1);
	tell();
}

int
main(void)
{
	int status;
	pid_t child;

	lost = block_new(72);
	/* In the child the thread is gone, and another one takes its place. */
	tell_with_thread();
	child = fork();
	if (child == 0) {
		tell_with_thread();
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

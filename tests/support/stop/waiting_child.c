#include "tests/support/stop/waiting_child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/suite.h"

pid_t
waiting_child(bool (*become)(const void *arg), const void *arg)
{
	int ready[2];
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!become(arg) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

#include "tests/support/recorder/recorded_scenarios.h"
#include "tests/support/built.h"
#define SHIM "tests/support/recorder/recorder_shim.so"

int
check_now(const char *when)
{
	return !recorder_check(when, false, NULL);
}

int
seeds(int few)
{
	return getenv("RECORDED_FULL") != NULL ? 10 * few : few;
}

void
play(const char *scenario, int seed, const char *const *settings)
{
	char path[PATH_MAX], number[16];
	int status;
	pid_t pid;

	built_path(SHIM, path);
	ck_assert_msg(access(path, R_OK) == 0, "no %s", path);
	snprintf(number, sizeof(number), "%d", seed);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setenv("LD_PRELOAD", path, 1);
		for (; settings != NULL && *settings != NULL; settings++)
			putenv((char *)*settings);
		execl("/proc/self/exe", "test_recorded", "play", scenario,
		    number, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP) {
		printf("SKIPPED: %s cannot be arranged here\n", scenario);
		return;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "%s, seed %d: ended with %#x", scenario, seed, status);
}

int
played(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
	size_t i;

	if (argc != 4 || strcmp(argv[1], "play") != 0)
		return -1;
	if (recorder_check == NULL) {
		fprintf(stderr, "the recorder is not loaded\n");
		return 1;
	}
	for (i = 0; i < count; i++)
		if (strcmp(argv[2], scenarios[i].name) == 0)
			return scenarios[i].run((unsigned)atoi(argv[3]));
	fprintf(stderr, "no scenario %s\n", argv[2]);
	return 1;
}

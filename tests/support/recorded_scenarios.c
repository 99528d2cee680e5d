#include "tests/support/recorded_scenarios.h"
#define SHIM "recorder_shim.so"

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

static void
recorder_path(char *path, size_t size)
{
	char *slash;
	ssize_t length = readlink("/proc/self/exe", path, size - 1);
	int up;

	ck_assert_int_gt(length, 0);
	path[length] = '\0';
	for (up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		ck_assert_ptr_nonnull(slash);
		*slash = '\0';
	}
	strncat(path, "/support/" SHIM, size - strlen(path) - 1);
}

void
play(const char *scenario, int seed, const char *const *settings)
{
	char path[PATH_MAX], number[16];
	int status;
	pid_t pid;

	recorder_path(path, sizeof(path));
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

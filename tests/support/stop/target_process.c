#include "tests/support/stop/target_process.h"

void *
target_memory(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

void *
target_start(long what, size_t size, pid_t *pid)
{
	int fd = memfd_create("shared", 0);
	char number[24], file[16];
	void *shared;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	shared = target_memory(fd, size);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	snprintf(number, sizeof(number), "%ld", what);
	snprintf(file, sizeof(file), "%d", fd);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		execl("/proc/self/exe", "target", number, file, NULL);
		_exit(127);
	}
	close(fd);
	return shared;
}

void
target_end(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

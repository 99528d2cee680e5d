#include "tests/support/faults/transparency.h"

void
transparency_pass(int method)
{
	struct UnreachableMemoryInfo info = { 0 };

	mu_library.options.stop = transparency_methods[method].option;
	ck_assert_msg(GetUnreachableMemory(&info, 1), "by %s: %s: %s",
	    transparency_methods[method].name,
	    memunreachable_status_name(info.status), info.reason);
	FreeUnreachableMemoryInfo(&info);
	/* Without threads to stop there is no method of stopping. */
	if (info.num_threads > 1)
		ck_assert_int_eq(info.stop, transparency_methods[method].stop);
}

void
transparency_passes(int method, int count)
{
	while (count-- > 0)
		transparency_pass(method);
}

int
transparency_get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

void
transparency_set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

void
transparency_await(const int *word, int value)
{
	while (transparency_get(word) < value)
		usleep(200);
}

void
transparency_spawn(pthread_t *thread, void *(*body)(void *), void *arg)
{
	ck_assert_int_eq(pthread_create(thread, NULL, body, arg), 0);
}

size_t
transparency_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	while (length + 1 < size &&
	    (got = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	text[length] = '\0';
	return length;
}

char
transparency_state(pid_t pid, pid_t tid)
{
	char path[64], text[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (transparency_read(path, text, sizeof(text)) == 0)
		return '?';
	end = strrchr(text, ')');
	return end == NULL ? '?' : end[2];
}

long
transparency_syscall(pid_t tid)
{
	char path[64], text[256];

	if (transparency_state(getpid(), tid) != 'S')
		return -1;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	if (transparency_read(path, text, sizeof(text)) == 0 || text[0] < '0' ||
	    text[0] > '9')
		return -1;
	return strtol(text, NULL, 10);
}

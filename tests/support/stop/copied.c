#include "tests/support/stop/copied.h"

struct copied_shared *copied_shared;
struct mu_process_copy copied_copy;

uint64_t copied_words[WORKERS][WORDS];

/* Each word is one more than at the last step: torn memory shows. */
static void *
copied_work(void *index)
{
	uint64_t *words = copied_words[(intptr_t)index], step = 0, sum;
	size_t i;

	threaded_add(&copied_shared->started, 1);
	while (!threaded_get(&copied_shared->quit)) {
		sum = 0;
		for (i = 0; i < WORDS; i++)
			sum += words[i]++;
		if (sum != step++ * WORDS)
			threaded_set(&copied_shared->wrong, 1);
		threaded_add(&copied_shared->steps, 1);
	}
	return NULL;
}

static void
copied_sigchld(int signo)
{
	(void)signo;
	threaded_add(&copied_shared->sigchlds, 1);
}

static void
copied_child(void (*prepare)(struct copied_shared *))
{
	struct timespec nap = { 0, 1000000 };
	intptr_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	signal(SIGCHLD, copied_sigchld);
	if (prepare != NULL)
		prepare(copied_shared);
	for (i = 0; i < WORKERS; i++)
		threaded_spawn(copied_work, (void *)i);
	while (!threaded_get(&copied_shared->quit)) {
		if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
			threaded_add(&copied_shared->children, 1);
		if (nanosleep(&nap, NULL) != 0)
			threaded_set(&copied_shared->wrong, 2);
	}
	_exit(threaded_get(&copied_shared->wrong));
}

struct copied
copied_start_with(long flags, void (*prepare)(struct copied_shared *))
{
	struct copied victim;

	copied_shared = mmap(NULL, sizeof(*copied_shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	victim.shared = copied_shared;
	victim.pid =
	    (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	if (victim.pid == 0)
		copied_child(prepare);
	if (victim.pid > 0)
		threaded_await(&victim.shared->started, WORKERS);
	return victim;
}

struct copied
copied_start(void (*prepare)(struct copied_shared *))
{
	return copied_start_with(0, prepare);
}

void
copied_goes_on(struct copied *victim)
{
	threaded_await(
	    &victim->shared->steps, threaded_get(&victim->shared->steps) + 3);
}

int
children_of(pid_t pid)
{
	struct dirent *entry;
	char parent[64];
	int count = 0;
	DIR *dir = opendir("/proc");

	while ((entry = readdir(dir)) != NULL) {
		pid_t child = atoi(entry->d_name);

		if (child <= 0)
			continue;
		threaded_status(child, child, "PPid:", parent, sizeof(parent));
		count += atoi(parent) == pid;
	}
	closedir(dir);
	return count;
}

void
copied_end(struct copied *victim)
{
	int status;

	ck_assert_int_eq(children_of(victim->pid), 0);
	threaded_each(victim->pid, threaded_thread_is_free);
	copied_goes_on(victim);
	threaded_set(&victim->shared->quit, 1);
	ck_assert_int_eq(waitpid(victim->pid, &status, 0), victim->pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(victim->shared->sigchlds, 0);
	ck_assert_int_eq(victim->shared->children, 0);
	munmap(victim->shared, sizeof(*victim->shared));
}

void
must_copy(void)
{
	enum mu_status status = mu_process_copy_make(
	    &copied_copy, &captured_threads, 0, in_patience(), &captured_why);

	if (status == MU_OK)
		status = mu_process_copy_await_stop(
		    &copied_copy, in_patience(), &captured_why);
	ck_assert_msg(status == MU_OK, "%s: %s", mu_status_name(status),
	    captured_why.text);
	ck_assert_int_gt(copied_copy.pid, 0);
}

void
must_not_copy(enum mu_status expected, const char *word)
{
	enum mu_status status = mu_process_copy_make(
	    &copied_copy, &captured_threads, 0, in_patience(), &captured_why);

	ck_assert_msg(status == expected, "%s: %s", mu_status_name(status),
	    captured_why.text);
	ck_assert_msg(
	    strstr(captured_why.text, word) != NULL, "%s", captured_why.text);
	ck_assert_int_eq(copied_copy.pid, 0);
}

enum mu_status
drop_copy(pid_t pid)
{
	enum mu_status status;

	if (copied_copy.pid == 0)
		return MU_OK;
	if (!mu_process_copy_end(&copied_copy, in_patience()))
		return MU_ERR_TIMEOUT;
	status = mu_process_copy_reap_ended(
	    &copied_copy, pid, in_patience(), &captured_why);
	copied_copy = (struct mu_process_copy) { 0 };
	return status;
}

void
must_drop(pid_t pid)
{
	enum mu_status status = drop_copy(pid);

	ck_assert_msg(status == MU_OK, "%s: %s", mu_status_name(status),
	    captured_why.text);
	ck_assert_int_eq(copied_copy.pid, 0);
}

ssize_t
read_memory(pid_t pid, const void *address, void *buffer, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = pread(fd, buffer, size, (off_t)(uintptr_t)address);
	close(fd);
	return n;
}

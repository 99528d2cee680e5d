#include "tests/support/stop/threaded_child.h"

struct threaded_shared *threaded_shared; /* in the child: for its handler */

int
threaded_get(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

void
threaded_set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

int
threaded_add(int *word, int value)
{
	return __atomic_add_fetch(word, value, __ATOMIC_SEQ_CST);
}

void
threaded_await(const int *word, int value)
{
	int i;

	for (i = 0; i < THREADED_PATIENCE && threaded_get(word) < value; i++)
		usleep(1000);
	ck_assert_int_ge(threaded_get(word), value);
}

static void
threaded_handler(int signo)
{
	threaded_add(&threaded_shared->signals[signo], 1);
}

/* Answer calls until told to quit; all threads do this, also the main one. */
static void *
threaded_answer(void *index)
{
	struct threaded_shared *shared = threaded_shared;
	int call, i = (int)(intptr_t)index;

	threaded_add(&shared->started, 1);
	do {
		call = threaded_get(&shared->call);
		threaded_set(&shared->answers[i], call);
		syscall(
		    SYS_futex, &shared->call, FUTEX_WAIT, call, NULL, NULL, 0);
	} while (!threaded_get(&shared->quit));
	return NULL;
}

void *
threaded_answer_and_exit(void *index)
{
	threaded_answer(index);
	_exit(0);
}

void
threaded_spawn(void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, body, arg) != 0)
		_exit(3);
	pthread_attr_destroy(&attr);
}

/* PREPARE, if there is one, runs in the child's main thread first. */
static void
threaded_main(int threads, void (*prepare)(struct threaded_shared *))
{
	struct sigaction action;
	int signo;
	intptr_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	memset(&action, 0, sizeof(action));
	action.sa_handler = threaded_handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	for (signo = SIGRTMIN; signo < SIGRTMIN + 4; signo++)
		sigaction(signo, &action, NULL);
	if (prepare != NULL)
		prepare(threaded_shared);
	for (i = 1; i <= threads; i++)
		threaded_spawn(threaded_answer, (void *)i);
	threaded_answer(NULL);
	_exit(0);
}

struct threaded_child
threaded_start(int threads, void (*prepare)(struct threaded_shared *))
{
	struct threaded_child threaded = { .threads = threads };

	threaded.shared = mmap(NULL, sizeof(*threaded.shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(threaded.shared, MAP_FAILED);
	threaded_shared = threaded.shared;
	threaded.pid = fork();
	ck_assert_int_ge(threaded.pid, 0);
	if (threaded.pid == 0)
		threaded_main(threads, prepare);
	threaded_await(&threaded.shared->started, threads + 1);
	return threaded;
}

void
threaded_call(struct threaded_child *threaded)
{
	threaded_add(&threaded->shared->call, 1);
	syscall(SYS_futex, &threaded->shared->call, FUTEX_WAKE, THREADED_MAX,
	    NULL, NULL, 0);
}

void
threaded_status(pid_t pid, pid_t tid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	FILE *file;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			snprintf(value, size, "%s",
			    line + strlen(key) +
				strspn(line + strlen(key), "\t "));
	fclose(file);
}

char
threaded_state(pid_t pid, pid_t tid)
{
	char value[64];

	threaded_status(pid, tid, "State:", value, sizeof(value));
	return value[0];
}

int
threaded_each(pid_t pid, void (*visit)(pid_t pid, pid_t tid))
{
	struct dirent *entry;
	char path[64];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (atoi(entry->d_name) <= 0)
			continue;
		visit(pid, atoi(entry->d_name));
		count++;
	}
	closedir(dir);
	return count;
}

void
threaded_thread_is_free(pid_t pid, pid_t tid)
{
	char tracer[64], state = threaded_state(pid, tid);

	threaded_status(pid, tid, "TracerPid:", tracer, sizeof(tracer));
	ck_assert_msg(tracer[0] == '\0' || atoi(tracer) == 0,
	    "thread %d is still traced by %s", tid, tracer);
	ck_assert_msg(
	    state != 't' && state != 'T', "thread %d is stopped", tid);
}

void
threaded_is_unharmed(struct threaded_child *threaded)
{
	int i;

	threaded_each(threaded->pid, threaded_thread_is_free);
	threaded_call(threaded);
	for (i = 0; i <= threaded->threads; i++)
		threaded_await(
		    &threaded->shared->answers[i], threaded->shared->call);
}

void
threaded_end(struct threaded_child *threaded)
{
	int status;

	threaded_is_unharmed(threaded);
	threaded_set(&threaded->shared->quit, 1);
	threaded_call(threaded);
	ck_assert_int_eq(waitpid(threaded->pid, &status, 0), threaded->pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "the child ended with wait status %#x", (unsigned)status);
	munmap(threaded->shared, sizeof(*threaded->shared));
}

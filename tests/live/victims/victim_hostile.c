/*
 * A process whose owner interferes with the check: its child sends signals to
 * every process of the same user, or lowers their limits. The process itself
 * only verifies that it is unchanged.
 *
 * Usage: victim_hostile {stop | kill | mixed | limits | calm}
 *   stop    SIGSTOP, and seldom SIGCONT
 *   kill    SIGKILL
 *   mixed   SIGSTOP, SIGCONT, SIGTERM and SIGKILL
 *   limits  all limits but that of descriptors, without which nothing can be
 *           put back, become 0; the priority and the policy the lowest
 *   calm    nothing
 * Prints "ready". A byte of its standard input ends the child, and "peace" is
 * printed. At the end of that it prints what it has seen, and ends with 0 if
 * nothing was wrong. It must not run as root, and its user must have no other
 * processes.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 20000
#define NAP_US 1500 /* between two rounds, at most */

static atomic_bool over;
static atomic_uint wrong;
static atomic_long longest_ns; /* between two of its instructions */

static long
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
nap_us(long us)
{
	const struct timespec nap = { 0, us * 1000 };

	if (nanosleep(&nap, NULL) != 0)
		wrong++;
}

static void
attack_one(const char *mode, pid_t pid)
{
	static const int mixed[] = { SIGSTOP, SIGCONT, SIGTERM, SIGKILL };
	const struct rlimit none = { 0, 0 };
	const struct sched_param lowest = { 0 };
	int i;

	if (strcmp(mode, "stop") == 0)
		kill(pid, rand() % 16 == 0 ? SIGCONT : SIGSTOP);
	else if (strcmp(mode, "kill") == 0 && rand() % 8 == 0)
		kill(pid, SIGKILL);
	else if (strcmp(mode, "mixed") == 0)
		kill(pid, mixed[rand() % 16 < 3 ? rand() % 4 : rand() % 2]);
	else if (strcmp(mode, "limits") == 0) {
		for (i = 0; i < RLIM_NLIMITS; i++)
			if (i != RLIMIT_NOFILE && rand() % 2 == 0)
				prlimit(pid, i, &none, NULL);
		setpriority(PRIO_PROCESS, (id_t)pid, 19);
		sched_setscheduler(pid, SCHED_IDLE, &lowest);
	}
}

/* "17 (a name) S 4711 ...": the fourth. */
static pid_t
parent_of(pid_t pid)
{
	char path[64], line[512] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	end =
	    fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
	fclose(file);
	return end != NULL && strlen(end) > 4 ? atoi(end + 4) : 0;
}

/*
 * The kernel refuses what would go to other users. A copy of the process that
 * is killed or stopped before it has its name, by an owner who kills all that
 * could have it reaped, is that owner's zombie or stopped child.
 */
static void
attack(const char *mode, pid_t parent)
{
	struct dirent *entry;
	pid_t pid;
	DIR *all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srand((unsigned)getpid());
	for (;;) {
		all = opendir("/proc");
		while (all != NULL && (entry = readdir(all)) != NULL) {
			pid = atoi(entry->d_name);
			if (pid > 1 && pid != parent && pid != getpid() &&
			    parent_of(pid) != parent)
				attack_one(mode, pid);
		}
		if (all != NULL)
			closedir(all);
		nap_us(1 + rand() % NAP_US);
	}
}

/* In its own code, all the time but for a call now and then. */
static void *
tick(void *arg)
{
	long last = now_ns(), now, pid = getpid();
	unsigned long a = 1, b = 2;

	(void)arg;
	while (!over) {
		a += 3;
		b += 5;
		now = now_ns();
		if (now - last > longest_ns)
			longest_ns = now - last;
		last = now;
		if ((b - 2) / 5 != (a - 1) / 3 ||
		    (a % 1024 == 0 && syscall(SYS_getpid) != pid))
			wrong++;
	}
	return NULL;
}

static void *
sleep_long(void *arg)
{
	sigset_t mask;

	(void)arg;
	while (!over) {
		nap_us(20000);
		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		if (sigismember(&mask, SIGUSR1))
			wrong++;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static void *blocks[BLOCKS];
	pthread_t threads[2];
	pid_t attacker, parent = getpid();
	ssize_t got;
	size_t i;
	char byte;

	if (argc != 2 || geteuid() == 0)
		return 2;
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(100);
	pthread_create(&threads[0], NULL, tick, NULL);
	pthread_create(&threads[1], NULL, sleep_long, NULL);
	attacker = fork();
	if (attacker == 0 && strcmp(argv[1], "calm") == 0)
		pause();
	else if (attacker == 0)
		attack(argv[1], parent);
	puts("ready");
	fflush(stdout);
	while ((got = read(STDIN_FILENO, &byte, 1)) != 0) {
		wrong += got != 1;
		kill(attacker, SIGKILL);
		wrong += waitpid(-1, NULL, 0) != attacker;
		puts("peace");
		fflush(stdout);
	}
	over = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* No child is left, and no zombie of one. */
	wrong += waitpid(-1, NULL, __WALL | WNOHANG) != -1;
	printf(
	    "wrong: %u; longest stop: %ld ms\n", wrong, longest_ns / 1000000);
	return wrong != 0 || blocks[BLOCKS - 1] == NULL;
}

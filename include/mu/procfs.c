/*
 * fsopen() and fsmount() (Linux 5.2) make a procfs of our PID namespace that is
 * in no mount table: neither the program nor other processes see it. They need
 * CAP_SYS_ADMIN over the mount namespace.
 *
 * Runs in: any.
 */
#include "mu/procfs.h"

#include <string.h>

#include "mu/sys.h"
#include "mu/text.h"

/* Newer than some kernel headers; the numbers are the same on every CPU. */
#define NR_fsopen 430
#define NR_fsconfig 431
#define NR_fsmount 432

/* Constants of <linux/mount.h>, which conflicts with glibc's <sys/mount.h>. */
#define OPEN_CLOEXEC 1  /* FSOPEN_, FSMOUNT_ */
#define CMD_CREATE 6    /* FSCONFIG_ */
#define NOT_EXECUTED 14 /* MOUNT_ATTR_ NOSUID, NODEV, NOEXEC */

#define PREFIX "/proc/"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

/*
 * The descriptor of the replacement, plus 1; 0 if there is none. Static because
 * code that has no pass needs it; written with the pass lock held.
 */
static int stand_in;

/* Returns 1 if the link PATH has the contents WORDS, 0 if not, or -errno. */
static long
link_says(const char *path, const char *words)
{
	int dir = mu_procfs_at(&path);
	char link[64];
	long n =
	    mu_sys4(SYS_readlinkat, dir, (long)path, (long)link, sizeof(link));

	if (n < 0)
		return n;
	return (size_t)n == strlen(words) &&
	    memcmp(link, words, (size_t)n) == 0;
}

/*
 * Compare process and thread number, as one of them may be equal in two
 * namespaces by chance. thread-self exists since Linux 3.17.
 */
static long
shows_us(void)
{
	pid_t pid = mu_sys_getpid();
	char words[64];
	long same;

	mu_text_format(
	    words, sizeof(words), "%d/task/%d", pid, mu_sys_gettid());
	same = link_says("/proc/thread-self", words);
	if (same != -ENOENT)
		return same;
	mu_text_format(words, sizeof(words), "%d", pid);
	return link_says("/proc/self", words);
}

/* Returns the descriptor of a procfs that is mounted nowhere, or -errno. */
static long
mount_nowhere(void)
{
	long error, made;
	int fs;

	fs = (int)mu_sys2(NR_fsopen, (long)"proc", OPEN_CLOEXEC);
	if (fs < 0)
		return fs;
	error = mu_syscall6(NR_fsconfig, fs, CMD_CREATE, 0, 0, 0, 0);
	made = error < 0 ? error
			 : mu_sys3(NR_fsmount, fs, OPEN_CLOEXEC, NOT_EXECUTED);
	mu_sys_close(&fs);
	return made;
}

enum mu_status
mu_procfs_enter(struct mu_why *why)
{
	long shown, made;

	stand_in = 0;
	shown = shows_us();
	if (shown == 1)
		return MU_OK;
	made = mount_nowhere();
	if (made >= 0) {
		stand_in = (int)made + 1;
		if (shows_us() == 1)
			return MU_OK;
		mu_procfs_leave();
	}
	if (shown == 0)
		return mu_why(why, MU_ERR_NO_PROC,
		    "/proc shows another PID namespace; mount -t proc proc"
		    " /proc");
	if (shown == -ENOMEM)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory to look at /proc");
	return mu_why(why, MU_ERR_NO_PROC,
	    "/proc is not there (error %ld); mount -t proc proc /proc", -shown);
}

void
mu_procfs_leave(void)
{
	int fd = stand_in - 1;

	stand_in = 0;
	mu_sys_close(&fd);
}

int
mu_procfs_descriptor(void)
{
	return stand_in - 1;
}

bool
mu_procfs_shows_us(void)
{
	return shows_us() == 1;
}

int
mu_procfs_at(const char **path)
{
	if (stand_in == 0 || strncmp(*path, PREFIX, PREFIX_LENGTH) != 0)
		return AT_FDCWD;
	*path += PREFIX_LENGTH;
	return stand_in - 1;
}

int
mu_procfs_open(const char *path, int flags)
{
	int dir = mu_procfs_at(&path);

	return mu_sys_openat(dir, path, flags | O_CLOEXEC, 0);
}

ssize_t
mu_procfs_read(const char *path, char *buffer, size_t size)
{
	int dir = mu_procfs_at(&path);

	return mu_sys_read_file(dir, path, buffer, size);
}

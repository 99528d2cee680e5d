/*
 * fsopen() and fsmount() (Linux 5.2) make a procfs of our PID namespace that
 * no mount table has: the program and its neighbours never see it. It takes
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

/* <linux/mount.h>, which glibc's <sys/mount.h> does not get along with. */
#define OPEN_CLOEXEC 1  /* FSOPEN_, FSMOUNT_ */
#define CMD_CREATE 6    /* FSCONFIG_ */
#define NOT_EXECUTED 14 /* MOUNT_ATTR_ NOSUID, NODEV, NOEXEC */

#define PREFIX "/proc/"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

/*
 * The stand-in's descriptor, plus 1; 0: there is none. A static, as it must
 * be reached from where no pass is known; written under the pass lock.
 */
static int stand_in;

/* Is the link PATH there, and says WORDS? 1, 0 or -errno. */
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
 * Both numbers, as one may be the same in two namespaces by chance.
 * thread-self: Linux 3.17.
 */
static long
shows_us(void)
{
	char words[64];
	long same;

	mu_text_format(words, sizeof(words), "%d", mu_sys_getpid());
	same = link_says("/proc/self", words);
	if (same != 1)
		return same;
	mu_text_format(words, sizeof(words), "%d/task/%d", mu_sys_getpid(),
	    mu_sys_gettid());
	same = link_says("/proc/thread-self", words);
	return same == -ENOENT ? 1 : same;
}

/* A procfs that is mounted nowhere: its descriptor, or -errno. */
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

/*
 * silent_fuse FOLDER FILE: mounts a file system with one file, "prog", that has
 * the bytes of FILE, and serves it until SIGUSR1. From then on no request gets
 * an answer, until the process ends; after SIGUSR2 they are read all the same,
 * so that not even SIGKILL ends the wait for an answer. Prints "ready" and,
 * when it is silent, "silent". As root.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOM ((size_t)1 << 20)

static volatile sig_atomic_t silent; /* the signal that made it so */
static int device, file;
static struct stat about;

static void
fall_silent(int signo)
{
	silent = signo;
}

static void
reply(const struct fuse_in_header *in, int error, const void *body, size_t size)
{
	struct fuse_out_header out = { (uint32_t)(sizeof(out) + size), error,
		in->unique };
	struct iovec parts[] = { { &out, sizeof(out) },
		{ (void *)body, size } };

	if (writev(device, parts, 2) < 0)
		perror("reply");
}

static struct fuse_attr
attributes(uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1 };

	attr.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755;
	attr.size = node == 1 ? 0 : (uint64_t)about.st_size;
	return attr;
}

static void
look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = 2, .attr = attributes(2) };

	if (strcmp(name, "prog") == 0)
		reply(in, 0, &entry, sizeof(entry));
	else
		reply(in, -2, NULL, 0);
}

static void
read_file(const struct fuse_in_header *in, const struct fuse_read_in *wanted)
{
	static char bytes[ROOM];
	size_t size = wanted->size < ROOM ? wanted->size : ROOM;
	ssize_t n = pread(file, bytes, size, (off_t)wanted->offset);

	reply(in, n < 0 ? -5 : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void
serve(const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = 7,
		.minor = 31,
		.max_write = 4096,
		.max_readahead = 65536 };
	struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	struct fuse_open_out open_ = { .fh = 1 };

	if (in->opcode == FUSE_INIT)
		reply(in, 0, &init, sizeof(init));
	else if (in->opcode == FUSE_LOOKUP)
		look_up(in, body);
	else if (in->opcode == FUSE_GETATTR)
		reply(in, 0, &attr, sizeof(attr));
	else if (in->opcode == FUSE_OPEN || in->opcode == FUSE_OPENDIR)
		reply(in, 0, &open_, sizeof(open_));
	else if (in->opcode == FUSE_READ)
		read_file(in, body);
	else if (in->opcode == FUSE_FLUSH || in->opcode == FUSE_RELEASE)
		reply(in, 0, NULL, 0);
	else if (in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET &&
	    in->opcode != FUSE_INTERRUPT)
		reply(in, -38, NULL, 0);
}

int
main(int argc, char **argv)
{
	static char room[ROOM];
	struct sigaction action = { .sa_handler = fall_silent };
	char options[128];

	if (argc != 3)
		return 2;
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	file = open(argv[2], O_RDONLY | O_CLOEXEC);
	snprintf(options, sizeof(options),
	    "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (device < 0 || file < 0 || fstat(file, &about) != 0 ||
	    mount("silent", argv[1], "fuse", 0, options) != 0)
		return 77;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	printf("ready\n");
	fflush(stdout);
	while (!silent) {
		if (read(device, room, sizeof(room)) > 0)
			serve(
			    (void *)room, room + sizeof(struct fuse_in_header));
	}
	printf("silent\n");
	fflush(stdout);
	for (;;)
		if (silent != SIGUSR2 || read(device, room, sizeof(room)) < 0)
			pause();
}

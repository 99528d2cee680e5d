/*
 * A socket is used because a failed write to a pipe or a file raises a signal
 * (SIGPIPE, SIGXFSZ), and because one end of a socket can be shut down even if
 * a child that another thread has forked holds it open.
 */
#include "lib/report/symbolizer.h"

#include <string.h>
#include <sys/socket.h>

#include "lib/report/symbolizer_process.h"
#include "mu/sys.h"

#define PATIENCE_NS (10 * MU_NS_PER_SEC)
#define SLICE_NS (20 * 1000 * 1000ull)
#define NAP_NS (200 * 1000ull)
#define FIRST_ROOM ((size_t)64 << 10)
#define MOST_ROOM ((size_t)256 << 20)

/* State of a transfer. */
struct talk {
	int fd;
	const char *text;
	size_t left; /* bytes left of it */
	bool shut, ended, failed;
	struct mu_symbolized *out;
};

/*
 * True if there is a frame ("#00  pc "); otherwise the command is not needed.
 */
static bool
has_frame(const char *text, size_t length)
{
	static const char mark[] = "  pc ";
	const char *end = text + length, *at;

	while ((at = memchr(text, '#', (size_t)(end - text))) != NULL) {
		text = ++at;
		while (at < end && *at >= '0' && *at <= '9')
			at++;
		if (at > text && (size_t)(end - at) > strlen(mark) &&
		    memcmp(at, mark, strlen(mark)) == 0)
			return true;
	}
	return false;
}

/*
 * False after unshare(CLONE_NEWPID): the next child would be the init of a new
 * namespace, which ends with it, and the program could start no more processes.
 */
static bool
children_stay(void)
{
	char own[64] = "", next[64] = "";
	long n, m;

	n = mu_sys4(SYS_readlinkat, AT_FDCWD, (long)"/proc/thread-self/ns/pid",
	    (long)own, sizeof(own));
	m = mu_sys4(SYS_readlinkat, AT_FDCWD,
	    (long)"/proc/thread-self/ns/pid_for_children", (long)next,
	    sizeof(next));
	return n > 0 && n == m && memcmp(own, next, (size_t)n) == 0;
}

static bool
make_room(struct mu_symbolized *out)
{
	size_t size = out->size == 0 ? FIRST_ROOM : 2 * out->size;
	long memory;

	if (out->length < out->size)
		return true;
	if (size > MOST_ROOM)
		return false;
	memory = out->size == 0
	    ? mu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS)
	    : mu_sys4(SYS_mremap, (long)out->text, (long)out->size, (long)size,
		  MREMAP_MAYMOVE);
	if (mu_sys_failed(memory))
		return false;
	out->text = (char *)memory;
	out->size = size;
	return true;
}

/* Closing the socket makes the symboliser exit. */
static void
fail(struct talk *talk)
{
	talk->failed = true;
	mu_sys2(SYS_shutdown, talk->fd, SHUT_RDWR);
}

static bool
send_some(struct talk *talk)
{
	long n = 0;

	if (talk->shut)
		return false;
	if (talk->left > 0)
		n = mu_syscall6(SYS_sendto, talk->fd, (long)talk->text,
		    (long)talk->left, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
	if (n > 0) {
		talk->text += n;
		talk->left -= (size_t)n;
	} else if (n < 0 && n != -EAGAIN && n != -EINTR)
		fail(talk);
	if (talk->left == 0 || talk->failed) {
		mu_sys2(SYS_shutdown, talk->fd, SHUT_WR);
		talk->shut = true;
	}
	return n > 0;
}

static bool
receive_some(struct talk *talk)
{
	struct mu_symbolized *out = talk->out;
	long n;

	if (talk->ended || talk->failed)
		return false;
	if (!make_room(out)) {
		fail(talk);
		return false;
	}
	n = mu_syscall6(SYS_recvfrom, talk->fd, (long)(out->text + out->length),
	    (long)(out->size - out->length), MSG_DONTWAIT, 0, 0);
	if (n > 0)
		out->length += (size_t)n;
	else if (n != -EAGAIN && n != -EINTR)
		talk->ended = true;
	return n > 0;
}

static void
await(const struct talk *talk)
{
	struct pollfd wait = { .fd = talk->fd, .events = POLLIN };
	struct timespec span = mu_sys_timespec(SLICE_NS);

	if (!talk->shut)
		wait.events |= POLLOUT;
	/* The child will exit at once. */
	if (talk->ended || talk->failed ||
	    mu_syscall6(SYS_ppoll, (long)&wait, 1, (long)&span, 0, 0, 0) < 0)
		mu_sys_sleep_ns(NAP_NS);
}

static enum mu_symbolizer_end
converse(struct talk *talk, struct mu_symbolizer_process *process)
{
	enum mu_symbolizer_end end = MU_SYMBOLIZER_RUNS;
	bool moved;

	do {
		/*
		 * Check its end first: what it wrote before that is still read.
		 */
		if (end == MU_SYMBOLIZER_RUNS)
			end = mu_symbolizer_process_end(process);
		moved = send_some(talk);
		moved |= receive_some(talk);
		if (end == MU_SYMBOLIZER_RUNS && !moved)
			await(talk);
	} while (end == MU_SYMBOLIZER_RUNS || moved);
	return end;
}

/* Use high numbers, in case the program has closed 0 to 2. */
static bool
make_sockets(int fds[2])
{
	int i, moved;

	if (mu_sys4(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
		(long)fds) < 0)
		return false;
	for (i = 0; i < 2; i++) {
		if (fds[i] > 2)
			continue;
		moved = (int)mu_sys3(SYS_fcntl, fds[i], F_DUPFD_CLOEXEC, 3);
		mu_sys_close(&fds[i]);
		fds[i] = moved;
	}
	if (fds[0] >= 0 && fds[1] >= 0)
		return true;
	mu_sys_close(&fds[0]);
	mu_sys_close(&fds[1]);
	return false;
}

static enum mu_symbolizer_end
ask(const struct mu_symbolizer *symbolizer, struct talk *talk)
{
	struct mu_symbolizer_process process = { .symbolizer = symbolizer };
	enum mu_symbolizer_end end = MU_SYMBOLIZER_FAILED;
	int fds[2] = { -1, -1 };

	if (!children_stay() || !make_sockets(fds))
		return end;
	talk->fd = fds[0];
	process.descriptor = fds[1];
	process.deadline_ns = mu_sys_now_ns() + PATIENCE_NS;
	if (mu_symbolizer_process_start(&process))
		end = converse(talk, &process);
	mu_sys_close(&fds[0]);
	if (end == MU_SYMBOLIZER_GOOD && (talk->failed || talk->left > 0))
		end = MU_SYMBOLIZER_FAILED;
	return end;
}

bool
mu_symbolizer_run(struct mu_symbolizer *symbolizer, const char *text,
    size_t length, struct mu_symbolized *out)
{
	struct talk talk = { .text = text, .left = length, .out = out };
	enum mu_symbolizer_end end;

	*out = (struct mu_symbolized) { .text = NULL };
	if (symbolizer->path == NULL || !has_frame(text, length) ||
	    __atomic_load_n(&symbolizer->gave_up, __ATOMIC_RELAXED))
		return false;
	end = ask(symbolizer, &talk);
	if (end == MU_SYMBOLIZER_GOOD)
		return true;
	mu_symbolized_release(out);
	if (end == MU_SYMBOLIZER_LATE)
		__atomic_store_n(&symbolizer->gave_up, 1, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&symbolizer->told, 1, __ATOMIC_RELAXED))
		return false;
	out->why = end == MU_SYMBOLIZER_LATE
	    ? "memunreachable did not end within 10 s and is not asked again"
	    : "memunreachable cannot be run, or has failed";
	return false;
}

void
mu_symbolized_release(struct mu_symbolized *out)
{
	if (out->text != NULL)
		mu_sys_munmap(out->text, out->size);
	*out = (struct mu_symbolized) { .text = NULL };
}

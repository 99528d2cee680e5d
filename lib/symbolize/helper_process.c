/* Start and end the helper's process: see helper.h. */
#include <bsd/unistd.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/symbolize/debuginfod.h"
#include "lib/symbolize/frame_files.h"
#include "lib/symbolize/guard.h"
#include "lib/symbolize/helper.h"
#include "mu/sys.h"

#define PATIENCE_NS (100 * 1000 * 1000ull) /* for the end of a killed one */
#define NAP_NS (1000 * 1000ull)

#define ROOM ((size_t)64 << 10) /* for questions, which take 5 KiB at most */

struct serving {
	const struct mu_symbol_helper *helper;
	struct mu_symbols *symbols; /* NULL: there is no source, or memory */
	struct mu_frame_files files;
	struct mu_wire_writer writer;
	void *types; /* of helper->find_type */
	struct mu_cache cache;
	int fd;
	char *room;
	size_t begin, end; /* of the bytes in it */
};

/*
 * The work of the helper: see helper.h.
 *
 * Runs in: a child of the command.
 */

static enum mu_symbols_limit
limit_of(const struct mu_symbol_helper *helper, const char *path)
{
	enum mu_symbols_limit limit = MU_SYMBOLS_ALL;
	size_t i;

	for (i = 0; i < helper->num_blamed; i++) {
		if (helper->blamed[i].path != NULL &&
		    strcmp(helper->blamed[i].path, path) == 0)
			limit = helper->blamed[i].limit;
	}
	return limit;
}

static void
open_source(struct serving *serving, bool network)
{
	const struct mu_symbol_helper *helper = serving->helper;
	struct mu_symbols_source source;
	size_t i;

	if (helper->source == NULL)
		return;
	source = *helper->source;
	source.local |= !network;
	source.patience = &helper->page->patience;
	source.cache = &serving->cache;
	serving->symbols = mu_symbols_open(&source);
	for (i = 0; serving->symbols != NULL && i < helper->num_blamed; i++) {
		if (helper->blamed[i].path == NULL)
			mu_symbols_limit(serving->symbols,
			    helper->blamed[i].address, helper->blamed[i].limit);
	}
}

/* Read until SIZE bytes are there; false at the end. */
static bool
fill(struct serving *serving, size_t size)
{
	ssize_t n;

	while (serving->end - serving->begin < size) {
		mu_wire_flush(&serving->writer);
		memmove(serving->room, serving->room + serving->begin,
		    serving->end - serving->begin);
		serving->end -= serving->begin;
		serving->begin = 0;
		n = mu_sys_read(serving->fd, serving->room + serving->end,
		    ROOM - serving->end);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		serving->end += (size_t)n;
	}
	return true;
}

static bool
take(struct serving *serving, void *to, size_t size)
{
	if (!fill(serving, size))
		return false;
	memcpy(to, serving->room + serving->begin, size);
	serving->begin += size;
	return true;
}

static void
find_address(struct serving *serving, const struct mu_wire_question *question,
    const char *path, struct mu_wire_answer *answer)
{
	uintptr_t address = (uintptr_t)question->address;
	struct mu_symbol *symbol = &answer->symbol;
	bool found = false;

	if (path[0] != '\0')
		found = mu_frame_files_find(&serving->files, path, address,
		    limit_of(serving->helper, path), symbol);
	else if (serving->symbols != NULL) {
		found = question->call
		    ? mu_symbols_find_call(serving->symbols, address, symbol)
		    : mu_symbols_find(serving->symbols, address, symbol);
		if (question->detail)
			answer->detail =
			    mu_symbols_detail(serving->symbols, address);
	}
	if (!found)
		*symbol = (struct mu_symbol) { 0 };
}

static void
find_type(struct serving *serving, const struct mu_wire_question *question,
    struct mu_type *type)
{
	const struct mu_symbol_helper *helper = serving->helper;
	struct mu_typed_block block = {
		.begin = (uintptr_t)question->address,
		.size = question->size,
		.num_head = question->num_head,
		.declared = question->wants_id != 0,
		.held_at = (uintptr_t)question->held_at,
	};

	memcpy(block.head, question->head, sizeof(block.head));
	if (serving->symbols == NULL || helper->find_type == NULL ||
	    !helper->find_type(&serving->types, serving->symbols, &block, type))
		*type = (struct mu_type) { .source = MU_TYPE_NONE };
}

static const struct mu_declared *
find_declared(struct serving *serving, const struct mu_wire_question *question)
{
	const struct mu_symbol_helper *helper = serving->helper;

	if (serving->symbols == NULL || helper->find_declared == NULL ||
	    question->declared >= MU_DECLARED_QUESTIONS)
		return NULL;
	return helper->find_declared(&serving->types, serving->symbols,
	    (enum mu_declared_question)question->declared, question->address);
}

static void
answer(struct serving *serving, const struct mu_wire_question *question,
    const char *path)
{
	struct mu_wire_answer wire = { .detail = MU_SYMBOLS_NONE };

	if (question->declared != MU_DECLARED_NOTHING)
		wire.declared = find_declared(serving, question);
	else if (question->size != 0)
		find_type(serving, question, &wire.type);
	else
		find_address(serving, question, path, &wire);
	if (question->rules != 0 && serving->symbols != NULL)
		mu_symbols_frame_rules(serving->symbols,
		    (uintptr_t)question->address, &wire.rules);
	mu_wire_write(&serving->writer, &wire);
}

/* Answer questions from FD until its end. */
static void
serve(const struct mu_symbol_helper *helper, int fd)
{
	struct serving serving = {
		.helper = helper, .fd = fd, .cache = helper->cache
	};
	bool network = mu_debuginfod_named() &&
	    !mu_rights_other(&helper->rights) &&
	    (helper->source == NULL || !helper->source->local);
	struct mu_wire_question question;
	char path[PATH_MAX];

	serving.files.folder = helper->folder;
	serving.writer.fd = fd;
	serving.room = malloc(ROOM);
	open_source(&serving, network);
	if (serving.room == NULL ||
	    !mu_confine(&helper->rights, network,
		helper->cache.open ? MU_CACHE_SIZE : 0,
		helper->source == NULL ? NULL : helper->source->cgroups))
		_exit(1);
	mu_guard_stay();
	while (!serving.writer.failed &&
	    take(&serving, &question, sizeof(question)) &&
	    question.path_length < sizeof(path) &&
	    take(&serving, path, question.path_length)) {
		path[question.path_length] = '\0';
		__atomic_add_fetch(&helper->page->begun, 1, __ATOMIC_RELAXED);
		answer(&serving, &question, path);
	}
	mu_wire_flush(&serving.writer);
	_exit(0);
}

/* KEEP, and the descriptors of CACHE. */
static bool
is_kept(const struct mu_cache *cache, int keep, int fd)
{
	bool kept = fd == keep || (cache->open && fd == cache->folder);
	size_t i;

	for (i = 0; i < cache->num_files; i++)
		kept |= fd == cache->files[i];
	return kept;
}

static void
close_all_but(const struct mu_cache *cache, int keep)
{
	int fd, last = keep;
	size_t i;

	if (cache->open && cache->folder > last)
		last = cache->folder;
	for (i = 0; i < cache->num_files; i++)
		if (cache->files[i] > last)
			last = cache->files[i];
	closefrom(last + 1);
	for (fd = 0; fd < last; fd++)
		if (!is_kept(cache, keep, fd))
			close(fd);
	/* Libraries may use descriptors 0 to 2 unasked. */
	for (fd = 0; fd < 3; fd++)
		open("/dev/null", O_RDWR);
}

static void
become_helper(const struct mu_symbol_helper *helper, int fd, pid_t parent)
{
	sigset_t none;
	int signo;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "mu-names");
	for (signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fd = fcntl(fd, F_DUPFD, 3);
	if (fd < 0)
		_exit(1);
	close_all_but(&helper->cache, fd);
	serve(helper, fd);
}

static bool
map_page(struct mu_symbol_helper *helper)
{
	void *page;

	if (helper->page != NULL)
		return true;
	page = mmap(NULL, sizeof(*helper->page), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		helper->page = page;
	return page != MAP_FAILED;
}

bool
mu_helper_start(struct mu_symbol_helper *helper)
{
	pid_t parent = getpid();
	int fds[2];

	if (!map_page(helper) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	*helper->page = (struct mu_helper_page) { .begun = 0 };
	helper->asked = 0;
	if (helper->find_type != NULL && helper->source != NULL &&
	    !mu_rights_other(&helper->rights))
		mu_cache_open(&helper->cache);
	helper->pid = fork();
	if (helper->pid == 0)
		become_helper(helper, fds[1], parent);
	close(fds[1]);
	if (helper->pid < 0) {
		helper->pid = 0;
		mu_cache_close(&helper->cache);
		close(fds[0]);
		return false;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	helper->fd = fds[0];
	helper->starts++;
	return true;
}

void
mu_helper_kill(pid_t pid)
{
	uint64_t deadline_ns = mu_sys_now_ns() + PATIENCE_NS;

	mu_sys_kill(pid, SIGKILL);
	while (mu_sys_wait(pid, NULL, WNOHANG) == 0 &&
	    mu_sys_now_ns() < deadline_ns)
		mu_sys_sleep_ns(NAP_NS);
}

void
mu_helper_stop(struct mu_symbol_helper *helper)
{
	if (helper->pid == 0)
		return;
	mu_sys_close(&helper->fd);
	mu_helper_kill(helper->pid);
	helper->pid = 0;
	mu_cache_close(&helper->cache);
	mu_wire_reader_reset(&helper->reader);
}

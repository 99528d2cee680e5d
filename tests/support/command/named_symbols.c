#include "tests/support/command/named_symbols.h"

bool
named_read(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct named *program = ctx;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", program->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = pread(fd, buffer, size, (off_t)address);
	close(fd);
	return n == (ssize_t)size;
}

int
named_shell(const struct named *program, const char *format, ...)
{
	char words[1024];
	int length = snprintf(
	    words, sizeof(words), "D=%s; exec 2>$D/words; ", program->folder);
	va_list args;

	va_start(args, format);
	vsnprintf(words + length, sizeof(words) - (size_t)length, format, args);
	va_end(args);
	return system(words);
}

static void
named_make(struct named *program)
{
	memset(program, 0, sizeof(*program));
	strcpy(program->folder, "/tmp/named-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(program->folder));
	program->input = -1;
}

bool
named_build(const struct named *program, const char *flags)
{
	return named_shell(program,
		   "${CXX:-c++} -Wl,--build-id %s -o $D/program " NAMED_SOURCE,
		   flags) == 0;
}

static void
named_listen(struct named *program, FILE *lines)
{
	unsigned long long value;
	char what[32] = "";

	while (strcmp(what, "ready") != 0) {
		ck_assert_int_eq(fscanf(lines, "%31s %llx", what, &value), 2);
		if (strcmp(what, "compute") == 0)
			program->compute = value;
		else if (strcmp(what, "plain") == 0)
			program->plain = value;
		else if (strcmp(what, "vtable") == 0)
			program->vtable = value;
		else if (strcmp(what, "counter") == 0)
			program->counter = value;
		else if (strcmp(what, "zeroed") == 0)
			program->zeroed = value;
		else if (strcmp(what, "local") == 0)
			program->local = value;
		else if (strcmp(what, "line") == 0)
			program->line = (unsigned)value;
	}
}

void
named_run(struct named *program)
{
	char path[128];
	int in[2], out[2];
	FILE *lines;

	snprintf(path, sizeof(path), "%s/program", program->folder);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	program->pid = fork();
	if (program->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	program->input = in[1];
	lines = fdopen(out[0], "r");
	named_listen(program, lines);
	fclose(lines);
}

void
named_look(struct named *program)
{
	struct mu_mapping *mappings;
	struct mu_why why = { .text = "" };
	size_t count;

	mu_arena_open(&program->arena, (size_t)64 << 20);
	ck_assert_msg(mu_mappings_read(program->pid, &mappings, &count,
			  &program->arena, &why) == MU_OK,
	    "%s", why.text);
	program->source = (struct mu_symbols_source) {
		.mappings = mappings,
		.num_mappings = count,
		.pid = program->pid,
		.read = named_read,
		.ctx = program,
		.local = true,
	};
}

void
named_open(struct named *program)
{
	mu_symbols_close(program->symbols);
	program->symbols = mu_symbols_open(&program->source);
	ck_assert_ptr_nonnull(program->symbols);
}

static void
named_end(struct named *program)
{
	char words[128];

	mu_symbols_close(program->symbols);
	mu_arena_close(&program->arena);
	if (program->input >= 0)
		close(program->input);
	if (program->pid > 0)
		waitpid(program->pid, NULL, 0);
	snprintf(words, sizeof(words), "rm -rf %s", program->folder);
	ck_assert_int_eq(system(words), 0);
}

struct named named;

void
named_setup(void)
{
	named_make(&named);
}

void
named_teardown(void)
{
	named_end(&named);
}

struct mu_symbol
named_find(uintptr_t address)
{
	struct mu_symbol symbol;

	ck_assert(mu_symbols_find(named.symbols, address, &symbol));
	ck_assert_ptr_nonnull(symbol.module);
	return symbol;
}

void
must_be(uintptr_t address, const char *function)
{
	struct mu_symbol symbol = named_find(address);

	ck_assert_msg(symbol.function != NULL, "no name, not %s", function);
	ck_assert_str_eq(symbol.function, function);
}

void
must_be_nameless(uintptr_t address)
{
	struct mu_symbol symbol = named_find(address);

	ck_assert_msg(symbol.function == NULL, "named %s", symbol.function);
	ck_assert_ptr_null(symbol.file);
	ck_assert_uint_eq(symbol.line, 0);
}

void
must_be_offset(uintptr_t address, const char *program, const char *name)
{
	struct mu_symbol symbol = named_find(address);
	unsigned long long value = 0;
	char words[256];
	FILE *nm;

	snprintf(words, sizeof(words), "nm %s/%s | grep -w %s", named.folder,
	    program, name);
	nm = popen(words, "r");
	ck_assert_int_eq(fscanf(nm, "%llx", &value), 1);
	pclose(nm);
	ck_assert_uint_eq(symbol.offset, value);
}

void
must_have_names(void)
{
	must_be(named.compute, "named::compute(char const*, int)");
	must_be(named.compute + 3, "named::compute(char const*, int)");
	must_be(named.plain, "named_plain");
	must_be(named.vtable, "vtable for named::Shape");
	must_be(named.counter, "named::counter");
	must_be(named.zeroed, "named::zeroed");
}

void
must_have_line(void)
{
	struct mu_symbol symbol = named_find(named.compute);

	ck_assert_ptr_nonnull(symbol.file);
	ck_assert_ptr_nonnull(strstr(symbol.file, NAMED_SOURCE));
	ck_assert_uint_ge(symbol.line, named.line);
	ck_assert_uint_le(symbol.line, named.line + 2);
	symbol = named_find(named.counter);
	ck_assert_ptr_null(symbol.file);
}

void
must_be_outside(void)
{
	struct mu_symbol symbol;

	ck_assert(!mu_symbols_find(named.symbols, named.local, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, 0, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, 16, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, UINTPTR_MAX, &symbol));
}

bool
named_begin(const char *flags)
{
	if (!named_build(&named, flags)) {
		printf("SKIPPED: symbols: no %s here\n", flags);
		return false;
	}
	named_run(&named);
	named_look(&named);
	named_open(&named);
	return true;
}

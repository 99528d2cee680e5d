# memunreachable: unreachable memory in a running program.
#
# One file, not recursive. `make help` lists the targets.

VERSION   := 0.1.0
SOVERSION := 0

CC        ?= cc
CXX       ?= c++
LD        ?= ld
AR        ?= ar
NM        ?= nm
OBJCOPY   ?= objcopy
PREFIX    ?= /usr/local
LIBDIR    ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR    ?= $(PREFIX)/bin
DATADIR   ?= $(PREFIX)/share
MANDIR    ?= $(DATADIR)/man
UNITDIR   ?= $(PREFIX)/lib/systemd/system
PYTHONDIR ?= $(DATADIR)/memunreachable/python
CFLAGS    ?= -O2 -g
CXXFLAGS  ?= -O2 -g
BUILD     ?= build
Q         := $(if $(V),,@)

MU_WARN   := -Wall -Wextra -Wshadow
MU_CPPFLAGS := -D_GNU_SOURCE -Iinclude -I.
MU_CFLAGS := -std=gnu11 $(MU_WARN) -fPIC -fvisibility=hidden \
             -fno-omit-frame-pointer

# The sources: whole folders. What only the command or the recorder needs of a
# folder that it shares with the library is named here.
in = $(sort $(wildcard $(foreach below,/*.c /*/*.c /*/*/*.c,\
	$(addsuffix $(below),$(1)))))

SRC_GROUND := $(filter-out %/regular_file.c,$(call in,include/mu)) \
	$(wildcard lib/report/symbolizer.c lib/report/symbolizer_process.c)
# A process copies itself, and its copy is read.
SRC_KEEPER := $(sort $(wildcard \
	ptrace/remote/process_copy*.c lib/helpers/keeper*.c \
	lib/helpers/shared_*.c) \
	ptrace/live/record_locks.c \
	$(addprefix lib/helpers/, \
	oom_score.c watchdog.c))
SRC_REMOTE := $(wildcard heapwalk/memory/remote_*.c) \
	heapwalk/heaps/glibc/banner.c
# A core file becomes a snapshot.
SRC_CORE := $(call in,ptrace/core) include/mu/regular_file.c
SRC_SYMBOLIZE := $(call in,lib/symbolize)
# What recorders wrote becomes text or HTML.
SRC_VIEW := $(call in,lib/view)
# What holds the heap.
SRC_EXPLAIN := $(call in,heapwalk/explain lib/python lib/explain)
# The text of leaks, of the library and of the command.
SRC_TEXT := $(addprefix lib/,term/names.c term/safe_text.c term/out.c \
	writers/leaks_text.c writers/frame_line.c)
SRC_COMMAND := $(SRC_KEEPER) $(SRC_REMOTE) $(SRC_CORE) $(SRC_SYMBOLIZE) \
	$(SRC_VIEW) $(SRC_EXPLAIN) $(filter-out lib/cli/main.c $(SRC_TEXT),$(call in, \
	$(addprefix lib/,term types look since compare check writers command doctor watch cli)))
COMMAND_OBJS := $(SRC_COMMAND:%.c=$(BUILD)/%.o) \
	$(BUILD)/lib/command/configured.o
# Libraries that only the command needs are linked to it and to nothing else.
COMMAND_LIBS := -ljansson -lzstd -ldw -lelf -lbsd -liberty -ldl

# Replaces functions of libc, which a static library must not.
SRC_INTERPOSED := lib/pass/exit_calls.c lib/pass/filter_calls.c
INTERPOSED_OBJS := $(SRC_INTERPOSED:%.c=$(BUILD)/%.o)

SRCS := $(filter-out $(SRC_COMMAND) $(SRC_INTERPOSED), $(SRC_GROUND) $(call in,heapwalk \
	ptrace/live ptrace/remote lib/state lib/driver lib/growth lib/pass lib/helpers \
	lib/pipe lib/report) $(SRC_TEXT))
SRCS := $(sort $(SRCS))
OBJS := $(SRCS:%.c=$(BUILD)/%.o)
# What never runs while threads are stopped: check-context leaves it out.
SRC_UNSTOPPED := $(addprefix lib/state/, library.c exit_stack.c \
	answer_file.c options.c options_signal.c options_reach.c variables.c \
	malloc_probe.c) \
	$(addprefix lib/pass/, startup.c exit_check.c forked_end.c watch_signal.c \
	memunreachable.c report_string.c test_case.c fill_memory.c disable.c \
	no_leaks.c checkpoint.c why_reachable.c each_unreachable.c \
	watch_looks.c) $(call in,lib/growth) \
	$(filter-out $(SRC_GROUND),$(call in,lib/report)) $(SRC_TEXT)

# The recorder: the only library here that replaces malloc.
SRC_RECORDER := $(call in,lib/malloc_debug)
SRC_UNWIND := $(addprefix lib/malloc_debug/unwind/, bytes.c module.c \
	table.c frame_program.c \
	frame_rules.c frame_memo.c)
RECORDER_GROUND := $(addprefix include/mu/, text.c sort.c arena.c \
	signal_action.c report_file.c) \
	lib/state/options.c lib/state/options_signal.c lib/state/variables.c \
	$(wildcard lib/report/symbolizer*.c) heapwalk/subject/ranges.c
RECORDER_OBJS := $(SRC_RECORDER:%.c=$(BUILD)/%.o)
RECORDER_LIBS := -ldl -pthread
RECORDER_SO := libmemunreachable-malloc-debug.so.$(SOVERSION)
RECORDER_SO_FULL := libmemunreachable-malloc-debug.so.$(VERSION)
RECORDER := $(BUILD)/$(RECORDER_SO_FULL) $(BUILD)/libmemunreachable-malloc-debug.a

HEADERS  := memunreachable.h memunreachable_cxx.h malloc_debug.h \
	leaktracer.h MemoryTrace.hpp test.h test_frames.h \
	check.h gtest.h catch2.h
MAN1     := $(wildcard man/*.1)
MAN3     := $(wildcard man/*.3)
MAN5     := $(wildcard man/*.5)
MAN7     := $(wildcard man/*.7)

SO       := libmemunreachable.so.$(SOVERSION)
SO_FULL  := libmemunreachable.so.$(VERSION)
LIBS     := $(BUILD)/$(SO_FULL) $(BUILD)/libmemunreachable.a

# LeakSanitizer's interface.
LSAN_SO := libmemunreachable-lsan.so.$(SOVERSION)
LSAN_SO_FULL := libmemunreachable-lsan.so.$(VERSION)
LSAN_OBJS := $(BUILD)/lib/glue/lsan/lsan.o $(BUILD)/lib/glue/lsan/objects.o \
	$(BUILD)/lib/glue/lsan/options.o \
	$(BUILD)/lib/glue/lsan/suppressed.o $(BUILD)/lib/since/pattern.o

CMAKE_FILES := $(addprefix $(BUILD)/memunreachable-,config.cmake \
	config-version.cmake)

UNIT_FILES := $(BUILD)/memunreachable@.service

# main() of tests with GoogleTest, if that is here.
GTEST_MAIN := $(if $(shell pkg-config --exists gtest 2>/dev/null && echo yes),\
	$(BUILD)/libmemunreachable-gtest-main.a \
	$(BUILD)/memunreachable-gtest-main.pc)

EXAMPLES := $(BUILD)/examples/find_leaks $(BUILD)/examples/watch_daemon \
	$(BUILD)/examples/seed_article $(BUILD)/examples/why_reachable \
	$(BUILD)/examples/pool_heap $(BUILD)/examples/leaky_cache
EXAMPLES_CHECK := $(BUILD)/examples/no_leaks_test

.PHONY: always all libraries static dist deps demo examples lint format install uninstall help clean
.DELETE_ON_ERROR:

all: $(LIBS) $(RECORDER) $(BUILD)/$(LSAN_SO_FULL) $(GTEST_MAIN) $(CMAKE_FILES) $(UNIT_FILES) $(BUILD)/memunreachable.pc $(BUILD)/memunreachable ## build the libraries and the command
	@:

libraries: $(LIBS) $(RECORDER) $(BUILD)/$(LSAN_SO_FULL) ## build the libraries alone

# Several goals, as of "make deps check", run in the order given, also with -j:
# before 4.4 make knows this for all targets or none. What one goal needs is
# built by JOBS at a time.
ifneq ($(word 2,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
JOBS      ?= $(shell nproc)

deps: ## install what building and testing need
	$(Q)sh tests/support/project/deps.sh

# The canary would be in the TLS, which a stopped thread may not have, and which
# the thread of a watched signal shares with one that may end.
$(OBJS) $(INTERPOSED_OBJS) $(COMMAND_OBJS): override CFLAGS += \
	-fno-stack-protector

# It defines a function in assembler, which no other partition of -flto sees.
$(BUILD)/include/mu/signal_action.o: override CFLAGS += -fno-lto

# Its thread variables are of the first libraries, so that none is allocated;
# a new that throws is left through its frames, which begin every stack.
$(RECORDER_OBJS): override CFLAGS += -ftls-model=initial-exec -fexceptions \
	-fno-builtin -fno-stack-protector -fno-optimize-sibling-calls

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(MU_CFLAGS) $(MU_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP \
		-c -o $@ $<

$(BUILD)/$(SO_FULL): $(OBJS) $(INTERPOSED_OBJS) lib/memunreachable.map
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SO) \
		-Wl,--version-script,lib/memunreachable.map -Wl,-z,defs \
		-Wl,-z,nodelete -Wl,-z,relro,-z,now -o $@ $(OBJS) \
		$(INTERPOSED_OBJS)
	$(Q)ln -sf $(SO_FULL) $(BUILD)/$(SO)
	$(Q)ln -sf $(SO) $(BUILD)/libmemunreachable.so

$(BUILD)/$(RECORDER_SO_FULL): $(RECORDER_OBJS) \
		$(RECORDER_GROUND:%.c=$(BUILD)/%.o) \
	lib/malloc_debug/malloc_debug.map
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(RECORDER_SO) \
		-Wl,--version-script,lib/malloc_debug/malloc_debug.map \
		-Wl,-z,defs -Wl,-z,nodelete -Wl,-z,relro,-z,now -o $@ \
		$(filter %.o,$^) \
		$(RECORDER_LIBS)
	$(Q)ln -sf $(RECORDER_SO_FULL) $(BUILD)/$(RECORDER_SO)
	$(Q)ln -sf $(RECORDER_SO) $(BUILD)/libmemunreachable-malloc-debug.so

$(BUILD)/$(LSAN_SO_FULL): $(LSAN_OBJS) $(BUILD)/$(SO_FULL) lib/glue/lsan/lsan.map
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LSAN_SO) \
		-Wl,--version-script,lib/glue/lsan/lsan.map -Wl,-z,defs \
		-Wl,-z,nodelete -Wl,-z,relro,-z,now -o $@ $(LSAN_OBJS) \
		$(BUILD)/$(SO_FULL) -ldl -Wl,-rpath,'$$ORIGIN'
	$(Q)ln -sf $(LSAN_SO_FULL) $(BUILD)/$(LSAN_SO)
	$(Q)ln -sf $(LSAN_SO) $(BUILD)/libmemunreachable-lsan.so

$(BUILD)/libmemunreachable-malloc-debug.a: $(RECORDER_OBJS) \
		$(RECORDER_GROUND:%.c=$(BUILD)/%.o)
	$(Q)$(LD) -r -o $(BUILD)/malloc-debug-all.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/malloc-debug-all.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/malloc-debug-all.o

# One object, its inner symbols local: the .a lands in strangers' programs.
$(BUILD)/libmemunreachable.a: $(OBJS)
	$(Q)$(LD) -r -o $(BUILD)/memunreachable-all.o $(OBJS)
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/memunreachable-all.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/memunreachable-all.o

# Every symbol visible, for the tests.
$(BUILD)/libmemunreachable-test.a: $(OBJS)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(OBJS)

# As memunreachable.pc below; a new time only where something is new.
$(BUILD)/lib/command/configured.c: lib/command/configured.c.in always
	@mkdir -p $(@D)
	$(Q)sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SO)|' \
		-e 's|@RECORDER@|$(RECORDER_SO)|' \
		-e 's|@LIBDIR@|$(LIBDIR)|' \
		-e "s|@MULTIARCH@|$$($(CC) -print-multiarch 2>/dev/null)|" \
		$< > $@.new
	$(Q)cmp -s $@.new $@ || cp $@.new $@

$(BUILD)/lib/command/configured.o: $(BUILD)/lib/command/configured.c
	$(Q)$(CC) $(MU_CFLAGS) $(MU_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libmemunreachable-command.a: $(COMMAND_OBJS)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(COMMAND_OBJS)

$(BUILD)/memunreachable: $(BUILD)/lib/cli/main.o \
		$(BUILD)/libmemunreachable-command.a \
		$(BUILD)/libmemunreachable-test.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -o $@ $^ \
		$(COMMAND_LIBS) -pthread

# For a machine or container where nothing is installed. ld warns of dlopen(),
# by which the debuginfod library is loaded where there is one.
static: $(BUILD)/memunreachable-static ## the command as one file, without libraries
$(BUILD)/memunreachable-static: $(BUILD)/lib/cli/main.o \
		$(BUILD)/libmemunreachable-command.a \
		$(BUILD)/libmemunreachable-test.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -s -o $@ $^ $(COMMAND_LIBS) \
		-lmd -lz -llzma -lbz2 -pthread

$(BUILD)/lib/glue/gtest_main.o: lib/glue/gtest_main.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) $(MU_WARN) -Iinclude $$(pkg-config --cflags gtest) $(CXXFLAGS) \
		-fPIC -MMD -MP -c -o $@ $<

$(BUILD)/libmemunreachable-gtest-main.a: $(BUILD)/lib/glue/gtest_main.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $<

# Made anew each time: it holds PREFIX, which may differ at `make install`.
CONFIGURED := $(addprefix $(BUILD)/,memunreachable.pc memunreachable-gtest-main.pc) \
	$(CMAKE_FILES) $(UNIT_FILES)
$(BUILD)/memunreachable.pc: lib/memunreachable.pc.in
$(BUILD)/memunreachable-gtest-main.pc: lib/glue/memunreachable-gtest-main.pc.in
$(CMAKE_FILES): $(BUILD)/%: lib/glue/cmake/%.in
$(UNIT_FILES): $(BUILD)/%: lib/glue/systemd/%.in
$(CONFIGURED): always
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SO)|' \
		-e 's|@BINDIR@|$(BINDIR)|' $(filter %.in,$^) > $@

$(BUILD)/examples/%: examples/%.c $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MU_WARN) -Iinclude $(CFLAGS) -o $@ $< -L$(BUILD) \
		-lmemunreachable -Wl,-rpath,'$$ORIGIN/..' -pthread

$(BUILD)/examples/%: examples/%.cpp $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(MU_WARN) -Iinclude $(CXXFLAGS) -o $@ $< -L$(BUILD) \
		-lmemunreachable -Wl,-rpath,'$$ORIGIN/..'

$(EXAMPLES_CHECK): examples/no_leaks_test.c $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MU_WARN) -Iinclude $(CHECK_CFLAGS) $(CFLAGS) -o $@ $< \
		-L$(BUILD) -lmemunreachable -Wl,-rpath,'$$ORIGIN/..' \
		$(CHECK_LIBS)

examples: $(EXAMPLES) $(EXAMPLES_CHECK) ## build the examples

demo: ## show the main job
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) $(BUILD)/examples/find_leaks
	$(Q)$(BUILD)/examples/find_leaks

# A file for each source that is right; it is looked at again if it changes.
LINTED := $(patsubst %.c,$(BUILD)/lint/%.right,$(SRCS) $(SRC_INTERPOSED) \
	$(SRC_RECORDER) \
	$(SRC_COMMAND) $(call in,lib/glue/lsan) lib/cli/main.c)

$(LINTED): $(BUILD)/lint/%.right: %.c .clang-tidy tests/support/project/lint.sh
	@mkdir -p $(@D)
	$(Q)sh tests/support/project/lint.sh $< $@

# Two external functions of one name may differ in what they take: -flto sees it.
lint: ## -Werror with gcc and clang, aarch64, clang-tidy, format, shellcheck
	$(Q)$(MAKE) --no-print-directory -k -j$(JOBS) $(LINTED)
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/lto CC=gcc \
		AR=gcc-ar NM=gcc-nm LDFLAGS="$(LDFLAGS)" \
		CFLAGS="-O1 -flto=auto -Wlto-type-mismatch -Werror" \
		$(BUILD)/lto/memunreachable
	$(Q)sh tests/support/project/lint.sh

format: ## clang-format the tree
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' '*.cc' '*.cpp')

# One list for both ways: "source:place".
INSTALLED := \
	$(HEADERS:%=include/memunreachable/%:$(INCLUDEDIR)/memunreachable) \
	$(BUILD)/$(SO_FULL):$(LIBDIR) $(BUILD)/libmemunreachable.a:$(LIBDIR) \
	$(BUILD)/$(RECORDER_SO_FULL):$(LIBDIR) $(BUILD)/$(LSAN_SO_FULL):$(LIBDIR) \
	$(BUILD)/libmemunreachable-malloc-debug.a:$(LIBDIR) \
	$(BUILD)/memunreachable.pc:$(LIBDIR)/pkgconfig \
	$(foreach file,$(GTEST_MAIN),$(file):$(LIBDIR)$(if $(filter %.pc,$(file)),/pkgconfig)) \
	$(CMAKE_FILES:%=%:$(LIBDIR)/cmake/memunreachable) \
	$(MAN1:%=%:$(MANDIR)/man1) \
	$(MAN3:%=%:$(MANDIR)/man3) $(MAN5:%=%:$(MANDIR)/man5) $(MAN7:%=%:$(MANDIR)/man7) \
	$(BUILD)/memunreachable:$(BINDIR) \
	lib/glue/memunreachable-memcheck:$(BINDIR) \
	$(UNIT_FILES:%=%:$(UNITDIR)) \
	lib/glue/systemd/memunreachable@.timer:$(UNITDIR) \
	lib/glue/pytest/pytest_memunreachable.py:$(PYTHONDIR) \
	$(patsubst %,lib/glue/pytest/dist-info/%:$(PYTHONDIR)/pytest_memunreachable-$(VERSION).dist-info, \
		METADATA entry_points.txt) \
	lib/writers/memunreachable-report.schema.json:$(DATADIR)/memunreachable \
	lib/glue/gdb/memunreachable.py:$(DATADIR)/memunreachable \
	lib/glue/python/cpython.supp:$(DATADIR)/memunreachable \
	$(patsubst %,lib/glue/fleet/%:$(DATADIR)/memunreachable/fleet, \
		alerts.yaml dashboard.json kubernetes.yaml) \
	lib/cli/completion/memunreachable.bash:$(DATADIR)/bash-completion/completions \
	lib/cli/completion/_memunreachable:$(DATADIR)/zsh/site-functions \
	lib/cli/completion/memunreachable.fish:$(DATADIR)/fish/vendor_completions.d

install: all ## install below $(DESTDIR)$(PREFIX)
	$(Q)for item in $(INSTALLED); do \
		install -D -m 644 "$${item%%:*}" \
		"$(DESTDIR)$${item##*:}/$$(basename "$${item%%:*}")" || exit 1; \
	done
	$(Q)chmod 755 $(DESTDIR)$(BINDIR)/memunreachable \
		$(DESTDIR)$(BINDIR)/memunreachable-memcheck \
		$(DESTDIR)$(LIBDIR)/$(SO_FULL) $(DESTDIR)$(LIBDIR)/$(RECORDER_SO_FULL) \
		$(DESTDIR)$(LIBDIR)/$(LSAN_SO_FULL)
	$(Q)ln -sf $(SO_FULL) $(DESTDIR)$(LIBDIR)/$(SO)
	$(Q)ln -sf $(SO) $(DESTDIR)$(LIBDIR)/libmemunreachable.so
	$(Q)ln -sf $(RECORDER_SO_FULL) $(DESTDIR)$(LIBDIR)/$(RECORDER_SO)
	$(Q)ln -sf $(LSAN_SO_FULL) $(DESTDIR)$(LIBDIR)/$(LSAN_SO)
	$(Q)ln -sf $(LSAN_SO) $(DESTDIR)$(LIBDIR)/libmemunreachable-lsan.so
	$(Q)ln -sf $(RECORDER_SO) \
		$(DESTDIR)$(LIBDIR)/libmemunreachable-malloc-debug.so

uninstall: ## remove what install put there
	$(Q)for item in $(INSTALLED); do \
		rm -f "$(DESTDIR)$${item##*:}/$$(basename "$${item%%:*}")"; \
	done
	$(Q)rm -f $(DESTDIR)$(LIBDIR)/$(SO) $(DESTDIR)$(LIBDIR)/libmemunreachable.so \
		$(DESTDIR)$(LIBDIR)/$(RECORDER_SO) \
		$(DESTDIR)$(LIBDIR)/$(LSAN_SO) $(DESTDIR)$(LIBDIR)/libmemunreachable-lsan.so \
		$(DESTDIR)$(LIBDIR)/libmemunreachable-malloc-debug.so
	$(Q)rmdir $(DESTDIR)$(INCLUDEDIR)/memunreachable \
		$(DESTDIR)$(PYTHONDIR)/pytest_memunreachable-$(VERSION).dist-info \
		$(DESTDIR)$(PYTHONDIR) \
		$(DESTDIR)$(DATADIR)/memunreachable/fleet \
		$(DESTDIR)$(DATADIR)/memunreachable 2>/dev/null || true

# The same bytes for the same commit: git orders the files and gives them its time.
DIST := memunreachable-$(VERSION)
dist: ## a tarball of what is committed, the same for the same commit
	@mkdir -p $(BUILD)
	$(Q)git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9n \
		> $(BUILD)/$(DIST).tar.gz
	@echo $(BUILD)/$(DIST).tar.gz

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | \
		awk -F'|' '{ printf "%-22s %s\n", $$1, $$2 }'

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(RECORDER_OBJS:.o=.d) $(LSAN_OBJS:.o=.d)
-include $(BUILD)/lib/glue/gtest_main.d
-include $(OBJS:.o=.d) $(INTERPOSED_OBJS:.o=.d) $(COMMAND_OBJS:.o=.d) $(BUILD)/lib/cli/main.d
-include $(LINTED:=.d)

include tests/tests.mk

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
CFLAGS    ?= -O2 -g
CXXFLAGS  ?= -O2 -g
BUILD     ?= build
Q         := $(if $(V),,@)

MU_WARN   := -Wall -Wextra -Wshadow
MU_CPPFLAGS := -D_GNU_SOURCE -Iinclude -I.
MU_CFLAGS := -std=gnu11 $(MU_WARN) -fPIC -fvisibility=hidden \
             -fno-omit-frame-pointer

# Sources in the order in which a pass goes through them.
SRC_ORIGINAL := \
	lib/state/library.c lib/pass/startup.c lib/state/exit_stack.c \
	lib/state/answer_file.c lib/state/options.c \
	lib/state/options_signal.c lib/state/options_reach.c \
	lib/pass/watch_signal.c \
	lib/pass/memunreachable.c lib/pass/no_leaks.c lib/pass/why_reachable.c \
	lib/pass/each_unreachable.c \
	lib/pass/pass.c lib/pass/look.c \
	lib/pass/outcome.c lib/state/under_way.c lib/state/lock.c \
	lib/state/registry.c \
	lib/state/log_sink.c lib/state/malloc_probe.c lib/state/allocator_freeze.c \
	lib/pass/stop_method.c lib/pass/parked_capture.c lib/state/sweeper_end.c \
	lib/state/room.c
SRC_COLLECTOR := \
	lib/helpers/collector.c lib/helpers/urgency.c lib/state/caller.c \
	lib/helpers/descriptors.c lib/state/left_out.c \
	ptrace/live/threads.c ptrace/live/threads_release.c \
	ptrace/live/task_list.c \
	ptrace/live/tracee.c ptrace/live/wakeup.c \
	ptrace/live/refusal.c ptrace/live/probe.c ptrace/live/parking.c \
	ptrace/live/parking_choice.c ptrace/live/parking_await.c \
	ptrace/live/parking_rows.c ptrace/live/parking_handler.c \
	ptrace/live/registers.c ptrace/live/mappings.c \
	ptrace/live/kernel_values.c ptrace/live/proc.c ptrace/live/pause.c \
	ptrace/live/snapshot.c
SRC_SWEEPER := \
	lib/helpers/sweeper.c ptrace/live/sharer.c lib/helpers/search.c \
	lib/helpers/image.c lib/helpers/image_drop.c lib/helpers/sweeper_limits.c \
	lib/helpers/worker_threads.c lib/helpers/own_memory.c \
	heapwalk/subject/snapshot.c heapwalk/memory/self.c heapwalk/memory/guard.c \
	heapwalk/memory/fork_gaps.c heapwalk/memory/shared.c \
	heapwalk/memory/available.c \
	heapwalk/memory/headroom.c \
	heapwalk/memory/wiped.c heapwalk/memory/forked.c \
	heapwalk/memory/pages.c heapwalk/subject/classify.c \
	heapwalk/subject/tmpfs.c heapwalk/subject/lines.c \
	heapwalk/heaps/glibc/reading.c heapwalk/heaps/glibc/layout.c \
	heapwalk/heaps/glibc/release.c \
	heapwalk/heaps/glibc/arena.c \
	heapwalk/heaps/glibc/libc.c heapwalk/heaps/glibc/data.c \
	heapwalk/heaps/glibc/foreign.c heapwalk/subject/dynamic_symbols.c \
	heapwalk/heaps/glibc/messages.c \
	heapwalk/heaps/glibc/main.c heapwalk/heaps/glibc/hole.c \
	heapwalk/heaps/glibc/pieces.c \
	heapwalk/heaps/glibc/heaps.c heapwalk/heaps/glibc/strays.c \
	heapwalk/heaps/glibc/chunks.c heapwalk/heaps/glibc/parts.c \
	heapwalk/heaps/glibc/step.c \
	heapwalk/heaps/glibc/probe.c heapwalk/heaps/glibc/free.c \
	heapwalk/heaps/glibc/lists.c \
	heapwalk/heaps/glibc/lanes.c heapwalk/heaps/glibc/picked.c \
	heapwalk/heaps/glibc/slots.c heapwalk/heaps/glibc/tls.c \
	heapwalk/heaps/glibc/tcache.c \
	heapwalk/heaps/glibc/counts.c \
	heapwalk/heaps/glibc/orphans.c \
	heapwalk/heaps/glibc/mmapped.c heapwalk/heaps/glibc/pick.c \
	heapwalk/heaps/glibc/inferred.c heapwalk/heaps/glibc/usage.c \
	heapwalk/heaps/usage.c \
	heapwalk/heaps/blocks.c heapwalk/heaps/blocks_seal.c \
	heapwalk/heaps/blocks_number.c \
	heapwalk/heaps/spans.c \
	heapwalk/roots/roots.c heapwalk/roots/places.c heapwalk/subject/ranges.c \
	heapwalk/subject/stacks.c \
	heapwalk/subject/stacks_ended.c heapwalk/subject/tls.c \
	heapwalk/subject/modules.c \
	heapwalk/heaps/glibc/in_malloc.c \
	heapwalk/graph/graph.c heapwalk/graph/parts.c heapwalk/graph/collect.c \
	heapwalk/graph/roots_reading.c heapwalk/graph/reader.c \
	heapwalk/graph/store.c heapwalk/graph/lost.c \
	heapwalk/graph/words.c heapwalk/graph/references.c \
	heapwalk/graph/stale_links.c \
	heapwalk/graph/encodings.c \
	heapwalk/mark/chains.c heapwalk/mark/mark.c \
	heapwalk/mark/links.c heapwalk/mark/marking.c \
	heapwalk/mark/marker.c \
	heapwalk/fold/packed.c heapwalk/fold/fold.c heapwalk/fold/fold_alone.c \
	heapwalk/fold/trees.c heapwalk/fold/giant_scc.c heapwalk/fold/components.c \
	heapwalk/fold/component_sums.c heapwalk/fold/cycles.c \
	heapwalk/fold/paths.c heapwalk/fold/retained.c heapwalk/fold/top_n.c heapwalk/fold/similar.c \
	heapwalk/fold/reported.c \
	heapwalk/recorded/place.c heapwalk/recorded/open.c \
	heapwalk/recorded/modules.c heapwalk/recorded/recorded.c \
	heapwalk/refer/referrers.c heapwalk/refer/place.c heapwalk/refer/owners.c \
	lib/pipe/pipe.c lib/pipe/leak_pipe.c lib/pipe/candidates.c \
	lib/pipe/why_pipe.c
SRC_REPORT := lib/state/results.c lib/pipe/entries.c lib/report/backtrace.c \
	lib/report/symbolizer_open.c lib/report/text.c \
	lib/report/frame_text.c lib/report/exported.c lib/report/hint.c \
	lib/report/reference_text.c
SRC_GROUND := include/mu/signal_action.c include/mu/arena.c \
	include/mu/sort.c include/mu/text.c include/mu/log.c \
	include/mu/report_file.c \
	include/mu/status.c include/mu/procfs.c lib/report/symbolizer.c \
	lib/report/symbolizer_process.c

# The command. Libraries that only it needs are linked here and nowhere else.
# First a process or a core becomes an answer, then names, words and files.
SRC_KEEPER := \
	ptrace/live/remote_code.c ptrace/live/remote_thread.c \
	ptrace/live/remote_call.c \
	ptrace/live/remote_stop.c ptrace/live/remote_return.c ptrace/live/rights.c \
	ptrace/live/alternate_stacks.c \
	ptrace/live/process_copy.c ptrace/live/process_copy_end.c \
	ptrace/live/process_copy_left.c \
	lib/helpers/shared_pages.c lib/helpers/copy_pause.c \
	lib/helpers/oom_score.c \
	lib/helpers/keeper.c lib/helpers/keeper_body.c lib/helpers/keeper_drop.c \
	lib/helpers/keeper_line.c \
	lib/helpers/guardian.c
SRC_MIRROR := heapwalk/memory/mirror.c heapwalk/memory/mirror_group.c \
	heapwalk/memory/map_file.c \
	heapwalk/memory/mirror_fill.c heapwalk/memory/mirror_window.c \
	heapwalk/heaps/glibc/banner.c
SRC_SUBJECT := lib/cli/check_process.c lib/cli/unsettled.c \
	lib/cli/check_core.c lib/cli/check_end.c \
	lib/cli/judgement.c lib/cli/program_kind.c lib/cli/release_guess.c \
	lib/cli/naming.c
SRC_SYMBOLIZE := \
	lib/symbolize/symbols.c lib/symbolize/loaded.c lib/symbolize/guard.c \
	lib/symbolize/module_symbols.c lib/symbolize/elf_file.c \
	lib/symbolize/elf_segments.c lib/symbolize/elf_image.c \
	lib/symbolize/subject_files.c lib/symbolize/frame_files.c \
	lib/symbolize/helper.c lib/symbolize/helper_process.c \
	lib/symbolize/helper_body.c lib/symbolize/symbol_wire.c \
	lib/symbolize/symbol_wire_write.c lib/symbolize/confinement.c \
	lib/symbolize/identity.c \
	lib/symbolize/read_only.c \
	lib/symbolize/debug_files.c lib/symbolize/build_id.c \
	lib/symbolize/checksum.c lib/symbolize/debuginfod.c \
	lib/symbolize/symbol_table.c lib/symbolize/source_lines.c \
	lib/symbolize/unit_functions.c lib/symbolize/split_unit.c \
	lib/symbolize/inlined.c \
	lib/symbolize/demangled.c
SRC_DOCTOR := \
	lib/cli/doctor.c lib/cli/doctor_machine.c lib/cli/doctor_target.c \
	lib/cli/doctor_files.c lib/cli/libc_release.c lib/cli/findings.c \
	lib/cli/doctor_judge_machine.c lib/cli/doctor_judge_target.c \
	lib/cli/doctor_judge_files.c
# A core file becomes a snapshot.
SRC_CORE := ptrace/core/snapshot.c ptrace/core/file.c ptrace/core/unpack.c \
	ptrace/core/file_kind.c \
	ptrace/core/process.c ptrace/core/threads.c ptrace/core/mappings.c \
	ptrace/core/names.c ptrace/core/modules.c ptrace/core/file_id.c \
	ptrace/core/memory.c ptrace/core/memory_place.c include/mu/regular_file.c
SRCS := $(SRC_ORIGINAL) $(SRC_COLLECTOR) $(SRC_SWEEPER) $(SRC_REPORT) \
	$(SRC_GROUND)
OBJS := $(SRCS:%.c=$(BUILD)/%.o)

# What recorders wrote, from files to words: read, named, put together, shown.
SRC_VIEW := lib/view/view.c lib/view/view_heap_dump.c lib/view/view_diff.c \
	lib/view/view_leaktracer.c lib/view/opened_dump.c \
	lib/view/file_text.c lib/view/line.c lib/view/heap_dump_file.c \
	lib/view/frame_info.c lib/view/leaktracer_file.c \
	lib/view/program_file.c lib/view/module_table.c \
	lib/view/module_remarks.c lib/view/hash_index.c lib/view/records.c \
	lib/view/place_names.c lib/view/frames.c \
	lib/view/tree.c lib/view/tree_walk.c lib/view/diff.c \
	lib/view/leak_groups.c lib/view/notes.c \
	lib/view/place_text.c lib/view/dump_summary.c lib/view/tree_text.c \
	lib/view/html_text.c lib/view/html_page.c lib/view/tree_html.c \
	lib/view/diff_text.c lib/view/leaktracer_text.c
SRC_CLI := lib/cli/cli_options.c lib/cli/cli_subject.c \
	lib/cli/cli_values.c lib/cli/cli_help.c \
	lib/term/output.c lib/cli/progress.c lib/cli/deputy.c \
	lib/cli/command.c lib/cli/command_file.c lib/cli/library_path.c \
	lib/cli/command_environment.c lib/cli/command_report.c \
	lib/cli/command_trace.c lib/cli/command_answer.c \
	lib/cli/command_start.c lib/cli/command_wait.c lib/cli/command_daemon.c \
	lib/cli/command_status.c \
	lib/term/names.c lib/cli/text_report.c lib/cli/verdict_text.c \
	lib/cli/leak_text.c lib/cli/frame_line.c \
	lib/cli/report_lines.c lib/cli/frame_filter.c lib/cli/json_report.c \
	lib/cli/json_values.c lib/cli/exit_status.c lib/cli/status_word.c \
	lib/term/safe_text.c lib/term/human.c lib/term/style.c
SRC_COMMAND := $(SRC_KEEPER) $(SRC_MIRROR) $(SRC_SUBJECT) $(SRC_CORE) \
	$(SRC_SYMBOLIZE) $(SRC_DOCTOR) $(SRC_VIEW) $(SRC_CLI)
COMMAND_OBJS := $(SRC_COMMAND:%.c=$(BUILD)/%.o) $(BUILD)/lib/cli/configured.o
COMMAND_LIBS := -ljansson -ldw -lelf -liberty -ldl

# The recorder: the only library here that stands between a program and malloc.
# The options, the allocator underneath, who called, what is known, the calls,
# then what is written when asked, and LeakTracer's ways.
SRC_UNWIND := $(addprefix lib/malloc_debug/, unwind/bytes.c unwind/module.c \
	unwind/module_known.c unwind/table.c unwind/frame_program.c \
	unwind/frame_expression.c unwind/frame_rules.c unwind/frame_memo.c)
SRC_RECORDER := $(addprefix lib/malloc_debug/, \
	entry/startup.c entry/stand_aside.c entry/options_environment.c \
	entry/options.c \
	entry/options_table.c entry/real.c entry/bootstrap.c entry/new_failed.c) \
	$(SRC_UNWIND) $(addprefix lib/malloc_debug/, \
	unwind/stack_walk.c unwind/stack_capture.c unwind/stack_capture_unit.c \
	unwind/stack_capture_full.c unwind/stack_capture_memory.c \
	unwind/stack_layouts.c \
	shadow/stack_depot.c shadow/stack_depot_memory.c \
	shadow/stack_depot_slots.c shadow/stack_id.c \
	shadow/sampling.c shadow/live.c shadow/recording.c shadow/recorder.c \
	shadow/inside.c \
	entry/entry.c entry/aligned.c entry/new.c entry/delete.c entry/dlclose.c \
	entry/exit.c \
	entry/dlopen.c \
	entry/stderr.c entry/dispatch.c entry/hooks.c entry/gate.c entry/careful.c \
	entry/careful_realloc.c shadow/block.c checks/guards.c \
	checks/guards_live.c checks/fill.c shadow/quarantine.c checks/errors.c \
	dumps/report.c dumps/symbolize.c entry/fork.c entry/kept_stderr.c \
	dumps/leak_blocks.c dumps/leak_list.c dumps/leak_estimate.c \
	dumps/leak_info.c entry/iterate.c \
	dumps/journal.c dumps/journal_write.c dumps/heap_dump.c \
	dumps/dump_modules.c dumps/gone_modules.c dumps/frame_names.c \
	dumps/output_file.c dumps/allocator_stats.c checks/leak_finder.c \
	checks/unreachable_check.c \
	dumps/watch.c dumps/watch_options.c dumps/watch_bare.c \
	dumps/watch_thread.c \
	leaktracer/startup.c leaktracer/settings.c leaktracer/leaktracer.c \
	leaktracer/state.c leaktracer/late.c leaktracer/preview.c \
	leaktracer/api.c leaktracer/jobs.c leaktracer/exit.c \
	leaktracer/report.c leaktracer/rows.c leaktracer/lines.c \
	leaktracer/modules.c leaktracer/reach.c)
RECORDER_GROUND := include/mu/text.c include/mu/sort.c include/mu/arena.c \
	include/mu/signal_action.c \
	include/mu/report_file.c lib/state/options.c lib/state/options_signal.c \
	lib/report/symbolizer.c \
	lib/report/symbolizer_open.c lib/report/symbolizer_process.c \
	heapwalk/subject/ranges.c
RECORDER_OBJS := $(SRC_RECORDER:%.c=$(BUILD)/%.o)
RECORDER_LIBS := -ldl -pthread
RECORDER_SO := libmemunreachable-malloc-debug.so.$(SOVERSION)
RECORDER_SO_FULL := libmemunreachable-malloc-debug.so.$(VERSION)
RECORDER := $(BUILD)/$(RECORDER_SO_FULL) $(BUILD)/libmemunreachable-malloc-debug.a

HEADERS  := memunreachable.h memunreachable_cxx.h malloc_debug.h \
	leaktracer.h MemoryTrace.hpp
MAN1     := $(wildcard man/*.1)
MAN3     := $(wildcard man/*.3)
MAN7     := $(wildcard man/*.7)

SO       := libmemunreachable.so.$(SOVERSION)
SO_FULL  := libmemunreachable.so.$(VERSION)
LIBS     := $(BUILD)/$(SO_FULL) $(BUILD)/libmemunreachable.a

UNIT     := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
UNIT_CXX := $(patsubst tests/%.cc,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.cc))
LIVE     := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/live/test_*.c))
VICTIMS  := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/live/victim_*.c)) \
	$(BUILD)/tests/live/victim_busy_static
SHIMS    := $(patsubst tests/%.c,$(BUILD)/tests/%.so,$(wildcard tests/support/*_shim.c))
SCRIPTS  := $(wildcard tests/live/*.sh tests/recorder/*.sh)
RUNG_AIDS := $(BUILD)/tests/support/no_ptrace $(BUILD)/tests/support/rung_probe
CORPUS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/corpus/*.c)) \
	$(patsubst tests/%.cc,$(BUILD)/tests/%,$(wildcard tests/corpus/*.cc)) \
	$(patsubst tests/%.c,$(BUILD)/tests/%.so,$(wildcard \
	tests/corpus/plugins/*.c)) \
	$(BUILD)/tests/corpus/preload.so
EXAMPLES := $(BUILD)/examples/find_leaks $(BUILD)/examples/watch_daemon \
	$(BUILD)/examples/seed_article $(BUILD)/examples/why_reachable
EXAMPLES_CHECK := $(BUILD)/examples/no_leaks_test

CHECK_CFLAGS = $$(pkg-config --cflags check)
CHECK_LIBS = $$(pkg-config --libs check)

.PHONY: always all deps demo examples check check-rungs check-faults check-asan \
	check-ubsan check-valgrind check-tsan soak bench check-releases \
	check-suites check-layers check-layouts check-context check-oracles lint \
	format fuzz install uninstall help clean tests
.DELETE_ON_ERROR:

all: $(LIBS) $(RECORDER) $(BUILD)/memunreachable.pc $(BUILD)/memunreachable ## build the libraries and the command
	@:

# Several goals, as of "make deps check", run in the order given, also with -j:
# before 4.4 make knows this for all targets or none. What one goal needs is
# built by JOBS at a time.
ifneq ($(word 2,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
JOBS      ?= $(shell nproc)

deps: ## install what building and testing need
	$(Q)sh tests/support/deps.sh

# The canary would be in the TLS, which a stopped thread may not have, and which
# the thread of a watched signal shares with one that may end.
$(OBJS) $(COMMAND_OBJS): override CFLAGS += -fno-stack-protector

# Its thread variables are of the first libraries, so that none is allocated;
# a new that throws is left through its frames, which begin every stack.
$(RECORDER_OBJS): override CFLAGS += -ftls-model=initial-exec -fexceptions \
	-fno-builtin -fno-stack-protector -fno-optimize-sibling-calls

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(MU_CFLAGS) $(MU_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP \
		-c -o $@ $<

$(BUILD)/$(SO_FULL): $(OBJS) lib/memunreachable.map
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SO) \
		-Wl,--version-script,lib/memunreachable.map -Wl,-z,defs \
		-Wl,-z,nodelete -Wl,-z,relro,-z,now -o $@ $(OBJS)
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

$(BUILD)/libmemunreachable-malloc-debug.a: $(RECORDER_OBJS) \
		$(RECORDER_GROUND:%.c=$(BUILD)/%.o)
	$(Q)$(LD) -r -o $(BUILD)/malloc-debug-all.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/malloc-debug-all.o
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/malloc-debug-all.o

# Without the entries: tests call what is behind them.
$(BUILD)/libmemunreachable-recorder-test.a: \
		$(filter-out %/entry.o %/entry_%.o,$(RECORDER_OBJS))
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

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
$(BUILD)/lib/cli/configured.c: lib/cli/configured.c.in always
	@mkdir -p $(@D)
	$(Q)sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SO)|' \
		-e 's|@RECORDER@|$(RECORDER_SO)|' \
		-e 's|@LIBDIR@|$(LIBDIR)|' \
		-e "s|@MULTIARCH@|$$($(CC) -print-multiarch 2>/dev/null)|" \
		$< > $@.new
	$(Q)cmp -s $@.new $@ || cp $@.new $@

$(BUILD)/lib/cli/configured.o: $(BUILD)/lib/cli/configured.c
	$(Q)$(CC) $(MU_CFLAGS) $(MU_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libmemunreachable-command.a: $(COMMAND_OBJS)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(COMMAND_OBJS)

$(BUILD)/memunreachable: $(BUILD)/lib/cli/main.o \
		$(BUILD)/libmemunreachable-command.a \
		$(BUILD)/libmemunreachable-test.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -o $@ $^ \
		$(COMMAND_LIBS) -pthread

# Made anew each time: it holds PREFIX, which may differ at `make install`.
$(BUILD)/memunreachable.pc: lib/memunreachable.pc.in always
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' $< > $@

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

# It uses tests/support/live.h.
$(BUILD)/tests/live/victim_core: TEST_LIBS = $(CHECK_LIBS)
$(BUILD)/tests/live/victim_core: $(BUILD)/tests/support/hole_shim.so
$(BUILD)/tests/support/hole_shim.so: override CFLAGS += \
	-Wl,-z,max-page-size=0x200000

# Its code has the same address in two programs.
$(BUILD)/tests/live/victim_thief: override CFLAGS += -fno-pie
$(BUILD)/tests/live/victim_thief: TEST_LIBS = -no-pie \
	-Wl,--section-start=.thief=0x10000000

# Nothing refers to the library's constructor: an archive must be asked for it.
$(LIVE): TEST_STARTUP := -Wl,-u,mu_startup

$(BUILD)/tests/%: tests/%.c $(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CHECK_CFLAGS) $(CFLAGS) \
		-MMD -MP -MF $@.d -o $@ $< $(TEST_STARTUP) \
		$(BUILD)/libmemunreachable-test.a \
		$(CHECK_LIBS) -pthread -ldl

# Of the command: with what only that links.
UNIT_COMMAND := $(patsubst tests/%.c,$(BUILD)/tests/%, \
	$(wildcard tests/unit/test_cli_*.c tests/live/test_check_*.c)) \
	$(addprefix $(BUILD)/tests/unit/test_, symbols symbols_files symbols_split loaded symbol_helper symbol_wire \
	guard demangled doctor core_file core_mappings fuzz_core \
	fuzz_heap_dump fuzz_leaktracer fuzz_symbols fuzz_symbol_wire \
	memory_mirror glibc_banner) \
	$(addprefix $(BUILD)/tests/live/test_, core_files process_copy \
	process_copy_ends remote_call remote_call_waits)

$(UNIT_COMMAND): $(BUILD)/tests/%: tests/%.c \
		$(BUILD)/libmemunreachable-command.a \
		$(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CHECK_CFLAGS) $(CFLAGS) \
		-MMD -MP -MF $@.d -o $@ $< $(BUILD)/libmemunreachable-command.a \
		$(BUILD)/libmemunreachable-test.a $(COMMAND_LIBS) \
		$(CHECK_LIBS) -pthread -ldl

# Of the recorder.
UNIT_RECORDER := $(patsubst tests/%.c,$(BUILD)/tests/%, \
	$(wildcard tests/unit/test_debug_*.c))

# A test's own recorder_each() stands in front of the recorder's.
$(UNIT_RECORDER): $(BUILD)/tests/%: tests/%.c \
		$(BUILD)/libmemunreachable-recorder-test.a \
		$(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CHECK_CFLAGS) $(CFLAGS) \
		-fno-builtin -fno-omit-frame-pointer -rdynamic -Wl,-z,muldefs \
		-MMD -MP -MF $@.d -o $@ $< \
		$(BUILD)/libmemunreachable-recorder-test.a \
		$(BUILD)/libmemunreachable-test.a $(CHECK_LIBS) -pthread -ldl

# Its variable is found by name in the program's symbols.
$(BUILD)/tests/recorder/join_table: override CFLAGS += -rdynamic

# Programs that are run under the recorder know nothing of it.
$(BUILD)/tests/recorder/%: tests/recorder/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) \
		-fno-builtin -MMD -MP -MF $@.d -o $@ $< -pthread -ldl

$(BUILD)/tests/recorder/%: tests/recorder/%.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(MU_WARN) -Iinclude -I. $(CXXFLAGS) \
		-fno-builtin -MMD -MP -MF $@.d -o $@ $< -pthread -ldl

$(BUILD)/tests/%: tests/%.cc $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 $(MU_WARN) -Iinclude -I. $(CXXFLAGS) -MMD -MP -MF $@.d \
		-o $@ $< -L$(BUILD) -lmemunreachable \
		-Wl,-rpath,'$$ORIGIN/../..' -pthread

$(BUILD)/tests/live/victim_%: tests/live/victim_%.c $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -MMD -MP \
		-MF $@.d -o $@ $< -Wl,--as-needed -L$(BUILD) -lmemunreachable \
		-Wl,-rpath,'$$ORIGIN/../..' $(TEST_LIBS) -pthread -ldl

# Fedora has no static glibc at hand.
$(BUILD)/tests/live/victim_busy_static: tests/live/victim_busy.c
	@mkdir -p $(@D)
	$(Q)$(CC) -static -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -MMD -MP \
		-MF $@.d -o $@ $< -pthread || echo "SKIPPED: no static program"

$(BUILD)/tests/support/%_shim.so: tests/support/%_shim.c \
		$(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -shared -fPIC \
		-MMD -MP -MF $@.d -o $@ $< $(BUILD)/libmemunreachable-test.a \
		-pthread -ldl

# Programs that lose blocks, with a malloc of their own that records them; the
# same ones run under the library, under Valgrind and under LeakSanitizer.
CORPUS_OBJS := $(patsubst %.c,$(BUILD)/%.o, \
	$(filter-out %/preload.c,$(wildcard tests/corpus/support/*.c)))
CORPUS_FLAGS := $(MU_WARN) $(MU_CPPFLAGS) -fno-builtin-malloc
CORPUS_LINK := $(CORPUS_OBJS) -rdynamic -Wl,-rpath,'$$ORIGIN/plugins' \
	-pthread -ldl -lrt

$(CORPUS_OBJS): $(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CORPUS_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/corpus/%: tests/corpus/%.c $(CORPUS_OBJS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CORPUS_FLAGS) $(CFLAGS) -MMD -MP -MF $@.d \
		-o $@ $< $(CORPUS_LINK)

$(BUILD)/tests/corpus/%: tests/corpus/%.cc $(CORPUS_OBJS)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 $(CORPUS_FLAGS) $(CXXFLAGS) -O1 -MMD -MP \
		-MF $@.d -o $@ $< $(CORPUS_LINK)

# The recorder for programs that know nothing of it, and have more blocks.
$(BUILD)/tests/corpus/preload.so: $(addprefix tests/corpus/support/, \
    recorder.c record.c ask.c scrub.c preload.c)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CORPUS_FLAGS) $(CFLAGS) -DRECORD_SLOTS=131072 \
		-shared -fPIC -MMD -MP -MF $@.d -o $@ $^ -pthread -ldl

$(BUILD)/tests/corpus/plugins/%.so: tests/corpus/plugins/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CORPUS_FLAGS) $(CFLAGS) -shared -fPIC -MMD -MP \
		-MF $@.d -o $@ $<

check-oracles: all $(CORPUS) ## the corpus under us, Valgrind, LeakSanitizer
	$(Q)BUILD=$(BUILD) sh tests/corpus/run.sh -t $(BUILD)/oracles.md \
		$(BUILD)/tests/corpus "ours valgrind lsan"

RECORDED := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/recorder/*.c)) \
	$(patsubst tests/%.cc,$(BUILD)/tests/%,$(wildcard tests/recorder/*.cc))

tests: all $(RECORDED) $(UNIT) $(UNIT_CXX) $(LIVE) $(VICTIMS) $(SHIMS) $(CORPUS) \
	$(BUILD)/tests/support/no_ptrace $(BUILD)/tests/support/silent_fuse examples

.PHONY: check-built
check-built: tests check-layers check-context

check: ## run the tests
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) check-built
	$(Q)BUILD=$(BUILD) sh tests/run.sh $(UNIT) $(UNIT_CXX) $(LIVE) \
		$(SCRIPTS) $(EXAMPLES_CHECK)

check-rungs: tests $(RUNG_AIDS) ## the tests by ptrace and by signal, traced, denied
	$(Q)BUILD=$(BUILD) sh tests/rungs.sh $(UNIT) $(UNIT_CXX) $(LIVE) \
		$(SCRIPTS) $(EXAMPLES_CHECK)

check-faults: tests ## every failure of every system call of a pass
	$(Q)BUILD=$(BUILD) FAULTS_FULL=1 TEST_TIMEOUT=3600 sh tests/run.sh \
		$(BUILD)/tests/live/test_fault_sweep \
		$(BUILD)/tests/live/test_fault_stops

# A program at full load, asked all the time. SOAK_SECONDS=1200, SOAK_SEED.
SOAK := $(BUILD)/tests/soak/soak $(BUILD)/tests/soak/plugin.so

$(BUILD)/tests/soak/plugin.so: tests/soak/plugin.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(CFLAGS) -shared -fPIC -MMD -MP \
		-MF $@.d -o $@ $<

soak: $(SOAK) ## 20 minutes of passes in a program at full load
	$(Q)$(BUILD)/tests/soak/soak $(or $(SOAK_SECONDS),1200)

# The sanitizers see the unit tests; they and a stopped world fight. Where
# malloc is replaced there is no heap of glibc to be read; and Valgrind has no
# room for test_pages' mapping of 1 TiB, no time for the giants, and takes the
# deliberate faults of test_memory_guard, reads of whole stacks, and those of
# memory that test_fork_gaps puts where a fork has left none, for errors. What
# libdw makes of damaged files is its own affair, and a fault is a fault.
UNIT_ASAN := $(filter-out %/test_original_threads %/test_glibc_heap %/test_glibc_free \
	%/test_glibc_mmapped %/test_glibc_release %/test_glibc_usage \
	%/test_heap_sbrk \
	%/test_heap_damage_arenas %/test_heap_damage_chunks \
	%/test_heap_damage_lists %/test_heap_damage_mmapped \
	%/test_heap_damage_fences \
	%/test_heap_damage_sweep %/test_guard %/test_symbols_files,\
	$(filter-out $(UNIT_RECORDER),$(UNIT)))
# The recorder's have a process each; in the others AddressSanitizer is the
# allocator, or takes for a fault what a walk up the stack reads.
UNIT_RECORDER_ASAN := $(addprefix $(BUILD)/tests/unit/test_debug_, heap_dump \
	hooks inside journal leak_info leaktracer_lines leaktracer_reach \
	leaktracer_settings leaktracer_state live options output_file sampling \
	stack_depot stack_fuzz stack_rules)
UNIT_VALGRIND := $(filter-out %_giant %/test_pages %/test_memory_guard \
	%/test_fork_gaps \
	%/test_roots %/test_roots_bytes %/test_roots_reach %/test_stacks \
	%/test_stacks_ended \
	%/test_ranges %/test_modules %/test_fuzz_heap,$(UNIT_ASAN))

.PHONY: unit-tests unit-tests-asan
unit-tests: $(UNIT)
	$(Q)BUILD=$(BUILD) sh tests/run.sh $(UNIT)

unit-tests-asan: $(UNIT_ASAN) $(UNIT_RECORDER_ASAN)
	$(Q)BUILD=$(BUILD) CK_FORK=no TEST_TIMEOUT=1200 sh tests/run.sh $(UNIT_ASAN)
	$(Q)BUILD=$(BUILD) ASAN_OPTIONS=detect_leaks=0 sh tests/run.sh \
		$(UNIT_RECORDER_ASAN)

check-asan: ## unit tests under AddressSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
		CFLAGS="-O1 -g -fsanitize=address -fno-common" unit-tests-asan

check-ubsan: ## unit tests under UndefinedBehaviorSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/ubsan \
		CFLAGS="-O1 -g -fsanitize=undefined -fno-sanitize-recover=all" \
		unit-tests

check-valgrind: $(UNIT_VALGRIND) ## unit tests under Valgrind
	$(Q)BUILD=$(BUILD) CK_FORK=no sh tests/run.sh -w \
		"valgrind -q --error-exitcode=9" $(UNIT_VALGRIND)

# What runs in the program's own threads. Collector and sweeper are other
# processes, and who is parked may be anywhere in the sanitizer's own code.
UNIT_TSAN := $(addprefix $(BUILD)/tests/unit/test_, original_threads \
	library_state options options_help options_reach options_signal arena \
	text report_text reference_text leak_pipe why_pipe candidates mark_workers \
	mark_chains graph giant glibc_parts glibc_lists)

.PHONY: unit-tests-tsan
unit-tests-tsan: $(UNIT_TSAN)
	$(Q)BUILD=$(BUILD) CK_FORK=no TSAN_OPTIONS="exitcode=66 $(TSAN_OPTIONS)" \
		MEMUNREACHABLE_OPTIONS=stop=ptrace sh tests/run.sh $(UNIT_TSAN)

check-tsan: ## what runs in the original process under ThreadSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan \
		CFLAGS="-O1 -g -fsanitize=thread" unit-tests-tsan

# BENCH=quick, or sections: see tests/bench/README.md.
bench: all ## measure speed, pause and memory beside others
	$(Q)BUILD=$(BUILD) python3 tests/bench/bench.py $(or $(BENCH),whole) \
		$(BENCH_FLAGS)

check-releases: ## the tests in Debian 11, 12, 13 and unstable (as root)
	$(Q)sh tests/releases.sh $(RELEASES)

# GIT_SOURCE, SQLITE_SOURCE: built trees of theirs; see the script.
check-suites: all ## suites of git, sqlite3 and Python under the recorder
	$(Q)BUILD=$(BUILD) sh tests/suites.sh $(SUITES)

check-layers: $(OBJS) $(COMMAND_OBJS) $(RECORDER_OBJS) ## who may include and call whom
	$(Q)NM=$(NM) sh tests/support/check_layers.sh $(BUILD) $^

check-layouts: ## the table of layouts against GLIBC_GIT=a/clone/of/glibc
	$(Q)CC=$(CC) sh tests/support/layouts.sh $(GLIBC_GIT) $(GLIBC_REFS)

check-context: $(OBJS) $(COMMAND_OBJS) ## what collector and sweeper may call
	$(Q)NM=$(NM) sh tests/support/check_context.sh $(BUILD) \
		$(SRC_COLLECTOR) $(SRC_KEEPER) $(SRC_SWEEPER) $(SRC_MIRROR) \
		$(SRC_GROUND) \
		lib/pass/pass.c lib/pass/outcome.c lib/state/under_way.c lib/pass/look.c \
	lib/pass/stop_method.c \
		lib/pass/parked_capture.c lib/state/sweeper_end.c lib/state/room.c \
	lib/state/lock.c lib/state/allocator_freeze.c \
		lib/state/log_sink.c lib/state/results.c lib/pipe/entries.c \
	lib/state/registry.c

lint: ## -Werror with gcc and clang, aarch64, clang-tidy, format, shellcheck
	$(Q)sh tests/support/lint.sh $(SRCS) $(SRC_RECORDER) $(SRC_COMMAND) \
	lib/cli/main.c

format: ## clang-format the tree
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h' '*.cc' '*.cpp')

fuzz: ## run every fuzzer for FUZZ_SECONDS (60)
	$(Q)sh tests/fuzz/run.sh $(BUILD)/fuzz $(or $(FUZZ_SECONDS),60) \
		$(SRCS) $(SRC_MIRROR) $(SRC_CORE) $(SRC_UNWIND) $(SRC_VIEW) \
		$(SRC_SYMBOLIZE) \
		lib/term/safe_text.c lib/term/names.c lib/term/style.c

# One list for both ways: "source:place".
INSTALLED := \
	$(HEADERS:%=include/memunreachable/%:$(INCLUDEDIR)/memunreachable) \
	$(BUILD)/$(SO_FULL):$(LIBDIR) $(BUILD)/libmemunreachable.a:$(LIBDIR) \
	$(BUILD)/$(RECORDER_SO_FULL):$(LIBDIR) \
	$(BUILD)/libmemunreachable-malloc-debug.a:$(LIBDIR) \
	$(BUILD)/memunreachable.pc:$(LIBDIR)/pkgconfig \
	$(MAN1:%=%:$(MANDIR)/man1) \
	$(MAN3:%=%:$(MANDIR)/man3) $(MAN7:%=%:$(MANDIR)/man7) \
	$(BUILD)/memunreachable:$(BINDIR) \
	lib/cli/memunreachable-report.schema.json:$(DATADIR)/memunreachable \
	lib/cli/completion/memunreachable.bash:$(DATADIR)/bash-completion/completions \
	lib/cli/completion/_memunreachable:$(DATADIR)/zsh/site-functions

install: all ## install below $(DESTDIR)$(PREFIX)
	$(Q)for item in $(INSTALLED); do \
		install -D -m 644 "$${item%%:*}" \
		"$(DESTDIR)$${item##*:}/$$(basename "$${item%%:*}")" || exit 1; \
	done
	$(Q)chmod 755 $(DESTDIR)$(BINDIR)/memunreachable \
		$(DESTDIR)$(LIBDIR)/$(SO_FULL) $(DESTDIR)$(LIBDIR)/$(RECORDER_SO_FULL)
	$(Q)ln -sf $(SO_FULL) $(DESTDIR)$(LIBDIR)/$(SO)
	$(Q)ln -sf $(SO) $(DESTDIR)$(LIBDIR)/libmemunreachable.so
	$(Q)ln -sf $(RECORDER_SO_FULL) $(DESTDIR)$(LIBDIR)/$(RECORDER_SO)
	$(Q)ln -sf $(RECORDER_SO) \
		$(DESTDIR)$(LIBDIR)/libmemunreachable-malloc-debug.so

uninstall: ## remove what install put there
	$(Q)for item in $(INSTALLED); do \
		rm -f "$(DESTDIR)$${item##*:}/$$(basename "$${item%%:*}")"; \
	done
	$(Q)rm -f $(DESTDIR)$(LIBDIR)/$(SO) $(DESTDIR)$(LIBDIR)/libmemunreachable.so \
		$(DESTDIR)$(LIBDIR)/$(RECORDER_SO) \
		$(DESTDIR)$(LIBDIR)/libmemunreachable-malloc-debug.so
	$(Q)rmdir $(DESTDIR)$(INCLUDEDIR)/memunreachable \
		$(DESTDIR)$(DATADIR)/memunreachable 2>/dev/null || true

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | \
		awk -F'|' '{ printf "%-22s %s\n", $$1, $$2 }'

clean: ## remove the build folder
	rm -rf $(BUILD)

-include $(RECORDER_OBJS:.o=.d)
-include $(OBJS:.o=.d) $(COMMAND_OBJS:.o=.d) $(BUILD)/lib/cli/main.d
-include $(wildcard $(BUILD)/tests/*/*.d) $(CORPUS_OBJS:.o=.d)

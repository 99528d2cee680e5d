# What is built of tests/, and the targets that test. The Makefile includes it.

# Tests lie in folders by subject; a new file is found by its name.
named = $(sort $(foreach below,/ /*/,$(foreach name,$(2),\
	$(wildcard tests/$(1)$(below)$(name)))))
built = $(patsubst tests/%,$(BUILD)/tests/%,$(basename $(1)))

UNIT_FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/test_%,\
	$(wildcard tests/fuzz/fuzz_*.c))
UNIT     := $(call built,$(call named,unit,test_*.c)) $(UNIT_FUZZ)
UNIT_CXX := $(call built,$(call named,unit,test_*.cc))
LIVE     := $(call built,$(call named,live,test_*.c))
VICTIMS  := $(call built,$(call named,live,victim_*.c)) \
	$(BUILD)/tests/live/victims/victim_busy_static
SHIMS    := $(addsuffix .so,$(call built,$(call named,support,*_shim.c)))
SCRIPTS  := $(call named,live,*.sh) $(call named,recorder,*.sh)
STOP_METHOD_AIDS := $(addprefix $(BUILD)/tests/support/stop/, \
	no_ptrace stop_method_probe)
CORPUS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/corpus/*.c)) \
	$(patsubst tests/corpus/cxx/%.cc,$(BUILD)/tests/corpus/%,\
	$(wildcard tests/corpus/cxx/*.cc)) \
	$(patsubst tests/%.c,$(BUILD)/tests/%.so,$(wildcard \
	tests/corpus/plugins/*.c)) \
	$(BUILD)/tests/corpus/preload.so

# One more than CPUs: many tests sleep, as they wait for a program or a time-out.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

CHECK_CFLAGS = $$(pkg-config --cflags check)
CHECK_LIBS = $$(pkg-config --libs check)

# What several test programs share, compiled once: the .c files that have a
# header. Its main() is in suite.c.
SUPPORT_SRC := $(filter-out %_shim.c,$(wildcard \
	$(patsubst %.h,%.c,$(call named,support,*.h))))
SUPPORT_OBJS := $(SUPPORT_SRC:%.c=$(BUILD)/%.o)
SUPPORT := $(BUILD)/tests/libsupport.a

.PHONY: check check-unit check-stop-methods check-faults check-asan check-ubsan \
	check-valgrind check-tsan soak bench check-releases check-suites check-field check-vm \
	check-load check-container check-races \
	check-layers check-layouts check-context check-documents check-symbols \
	check-oracles check-answers fuzz tests

# Without the entries: tests call what is behind them.
$(BUILD)/libmemunreachable-recorder-test.a: \
		$(filter-out %/entry.o %/entry_%.o,$(RECORDER_OBJS))
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(SUPPORT): $(SUPPORT_OBJS)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/tests/live/victims/victim_core: $(BUILD)/tests/support/shims/hole_shim.so
$(BUILD)/tests/support/shims/hole_shim.so: override CFLAGS += \
	-Wl,-z,max-page-size=0x200000

# Its code has the same address in two programs.
$(BUILD)/tests/live/victims/victim_thief: override CFLAGS += -fno-pie
$(BUILD)/tests/live/victims/victim_thief: TEST_LIBS = -no-pie \
	-Wl,--section-start=.thief=0x10000000

# Unit and live tests: an object each, so that a change of the library is a
# matter of linking.
TEST_CC = $(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CHECK_CFLAGS) $(CFLAGS)

# With what only the command links, and with the recorder.
UNIT_COMMAND := $(call built,$(foreach folder,cli explain symbolize view,\
	$(wildcard tests/unit/$(folder)/test_*.c)) \
	$(call named,unit,test_cli_*.c) \
	$(addprefix tests/unit/,$(addsuffix .c,memory/test_forked \
	memory/test_memory_remote heaps/test_glibc_banner ptrace/test_core_file \
	ptrace/test_core_mappings ptrace/test_record_locks \
	pass/test_keeper_socket pass/test_shared_pages)) \
	$(wildcard tests/live/check/test_*.c) $(call named,live,test_check_*.c) \
	tests/live/transparency/test_transparency_eintr.c) \
	$(filter-out %_unwind,$(UNIT_FUZZ))
UNIT_RECORDER := $(call built,$(wildcard tests/unit/recorder/test_*.c) \
	$(call named,unit,test_debug_*.c)) $(BUILD)/tests/fuzz/test_fuzz_unwind

# Nothing refers to the library's constructor: an archive must be asked for it.
$(LIVE) $(STOP_METHOD_AIDS): TEST_STARTUP = -Wl,-u,mu_startup
$(UNIT_COMMAND): $(BUILD)/libmemunreachable-command.a
$(UNIT_COMMAND): TEST_LINK = $(BUILD)/libmemunreachable-command.a
$(UNIT_COMMAND): TEST_LIBS = $(COMMAND_LIBS)
$(BUILD)/tests/live/check/test_check_explained: TEST_STARTUP += $(foreach \
	name,held_find live_types_find in_use_explain python_owners_find \
	why_explain retained_explain,-Wl,--wrap=mu_$(name))
# A test's own recorder_each() stands in front of the recorder's.
$(UNIT_RECORDER): $(BUILD)/libmemunreachable-recorder-test.a
$(UNIT_RECORDER): TEST_LINK = -rdynamic -Wl,-z,muldefs \
	$(BUILD)/libmemunreachable-recorder-test.a
$(BUILD)/tests/fuzz/fuzz_unwind.o $(UNIT_RECORDER:=.o): override CFLAGS += -fno-builtin -fno-omit-frame-pointer

# Stacks are walked through it by frame pointers, its blocks are real ones, and
# shims are linked with it.
$(SUPPORT_OBJS): override CFLAGS += -fPIC -fno-builtin -fno-omit-frame-pointer

# A suite of several files: test_NAME.c and NAME_*.c beside it are one program.
parts = $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard \
	$(patsubst $(BUILD)/%,%,$(subst /test_,/,$(1)))_*.c))

UNIT_OBJS := $(addsuffix .o,$(filter-out $(UNIT_FUZZ),$(UNIT)))
LIVE_OBJS := $(LIVE:=.o) $(foreach program,$(LIVE),$(call parts,$(program)))
FUZZ_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/fuzz_*.c)) \
	$(BUILD)/tests/support/fuzz/fuzz_seeds.o

$(UNIT_OBJS) $(FUZZ_OBJS) $(LIVE_OBJS) $(SUPPORT_OBJS): $(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(TEST_CC) -MMD -MP -c -o $@ $<

$(UNIT_FUZZ): $(BUILD)/tests/fuzz/test_%: $(BUILD)/tests/fuzz/%.o \
	$(BUILD)/tests/support/fuzz/fuzz_seeds.o
$(filter-out $(UNIT_FUZZ),$(UNIT)): %: %.o
.SECONDEXPANSION:
$(LIVE): %: %.o $$(call parts,$$@)
$(UNIT) $(LIVE): $(SUPPORT) $(BUILD)/libmemunreachable-test.a
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.o,$^) $(SUPPORT) $(TEST_STARTUP) \
		$(TEST_LINK) $(BUILD)/libmemunreachable-test.a $(TEST_LIBS) \
		$(CHECK_LIBS) -pthread -ldl

# Other programs of one file.
$(BUILD)/tests/%: tests/%.c $(SUPPORT) $(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(TEST_CC) -MMD -MP -MF $@.d -o $@ $< $(SUPPORT) $(TEST_STARTUP) \
		$(BUILD)/libmemunreachable-test.a $(CHECK_LIBS) -pthread -ldl

# Its variable is found by name in the program's symbols.
$(BUILD)/tests/recorder/join_table: override CFLAGS += -rdynamic
$(BUILD)/tests/recorder/join_table: $(SUPPORT)
$(BUILD)/tests/recorder/join_table: TEST_LIBS = $(SUPPORT)

# Programs that are run under the recorder know nothing of it.
$(BUILD)/tests/recorder/%: tests/recorder/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) \
		-fno-builtin -MMD -MP -MF $@.d -o $@ $< $(TEST_LIBS) \
		-pthread -ldl

$(BUILD)/tests/recorder/%: tests/recorder/%.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(MU_WARN) -Iinclude -I. $(CXXFLAGS) \
		-fno-builtin -MMD -MP -MF $@.d -o $@ $< -pthread -ldl

$(BUILD)/tests/%: tests/%.cc $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 $(MU_WARN) -Iinclude -I. $(CXXFLAGS) -MMD -MP -MF $@.d \
		-o $@ $< -L$(BUILD) -lmemunreachable \
		-Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../..' -pthread

# -lc first: the library defines _exit(), too, and a program that calls nothing
# else of it does not need it.
$(BUILD)/tests/live/victims/%: tests/live/victims/%.c $(SUPPORT) $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -MMD -MP \
		-MF $@.d -o $@ $< $(SUPPORT) -Wl,--as-needed -L$(BUILD) \
		-lc -lmemunreachable -Wl,-rpath,'$$ORIGIN/../../..' $(TEST_LIBS) \
		$(CHECK_LIBS) -pthread -ldl

# Fedora has no static glibc at hand.
$(BUILD)/tests/live/victims/victim_busy_static: tests/live/victims/victim_busy.c
	@mkdir -p $(@D)
	$(Q)$(CC) -static -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -MMD -MP \
		-MF $@.d -o $@ $< -pthread || echo "SKIPPED: no static program"

$(SHIMS): $(BUILD)/tests/%.so: tests/%.c $(SUPPORT) \
		$(BUILD)/libmemunreachable-test.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -shared -fPIC \
		-MMD -MP -MF $@.d -o $@ $< $(SUPPORT) \
		$(BUILD)/libmemunreachable-test.a -pthread -ldl

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

$(BUILD)/tests/corpus/%: tests/corpus/cxx/%.cc $(CORPUS_OBJS)
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
	$(BUILD)/tests/support/stop/no_ptrace \
	$(BUILD)/tests/support/command/silent_fuse examples

.PHONY: check-built
check-built: tests check-layers check-context check-documents check-symbols

check: ## run the tests
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) check-built
	$(Q)BUILD=$(BUILD) JOBS=$(TEST_JOBS) sh tests/run.sh $(LIVE) $(SCRIPTS) \
		$(UNIT) $(UNIT_CXX) $(EXAMPLES_CHECK)

check-unit: ## the tests that need no other process, in under a minute
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) $(UNIT) $(UNIT_CXX)
	$(Q)BUILD=$(BUILD) JOBS=$(TEST_JOBS) sh tests/run.sh $(UNIT) $(UNIT_CXX)

check-stop-methods: tests $(STOP_METHOD_AIDS) ## the tests by ptrace and by signal, traced, denied
	$(Q)BUILD=$(BUILD) sh tests/stop_methods.sh $(UNIT) $(UNIT_CXX) $(LIVE) \
		$(SCRIPTS) $(EXAMPLES_CHECK)

# What docker and podman leave to root by default: capabilities(7).
DOCKER_CAPS := -all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,$\
	+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,$\
	+setfcap

check-container: tests ## the tests with the rights that root has in a container (as root)
	$(Q)BUILD=$(BUILD) JOBS=$(TEST_JOBS) setpriv --inh-caps -all \
		--bounding-set $(DOCKER_CAPS) sh tests/run.sh $(LIVE) $(SCRIPTS) \
		$(UNIT) $(UNIT_CXX) $(EXAMPLES_CHECK)

check-faults: tests ## every failure of every system call of a pass
	$(Q)BUILD=$(BUILD) FAULTS_FULL=1 TEST_TIMEOUT=3600 sh tests/run.sh \
		$(BUILD)/tests/live/faults/test_fault_sweep \
		$(BUILD)/tests/live/faults/test_fault_sweep_signal \
		$(BUILD)/tests/live/faults/test_fault_stops

check-races: tests ## the tests that wait for rare moments, for longer
	$(Q)BUILD=$(BUILD) TESTS_PASSES=1000 TESTS_CHECKS=40 TESTS_KILLS=40 \
		TESTS_ROUNDS=60 RECORDED_FULL=1 TEST_TIMEOUT=3600 sh tests/run.sh \
		$(addprefix $(BUILD)/tests/live/,pass/test_many_passes \
		check/test_check_process check/test_check_roots \
		check/test_check_killed check/test_jemalloc \
		check/test_mimalloc \
		heaps/test_recorded) \
		tests/live/programs/program_kinds.sh \
		tests/live/environments/environments_storms.sh \
		$(addprefix tests/live/command/,exit_calls.sh command_ends.sh)

# A program at full load, asked all the time. SOAK_SECONDS=1200, SOAK_SEED.
SOAK := $(BUILD)/tests/soak/soak $(BUILD)/tests/soak/plugin.so

$(BUILD)/tests/soak/plugin.so: tests/soak/plugin.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(CFLAGS) -shared -fPIC -MMD -MP \
		-MF $@.d -o $@ $<

soak: $(SOAK) ## 20 minutes of passes in a program at full load
	$(Q)$(BUILD)/tests/soak/soak $(or $(SOAK_SECONDS),1200)

# The sanitizers see the unit tests; they and a stopped world fight. Where
# malloc is replaced there is no heap of glibc to be read; AddressSanitizer's
# mappings of terabytes have no room in test_memory_remote; and Valgrind has no
# room for test_pages' mapping of 1 TiB, no time for the giants, and takes the
# deliberate faults of test_memory_guard, reads of whole stacks, and those of
# memory that test_fork_gaps puts where a fork has left none, for errors; the
# program and the helper that read names are made by a bare clone(). What
# libdw makes of damaged files is its own affair, and a fault is a fault. What
# the helper has found out of names and types it keeps until its end.
UNIT_KEEPING := $(addprefix $(BUILD)/tests/,unit/explain/test_types \
	unit/explain/test_index_file \
	unit/symbolize/test_symbol_wire fuzz/test_fuzz_symbols)
UNIT_ASAN := $(filter-out %/test_original_threads %/test_glibc_heap %/test_glibc_free \
	%/test_glibc_mmapped %/test_glibc_release %/test_glibc_usage \
	%/test_heap_sbrk \
	%/test_heap_damage_arenas %/test_heap_damage_chunks \
	%/test_heap_damage_lists %/test_heap_damage_mmapped \
	%/test_heap_damage_fences \
	%/test_heap_damage_sweep %/symbolize/test_guard %/test_symbols_files \
	%/test_memory_remote %/test_report_file %/test_shared_pages,\
	$(filter-out $(UNIT_RECORDER) $(UNIT_KEEPING),$(UNIT)))
# The recorder's have a process each, and so have the tests of report files,
# which become another user; in the recorder's others AddressSanitizer is the
# allocator, or takes for a fault what a walk up the stack reads.
UNIT_RECORDER_ASAN := $(BUILD)/tests/unit/ground/test_report_file \
	$(BUILD)/tests/fuzz/test_fuzz_unwind \
	$(addprefix $(BUILD)/tests/unit/recorder/test_, heap_dump \
	hooks inside journal leak_info leaktracer_lines leaktracer_reach \
	leaktracer_settings leaktracer_state live options output_file sampling \
	stack_depot stack_rules)
UNIT_VALGRIND := $(filter-out %_giant %/test_pages %/test_memory_guard \
	%/test_fork_gaps \
	%/test_roots %/test_roots_bytes %/test_roots_reach %/test_stacks \
	%/test_ranges %/test_modules %/test_fuzz_heap %/test_recorded \
	%/test_symbolizer %/test_symbol_helper,$(UNIT_ASAN) $(UNIT_KEEPING))

.PHONY: unit-tests unit-tests-asan
unit-tests: $(UNIT)
	$(Q)BUILD=$(BUILD) sh tests/run.sh $(UNIT)

unit-tests-asan: $(UNIT_ASAN) $(UNIT_RECORDER_ASAN) $(UNIT_KEEPING)
	$(Q)BUILD=$(BUILD) CK_FORK=no TEST_TIMEOUT=1200 sh tests/run.sh $(UNIT_ASAN)
	$(Q)BUILD=$(BUILD) ASAN_OPTIONS=detect_leaks=0 sh tests/run.sh \
		$(UNIT_RECORDER_ASAN) $(UNIT_KEEPING)

check-asan: ## unit tests under AddressSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
		CFLAGS="-O1 -g -fsanitize=address -fno-common" unit-tests-asan

check-ubsan: ## unit tests under UndefinedBehaviorSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/ubsan \
		CFLAGS="-O1 -g -fsanitize=undefined -fno-sanitize-recover=all" \
		unit-tests

check-valgrind: $(UNIT_VALGRIND) ## unit tests under Valgrind
	$(Q)BUILD=$(BUILD) CK_FORK=no TEST_TIMEOUT=3600 sh tests/run.sh -w \
		"valgrind -q --error-exitcode=9" $(UNIT_VALGRIND)

# What runs in the program's own threads. Collector and sweeper are other
# processes, and a thread stopped by signal may be anywhere in the sanitizer's own code.
UNIT_TSAN := $(addprefix $(BUILD)/tests/unit/, $(addprefix pass/test_, \
	original_threads library_state options) ground/test_arena ground/test_text \
	report/test_report_text report/test_reference_text pipe/test_leak_pipe \
	pipe/test_why_pipe pipe/test_candidates mark/test_mark_workers \
	mark/test_mark_chains graph/test_graph fold/test_giant \
	heaps/test_glibc_parts heaps/test_glibc_lists)

.PHONY: unit-tests-tsan
unit-tests-tsan: $(UNIT_TSAN)
	$(Q)BUILD=$(BUILD) CK_FORK=no TSAN_OPTIONS="exitcode=66 $(TSAN_OPTIONS)" \
		MEMUNREACHABLE_OPTIONS=stop=ptrace sh tests/run.sh $(UNIT_TSAN)

check-tsan: ## what runs in the original process under ThreadSanitizer
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan \
		CFLAGS="-O1 -g -fsanitize=thread" unit-tests-tsan

# The library is that of LD_LIBRARY_PATH: the program asks this build and BEFORE.
ANSWERS := $(BUILD)/tests/answers/answers
$(ANSWERS): tests/answers/answers.c $(LIBS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(MU_WARN) $(MU_CPPFLAGS) $(CFLAGS) -MMD -MP \
		-MF $@.d -o $@ $< -L$(BUILD) -lmemunreachable

check-answers: $(ANSWERS) ## random lost graphs: BEFORE=an/older/build answers the same
	$(Q)BUILD=$(BUILD) BEFORE=$(BEFORE) ANSWERS_SEEDS=$(ANSWERS_SEEDS) \
		sh tests/answers/compare.sh

# BENCH=quick, or sections: see tests/bench/README.md.
bench: all ## measure speed, pause and memory beside others
	$(Q)BUILD=$(BUILD) python3 tests/bench/bench.py $(or $(BENCH),whole) \
		$(BENCH_FLAGS)

check-releases: ## the tests in Debian 11, 12, 13 and unstable (as root)
	$(Q)sh tests/releases.sh $(RELEASES)

# VM_COMMAND="sh tests/run.sh tests/live/check/crowded.sh": not all of "make check".
check-vm: all tests ## the tests in a virtual machine, with Debian's kernel
	$(Q)sh tests/vm.sh $(VM_COMMAND) || [ $$? -eq 77 ]

# GIT_SOURCE, SQLITE_SOURCE: built trees of theirs; see the script.
check-suites: all ## suites of git, sqlite3 and Python under the recorder
	$(Q)BUILD=$(BUILD) sh tests/suites.sh $(SUITES)

# FIELD="java-zgc node": of the programs in the script.
check-field: all ## real programs under load, entries judged by brute force
	$(Q)BUILD=$(BUILD) CC="$(CC)" sh tests/field.sh $(FIELD)

check-load: tests ## answers of busy programs on a machine that is overloaded
	$(Q)BUILD=$(BUILD) CC="$(CC)" sh tests/load.sh

check-layers: $(OBJS) $(INTERPOSED_OBJS) $(COMMAND_OBJS) $(RECORDER_OBJS) $(LSAN_OBJS) $(BUILD)/lib/cli/main.o ## who may include and call whom
	$(Q)NM=$(NM) sh tests/support/project/check_layers.sh $(BUILD) $^

check-documents: ## what documents and comments name exists
	$(Q)python3 tests/support/project/check_documents.py

check-symbols: libraries ## no exported symbol is gone (lib/symbols.txt)
	$(Q)NM=$(NM) sh tests/support/project/check_symbols.sh $(BUILD)

check-layouts: ## the table of layouts against GLIBC_GIT=a/clone/of/glibc
	$(Q)CC=$(CC) sh tests/support/project/layouts.sh $(GLIBC_GIT) $(GLIBC_REFS)

check-context: $(OBJS) $(COMMAND_OBJS) ## what collector and sweeper may call
	$(Q)NM=$(NM) sh tests/support/project/check_context.sh $(BUILD) \
		$(filter-out $(SRC_UNSTOPPED),$(SRCS)) $(SRC_KEEPER) $(SRC_REMOTE)

fuzz: ## run every fuzzer for FUZZ_SECONDS (60)
	$(Q)sh tests/fuzz/run.sh $(BUILD)/fuzz $(or $(FUZZ_SECONDS),60) \
		$(sort $(SRCS) $(SRC_REMOTE) $(SRC_CORE) $(SRC_UNWIND) $(SRC_VIEW) \
		$(SRC_SYMBOLIZE) $(SRC_EXPLAIN) $(call in,lib/look lib/types lib/term)) \
		tests/support/fuzz/fuzz_heap_image.c \
		tests/support/graph/packed_bytes.c \
		tests/support/heaps/self_snapshot.c \
		tests/support/pass/sweeper_pipe.c

-include $(wildcard $(addprefix $(BUILD)/tests/,*/*.d */*/*.d)) $(CORPUS_OBJS:.o=.d)

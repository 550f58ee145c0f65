# long.mk: compiles programs for the long tests; included by tests.mk. Programs under test are built
# plain; readers of hostile bytes (fuzz.t) with the sanitizers, for any SANITIZE.

LONG_DIR := $(T)/long
LONG_FAKE := $(addprefix $(LONG_DIR)/,kill-target many steps fill-store)
LONG_REAL := $(addprefix $(LONG_DIR)/,kill-target-real mlock-pool many-real matrix proven quiet truth)
LONG_FUZZ := $(addprefix $(LONG_DIR)/,fuzz-store fuzz-metrics sspapi-asan)
# Empty without a clang with libFuzzer. (Only check-long tests for it: that takes most of the time
# of a make that does nothing.)
LONG_LIBFUZZER = $(if $(shell echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | \
		  clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null && echo yes),$(LONG_DIR)/fuzz-clang)

LONG_MPI := $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(LONG_DIR)/mpi-$(m)))

# What make check-long needs besides the fixtures of make check.
LONG	= $(LONG_DIR)/many-stores $(LONG_DIR)/mover $(LONG_MPI) $(LONG_FAKE) $(LONG_REAL) $(LONG_FUZZ) $(LONG_LIBFUZZER)

$(LONG_FAKE): $(LONG_DIR)/%: tests/long/%.c tests/scenes/scene.h $(APP_H) $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -Itests -o $@ $< $(FAKE)/libpapi.so.7.0 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../fake' -pthread -ldl

$(LONG_REAL): $(APP_H)
$(LONG_DIR)/kill-target-real: tests/long/kill-target.c
$(LONG_DIR)/many-real: tests/long/many.c
$(LONG_DIR)/mlock-pool: tests/long/mlock-pool.c
$(LONG_DIR)/matrix: tests/long/matrix.c
$(LONG_DIR)/proven: $(wildcard tests/long/proven/*.c) tests/long/proven/proven.h
$(LONG_DIR)/quiet: tests/long/quiet.c
$(LONG_DIR)/truth: tests/long/truth.c
$(LONG_REAL):
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -DREAL -Itests -o $@ $(filter %.c,$^) -lpapi -pthread

$(LONG_MPI): $(LONG_DIR)/mpi-%: tests/long/mpi.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)mpicc.$* -O2 -o $@ $< -lpapi -pthread

$(LONG_DIR)/mover: tests/long/mover.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $<

$(LONG_DIR)/many-stores: tests/long/many-stores.c $(T)/unit/parts.a
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -I. -o $@ $^ -pthread -ldl

FUZZ_FLAGS = -std=gnu11 -I$(B)/core/cli/report -D_GNU_SOURCE -DSP_VERSION='"$(VERSION)"' -DSP_LIBDIR='"$(LIBDIR)"' -DSP_DATADIR='"$(DATADIR)"' -O1 -g -fno-omit-frame-pointer -fwrapv \
	     -fno-sanitize-recover=undefined
FUZZ_CORE := $(wildcard $(patsubst %,core/%/*.c,base events store model formats metric))
FUZZ_DEPS := $(wildcard core/*/*.[ch] core/*/*/*.[ch]) $(PAGE)

# The command's own code, except its main, run, stat and list, which read no store, and sigaction
# and pread (see there).
FUZZ_STORE := tests/long/fuzz-store.c tests/long/fuzz-command.c
FUZZ_CLI = $(filter-out core/cli/sspapi.c core/cli/run/cmd-run.c core/cli/stat/cmd-stat.c core/cli/stat/% core/cli/list/% core/cli/doctor/% core/cli/threads/% core/cli/probe/%,$(wildcard core/cli/*.c core/cli/*/*.c)) core/cli/probe/subprocess.c -D'sigaction(a,b,c)=fuzz_sigaction(a,b,c)' -Wl,--wrap=pread

$(LONG_DIR)/fuzz-store: $(FUZZ_STORE) tests/long/fuzz-command.h $(FUZZ_DEPS)
	$(call say,FUZZ)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_FLAGS) -fsanitize=address,undefined -o $@ $(FUZZ_STORE) $(FUZZ_CLI) $(FUZZ_CORE) -ldl

$(LONG_DIR)/fuzz-metrics: tests/long/fuzz-metrics.c $(FUZZ_DEPS)
	$(call say,FUZZ)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FUZZ_FLAGS) -fsanitize=address,undefined -o $@ $< $(wildcard core/metric/*.c core/events/formula.c) core/model/observers.c core/base/sort.c core/store/gauge.c core/store/store-reader.c core/store/region.c core/store/timestamp.c core/base/out.c core/base/sys.c

$(LONG_DIR)/sspapi-asan: $(FUZZ_DEPS) $(B)/libsspapi-topo.so
	$(call say,FUZZ)
	@mkdir -p $(@D)
	@ln -sf ../../libsspapi-topo.so $(@D)/
	$(Q)$(CC) $(FUZZ_FLAGS) -fsanitize=address,undefined -o $@ $(filter-out core/cli/threads/%,$(wildcard core/cli/*.c core/cli/*/*.c)) topo/topo-flat.c \
		$(FUZZ_CORE) -ldl

$(LONG_DIR)/fuzz-clang: $(FUZZ_STORE) tests/long/fuzz-command.h $(FUZZ_DEPS)
	$(call say,FUZZ)
	@mkdir -p $(@D)
	$(Q)clang $(FUZZ_FLAGS) -DLIBFUZZER -fsanitize=fuzzer,address,undefined -o $@ $(FUZZ_STORE) $(FUZZ_CLI) $(FUZZ_CORE) -ldl

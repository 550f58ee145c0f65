# The whole build, on one page.  `make help` lists the targets and the variables.

B	?= build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
CC	:= $(if $(filter default,$(origin CC)),gcc,$(CC))
FC	:= $(if $(filter default,$(origin FC)),gfortran,$(FC))
CFLAGS	?= -O2 -g
PREFIX	?= /usr/local
LIBDIR	?= $(PREFIX)/lib
MANDIR	?= $(PREFIX)/share/man
DATADIR	?= $(PREFIX)/share/sspapi
PKG_CONFIG ?= pkg-config
V	?= 0
comma	:= ,
Q	:= $(if $(filter 0,$(V)),@)
say	= $(if $(filter 0,$(V)),@printf '  %-7s %s\n' '$(1)' '$(patsubst $(B)/%,%,$@)')

# VERSION is defined only here. Raise SONAME when a function of sspapi.h is removed or changed.
VERSION	:= 0.3.0
SONAME	:= libsspapi.so.0
WARN	:= -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla=0
# -fwrapv: counts are added as PAPI returns them, and stores may come from strangers.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -fwrapv -DSP_VERSION='"$(VERSION)"' $(filter-out -Wvla=0,$(WARN)) \
	     $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer) $(CFLAGS)
UNWIND_LIBS := $(shell $(PKG_CONFIG) --libs libunwind-generic 2>/dev/null || echo -lunwind-generic -lunwind)
HWLOC_LIBS := $(shell $(PKG_CONFIG) --libs hwloc 2>/dev/null || echo -lhwloc)

THREADS	:= $(B)/core/cli/threads/threads.o
CLI	:= $(filter-out $(THREADS),$(patsubst %.c,$(B)/%.o,$(wildcard core/cli/*.c core/cli/*/*.c)))
CORE	:= $(patsubst %.c,$(B)/%.o,$(wildcard $(patsubst %,core/%/*.c,base events store model formats)) $(patsubst %,core/metric/%.c,relation concurrent-sets compute))
# The parts of core that only the command needs: reading and choosing metric definitions.
METRIC	:= $(patsubst %.c,$(B)/%.o,core/metric/parse.c core/metric/metric.c)
TOPO	:= $(patsubst %.c,$(B)/%.o,$(wildcard topo/*.c))
WALKER	:= $(B)/preload/walker/walker.o
PRELOAD	:= $(filter-out $(WALKER),$(patsubst %.c,$(B)/%.o,$(wildcard preload/*/*.c)))

# Compile for size what no start, stop or reading executes, and the parts of the model that do not
# run once per count.
SMALL	:= $(if $(filter -O2,$(CFLAGS)),-Os)
COLD	:= $(filter-out core/base/lock%.c core/base/sys.c preload/api/count.c,$(wildcard core/base/*.c core/events/*.c core/formats/*.c \
	   $(patsubst %,preload/%/*.c,papi process handles events lifecycle api))) $(patsubst %,core/metric/%.c,relation concurrent-sets compute) topo/topo-flat.c \
	   $(patsubst %,core/store/%.c,compact live region timestamp store) $(patsubst %,preload/percpu/%.c,shadow-fds perf-fds shadow-open event-cpus) \
	   $(patsubst %,core/model/%.c,early-counts gauges intervals cross-thread model-query model-open observers overflows pending repeats why) \
	   $(patsubst %,preload/%.c,calls/loader callsites/modules)
$(COLD:%.c=$(B)/%.o): ALL_CFLAGS += $(SMALL)

# Code that is loaded into the application: hidden symbols, direct TLS, and no PLT. Under LD_AUDIT
# glibc binds a PLT entry lazily, with -z now too, and a call through it has the loader's return
# address; dlvsym(RTLD_NEXT) crashes on that. One section per function, so that the linker drops
# from the library and the command what only the other uses.
PIC	:= -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-plt -ffunction-sections

# Libraries that only sspapi loads, installed in a folder of their own.
OWN	:= $(B)/libsspapi-topo.so $(B)/libsspapi-threads.so $(B)/libsspapi-unwind.so
.PHONY: all product tests demo check check-unit check-shim check-long bench errors scale install uninstall deb clean help
all: product tests
product: $(B)/libsspapi.so $(OWN) $(B)/sspapi $(B)/metrics.csv

help:
	@sed -n 's/^#: //p' Makefile

#: make              build/libsspapi.so, build/sspapi and all else, under build/ only
#: make demo         a real PAPI program under sspapi, and its per-CPU dump
#: make check        the tests, in 3 to 4 minutes on two cores
#: make check-long   the long tests: PAPI's own, soak, kill, fork, merge, MPI, fuzz, compilers, Debian 13
#:                   (TEST_SHORT=1: each in a bounded form, as .ci/run runs them)
#: make check-machines   the tests on machines that QEMU boots: another architecture, counters, more CPUs
#:                   (scripts/deps --machines; MACHINES_SHORT=1: under 6 minutes)
#: make check-unit   the unit tests alone; with SANITIZE, sanitized
#: make check-shim   with SANITIZE: the library itself sanitized, in programs on a scripted libpapi
#: make bench        instructions, system calls and ns added to each call, compared with plain PAPI; fails above tests/bench/budgets
#:                   (BENCH_JSON=file, BENCH_SHORT=1)
#: make errors       how many counts would be on a wrong CPU, by rule and rate of moves (ERRORS_SHORT=1;
#:                   SYS_SAGE=clone, built in its folder build with -DPAPI=ON: sys-sage's as well)
#: make scale        merges and reports the stores of 100,000 ranks, with time, memory and disk
#: make install      PREFIX, DESTDIR, LIBDIR, MANDIR, DATADIR ...;  make uninstall removes only that
#: make deb          Debian packages in $(B)/deb, by scripts/packaging/deb
#: make clean        removes $(B)
#: variables         SANITIZE=address,undefined | thread    V=1    B=folder    CC, CFLAGS, LDFLAGS
#:                   TESTS=files: only these tests of a target

# ---- objects ---------------------------------------------------------------

# Recompile everything when the flags change, and the files that contain installation paths when
# those change.
FLAGS_TEXT := $(CC) $(ALL_CFLAGS) $(PIC) $(LDFLAGS) $(SMALL)
PLACES_TEXT = $(VERSION) $(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(DATADIR)
$(B)/flags: TEXT = $(FLAGS_TEXT)
$(B)/places: TEXT = $(PLACES_TEXT)
$(B)/flags $(B)/places: force
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(TEXT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(TEXT))' >$@
.PHONY: force

$(B)/%.o: %.c $(B)/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PIC) -MMD -MP -c -o $@ $<

# These run before a sanitizer has started, which calls our dlsym.
$(addprefix $(B)/preload/,papi/dlerror.o papi/elf.o calls/loader.o papi/real.o): ALL_CFLAGS += $(if $(SANITIZE),-fno-sanitize=all)

# Assembly that names functions of its file: -flto would move them elsewhere.
$(B)/preload/calls/loader.o: ALL_CFLAGS += $(if $(findstring -flto,$(CFLAGS)),-fno-lto)

$(B)/libsspapi.so: $(CORE) $(B)/topo/topo-flat.o $(PRELOAD) preload/libsspapi.map
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,preload/libsspapi.map \
		-Wl,-z,now,-z,relro,-z,nodelete,-z,defs,--gc-sections,--as-needed $(LDFLAGS) -o $@ $(filter %.o,$^) -ldl -lpthread
	$(Q)ln -sf libsspapi.so $(@D)/$(SONAME)

TOPO_CORE := $(addprefix $(B)/core/base/,sys.o cpu-list.o out.o out-f.o pmus.o)
TOPO_LINK = $(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libsspapi-topo.so -Wl,--version-script,topo/topo.map \
	    -Wl,-z,now,-z,relro,-z,defs $(LDFLAGS) -o $@ $(filter %.o,$^) $(HWLOC_LIBS)
$(B)/libsspapi-topo.so: $(TOPO) $(TOPO_CORE) topo/topo.map
	$(call say,LINK)
	$(Q)$(TOPO_LINK)

# Loaded into programs without a sanitizer, so never sanitized.
$(THREADS): ALL_CFLAGS += $(if $(SANITIZE),-fno-sanitize=all)
$(B)/libsspapi-threads.so: $(THREADS)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(SANITIZE),-fno-sanitize=all) -shared -Wl,-soname,libsspapi-threads.so -Wl,-z,now,-z,relro,-z,defs $(LDFLAGS) -o $@ $^ -ldl -lpthread

# Loaded into programs with any sanitizer, so never sanitized.
$(WALKER): ALL_CFLAGS += $(if $(SANITIZE),-fno-sanitize=all)
$(B)/libsspapi-unwind.so: $(WALKER)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(SANITIZE),-fno-sanitize=all) -shared -Wl,-soname,libsspapi-unwind.so -Wl,-z,now,-z,relro,-z,defs $(LDFLAGS) -o $@ $^ $(UNWIND_LIBS)

# The command also links topo-flat, for machines without hwloc.
$(B)/sspapi: $(CLI) $(METRIC) $(CORE) $(B)/topo/topo-flat.o
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -Wl,--gc-sections $(LDFLAGS) -o $@ $^ -ldl

# The page of the html format, and its parts.
PAGE	:= $(B)/core/cli/report/page-parts.h
$(PAGE): scripts/embed-page $(wildcard core/cli/report/page/*)
	$(call say,PAGE)
	@mkdir -p $(@D)
	$(Q)scripts/embed-page core/cli/report/page >$@.part && mv $@.part $@

$(B)/core/cli/report/page.o: $(PAGE)
$(B)/core/cli/report/page.o: ALL_CFLAGS += -I$(B)/core/cli/report

$(B)/core/cli/tool/library.o: $(B)/places
$(B)/core/cli/tool/library.o: ALL_CFLAGS += -DSP_LIBDIR='"$(LIBDIR)"' -DSP_DATADIR='"$(DATADIR)"'

# Next to the command in a build; installed in DATADIR.
$(B)/metrics.csv: core/cli/tool/metrics.csv
	@mkdir -p $(@D); cp $< $@

-include $(CLI:.o=.d) $(METRIC:.o=.d) $(CORE:.o=.d) $(TOPO:.o=.d) $(PRELOAD:.o=.d) $(THREADS:.o=.d) $(WALKER:.o=.d)

include tests/tests.mk
include tests/machines/machines.mk

# ---- the wrappers, forwarded to a libpapi that records -----------------------

FORWARD := $(T)/forward/t-forward
$(T)/forward/libpapi.so.7.0: tests/forward/recorder.c tests/forward/recorder.h preload/papi/papi.def preload/papi/fortran.def
	$(call say,FAKE)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared -Wl,-soname,$(@F) -o $@ $<

$(FORWARD): tests/forward/t-forward.c $(T)/forward/libpapi.so.7.0
	$(call say,UNIT)
	$(Q)$(CC) $(PLAIN) -o $@ $^ -Wl,-rpath,'$$ORIGIN' $(CMOCKA)

# ---- running ---------------------------------------------------------------

# TESTS=files selects tests for make, not for commands that a test starts.
unexport TESTS
# use_sigaltstack=0: gcc 12's ASan faults at the end of a thread with a small stack.
PROVE	= ASAN_OPTIONS=use_sigaltstack=0:detect_leaks=0 B='$(B)' SANITIZE='$(SANITIZE)' CC='$(CC)' sh tests/lib/plain-path prove $(PROVE_FLAGS) --exec 'sh tests/lib/run-test'

# t-crash has one thread and stops it at each instruction: it takes minutes under ThreadSanitizer
# and cannot find a race.
check-unit:
	+@$(BUILD) $(UNITS) $(B)/libsspapi-topo.so
	@$(PROVE) -j2 $(or $(TESTS),$(if $(findstring thread,$(SANITIZE)),$(filter-out %/t-crash,$(UNITS)),$(UNITS)))

-include tests/long/long.mk
check-long:
	+@$(BUILD) fixtures $(LONG) $(if $(or $(TEST_SHORT),$(TESTS),$(filter tests/long/%,$(CASES))),,guests)
	@TEST_SECONDS=3000 $(PROVE) --timer -j1 $(or $(TESTS),$(filter tests/long/%,$(CASES)),$(sort $(wildcard tests/long/*.t)) $(if $(TEST_SHORT),,$(MACHINES_LONG)))

# The cases in which the library meets threads, signals, forks and the loader, with the sanitizer's
# runtime preloaded first.
check-shim:
	+@$(BUILD) programs
	@TEST_SECONDS=1800 $(PROVE) -j$(JOBS) $(or $(TESTS),$(addprefix tests/cases/,45-attribution.t 45-attribution-program.t 45-attribution-pushed.t 45-attribution-refused.t 45-attribution-user.t 80-process-ends.t 85-threads.t 86-hostile-ends.t 87-signals.t))

demo: all
	@B=$(B) scripts/demo

BENCHES := $(addprefix $(B)/tests/bench/,calls shape regions split process storms errors)
bench: all $(BENCHES) $(FAKES)
	@. tests/lib/real-papi.sh && export REAL_PAPI_PRELOAD REAL_PAPI_HW2SW PAPI_HOW && B=$(B) scripts/bench

errors: all $(B)/tests/bench/errors $(if $(SYS_SAGE),$(B)/tests/bench/errors-sage)
	@. tests/lib/real-papi.sh && export REAL_PAPI_PRELOAD && B=$(B) SYS_SAGE=$(SYS_SAGE) scripts/errors

scale: product $(B)/tests/apps/demo
	@. tests/lib/real-papi.sh && export REAL_PAPI_PRELOAD && scripts/scale $(B)

# The same program with sys-sage's wrappers, from a clone that was built in its folder build with
# -DPAPI=ON.
SAGE	= -I$(SYS_SAGE)/src -L$(SYS_SAGE)/build/src -Wl,-rpath,$(realpath $(SYS_SAGE))/build/src
$(B)/tests/bench/errors-sage: tests/bench/errors.c tests/bench/sage.cpp tests/apps/handed.h tests/apps/touch.h
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -DPAPI_start=sage_start -DPAPI_read=sage_read -DPAPI_stop=sage_stop -c -o $@.o $<
	$(Q)$(CXX) -std=c++20 -O2 -o $@ tests/bench/sage.cpp $@.o $(SAGE) $(shell xml2-config --cflags) -lsys-sage -lpapi -lxml2 -pthread

$(BENCHES): tests/bench/measure.h
$(B)/tests/bench/errors: tests/apps/handed.h tests/apps/touch.h
$(B)/tests/bench/%: tests/bench/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $< -lpapi -pthread

clean:
	rm -rf $(B)

# ---- installing ------------------------------------------------------------

# One list for install and uninstall.
BINDIR	?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
PAGES	:= $(wildcard man/*.[1-8])
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
page	= $(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))

# Reject values that recipes and sed would misread: with a blank in PREFIX, uninstall removed a
# user's file. Also check the value as it was written, since make expands a $ in it.
empty	:=
hash	:= \#
open	:= (
close	:= )
define newline


endef
UNFIT	:= ' " ` $$ ; & | < > $(open) $(close) * ? [ ] { } \ ! ~ % $(hash)
written	= $(if $(filter command environment,$(firstword $(origin $(1)))),$(value $(1)))
unfit	= $(strip $(if $(findstring $(empty) $(empty),$(1)),x)$(if $(findstring $(empty)	$(empty),$(1)),x)$(if $(findstring $(newline),$(1)),x) \
	    $(foreach c,$(UNFIT),$(findstring $(c),$(1))))
$(foreach v,PREFIX DESTDIR LIBDIR MANDIR DATADIR BINDIR INCLUDEDIR BASHDIR ZSHDIR,$(if $(call unfit,$($(v))$(call written,$(v))),\
  $(error $(v) must not contain a blank, quote, $$, ;, & or another character that is special to the shell)))

INSTALLED = $(LIBDIR)/$(SONAME) $(LIBDIR)/libsspapi.so $(patsubst $(B)/%,$(LIBDIR)/sspapi/%,$(OWN)) $(foreach p,$(PAGES),$(call page,$(p))) \
	    $(LIBDIR)/pkgconfig/sspapi.pc $(BINDIR)/sspapi $(INCLUDEDIR)/sspapi.h $(DATADIR)/metrics.csv $(DATADIR)/python/sspapi.py \
	    $(BASHDIR)/sspapi $(ZSHDIR)/_sspapi

$(B)/sspapi.pc: scripts/sspapi.pc.in $(B)/places
	@sed 's|@LIBDIR@|$(LIBDIR)|; s|@PREFIX@|$(PREFIX)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' $< >$@

# The folders that install made, now or earlier, deepest first: uninstall removes no others. ("/" is
# DESTDIR itself.)
FOLDERS = $(sort $(BINDIR) $(INCLUDEDIR) $(DATADIR)/python $(BASHDIR) $(ZSHDIR) $(LIBDIR)/pkgconfig $(LIBDIR)/sspapi $(foreach p,$(PAGES),$(patsubst %/,%,$(dir $(call page,$(p))))))
MADE	= $(DESTDIR)$(LIBDIR)/sspapi/folders

install: product $(B)/sspapi.pc
	@set -e; made=$$(cat $(MADE) 2>/dev/null || true; [ -z '$(DESTDIR)' ] || [ -d '$(DESTDIR)' ] || echo /; \
	for f in $(FOLDERS); do \
		while [ -n "$$f" ] && [ ! -d "$(DESTDIR)$$f" ]; do echo "$$f"; case $$f in */*) f=$${f%/*} ;; *) f= ;; esac; done; \
	done); \
	install -d $(addprefix $(DESTDIR),$(FOLDERS)); \
	[ -z "$$made" ] || printf '%s\n' $$made | LC_ALL=C sort -ru >$(MADE)
	install -m 755 $(B)/libsspapi.so $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libsspapi.so
	install -m 755 $(OWN) $(DESTDIR)$(LIBDIR)/sspapi
	install -m 755 $(B)/sspapi $(DESTDIR)$(BINDIR)
	install -m 644 preload/sspapi.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 core/cli/tool/metrics.csv $(DESTDIR)$(DATADIR)
	install -m 644 scripts/sspapi.py $(DESTDIR)$(DATADIR)/python
	install -m 644 scripts/completion/sspapi.bash $(DESTDIR)$(BASHDIR)/sspapi
	install -m 644 scripts/completion/_sspapi $(DESTDIR)$(ZSHDIR)
	install -m 644 $(B)/sspapi.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	$(foreach p,$(PAGES),install -m 644 $(p) $(DESTDIR)$(call page,$(p)) &&) true
	sed -i -e '1,5s/^\(\.TH .*\)"sspapi" "sspapi"$$/\1"sspapi $(VERSION)" "sspapi"/' -e 's|/usr/local/lib/libsspapi\.so|$(LIBDIR)/$(SONAME)|' $(foreach p,$(PAGES),$(DESTDIR)$(call page,$(p)))

deb:
	@B='$(B)' scripts/packaging/deb

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	@made=$$(cat $(MADE) 2>/dev/null); rm -f $(MADE); for f in $$made; do rmdir "$(DESTDIR)$$f" 2>/dev/null || true; done

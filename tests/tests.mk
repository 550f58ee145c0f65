# tests.mk: compiles the tests and runs them. Included by the Makefile. Programs under test are
# built without sanitizers, as users build theirs.

T	:= $(B)/tests
PLAIN	= -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra
FAKE	:= $(T)/fake
APP_H	:= $(wildcard tests/apps/*.h)
BARE_APPS := plugin-host plugin-pair dlsym nolib nopapi counted thread-start spawner gated hybrid denies
PAPI_APPS := $(filter-out $(BARE_APPS) plugin sites sites-plugin,$(patsubst tests/apps/%.c,%,$(wildcard tests/apps/*.c)))

APPS	:= $(addprefix $(T)/apps/,$(PAPI_APPS) $(BARE_APPS) counted-static fortran) $(T)/apps/plugin.so $(addprefix $(T)/apps/,sites sites-no-pie sites-a.so sites-b.so)
PRELOADS := $(patsubst tests/preload/%.c,$(T)/preload/%.so,$(wildcard tests/preload/*.c))

# Programs that use sspapi.h, linked to it before libpapi (here) and after it (behind).
API_APPS := $(patsubst tests/apps/api/%.c,%,$(wildcard tests/apps/api/*.c))
APIS	:= $(addprefix $(T)/apps/api/,$(API_APPS)) $(addprefix $(T)/apps/api/behind/,$(API_APPS))
$(APIS): tests/apps/api/own.h $(APP_H) preload/sspapi.h $(B)/libsspapi.so

$(addprefix $(T)/apps/api/,$(API_APPS)): $(T)/apps/api/%: tests/apps/api/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $< -L$(B) -lsspapi -lpapi -pthread

$(addprefix $(T)/apps/api/behind/,$(API_APPS)): $(T)/apps/api/behind/%: tests/apps/api/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $< -L$(B) -lpapi -lsspapi -pthread

# The header as C++ users include it; nothing without a C++ compiler.
API_CXX	:= $(if $(shell command -v $(CXX)),$(T)/apps/api/examples)
$(API_CXX): tests/apps/api/examples.cc preload/sspapi.h $(B)/libsspapi.so
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Ipreload -o $@ $< -L$(B) -lsspapi -lpapi -pthread

tests: $(APPS) $(APIS) $(API_CXX) $(PRELOADS)

$(APPS): $(APP_H)

# The demo simulates a CPU for a libpfm4 that does not support this one: the README's line works
# everywhere.
$(T)/apps/demo: tests/preload/lendpmu.c

$(addprefix $(T)/apps/,$(PAPI_APPS)): $(T)/apps/%: tests/apps/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $(filter %.c,$^) -lpapi -pthread -ldl -lrt

$(addprefix $(T)/apps/,$(BARE_APPS)): $(T)/apps/%: tests/apps/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $< -pthread -ldl

$(T)/apps/denies: tests/scenes/deny.h

$(T)/apps/counted-static: tests/apps/counted.c tests/apps/touch.h
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -static -o $@ $< -pthread

$(T)/apps/plugin.so: tests/apps/plugin.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -shared -fPIC -o $@ $< -lpapi

$(T)/apps/sites: SITES = -pie -rdynamic
$(T)/apps/sites-no-pie: SITES = -no-pie
$(T)/apps/sites $(T)/apps/sites-no-pie: tests/apps/sites.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) $(SITES) -o $@ $< -lpapi -ldl

$(T)/apps/sites-a.so $(T)/apps/sites-b.so: tests/apps/sites-plugin.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -shared -fPIC -o $@ $<

$(T)/apps/fortran: tests/apps/fortran.f90
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(FC) -O2 -I/usr/include -J$(@D) -o $@ $< -lpapi

$(addprefix $(T)/preload/,faults.so noread.so wide.so): tests/preload/raw.h
$(addprefix $(T)/preload/,meet.so step.so front.so turns.so oracle.so): tests/preload/behind.h
$(T)/preload/stay.so: tests/apps/touch.h

$(T)/preload/%.so: tests/preload/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -shared -fPIC -o $@ $< $(if $(filter beside,$(*F)),-lpapi -pthread)

# ---- the scripted libpapi, one for each version, and what runs on it ----------

FAKE_SRC := $(filter-out tests/fake/t-fake.c,$(wildcard tests/fake/*.c))
FAKE_DEPS := $(FAKE_SRC) $(wildcard tests/fake/*.h tests/fake/*.def)
FAKES	:= $(addprefix $(FAKE)/,libpapi.so.7.0 symbolic/libpapi.so.7.0 5.7/libpapi.so.5 6.0/libpapi.so.6.0 \
	     7.1/libpapi.so.7.1 7.2/libpapi.so.7.2)
$(FAKE)/5.7/%: FAKE_FLAGS = -DFAKE_PAPI_VERSION=0x0507
$(FAKE)/6.0/%: FAKE_FLAGS = -DFAKE_PAPI_VERSION=0x0600
$(FAKE)/7.1/%: FAKE_FLAGS = -DFAKE_PAPI_VERSION=0x0701
$(FAKE)/7.2/%: FAKE_FLAGS = -DFAKE_PAPI_VERSION=0x0702
$(FAKE)/symbolic/%: FAKE_FLAGS = -Wl,-Bsymbolic-functions

$(FAKE)/libkernel.so: tests/fake/kernel/kernel.c tests/fake/kernel/kernel.map
	$(call say,FAKE)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -shared -fPIC -Wl,-soname,$(@F) -Wl,--version-script=tests/fake/kernel/kernel.map -o $@ $<

# Found next to it in a copy and in a guest; by its full path behind a link and in a privileged
# program.
$(FAKES): $(FAKE_DEPS) $(FAKE)/libkernel.so
	$(call say,FAKE)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -shared -fPIC $(FAKE_FLAGS) -Wl,-soname,$(@F) -o $@ $(FAKE_SRC) $(FAKE)/libkernel.so \
	  -Wl,-z,now,--enable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/..:$(abspath $(FAKE))' -pthread -ldl

# Programs on the scripted libpapi 7.0, some also on other versions; plugins with a libpapi each.
SCENES	:= $(patsubst tests/scenes/%.c,$(T)/scenes/%,$(wildcard tests/scenes/*.c))
VERSIONS := $(addprefix $(T)/scenes/,one-5.7 high5-5.7 one-6.0 one-7.1 one-7.2)
PLUGINS	:= $(addprefix $(T)/scenes/,plugin-7.0.so plugin-7.1.so)
# (call SCENE,source,folder of libpapi,flags)
SCENE	= $(CC) $(PLAIN) -Itests $(3) -o $@ $(1) $(filter $(FAKE)/% %.so,$^) \
	  -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../fake/$(2):$$ORIGIN' -pthread -ldl -lrt

$(filter-out %/held,$(SCENES)): $(T)/scenes/%: tests/scenes/%.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<)

$(T)/scenes/held: tests/scenes/held.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,,-rdynamic)

# Their segments are not adjacent, as in all programs on aarch64 and those linked for large pages.
APART	:= $(addprefix $(T)/scenes/,life-apart life-apart-no-pie)
$(T)/scenes/life-apart-no-pie: NO_PIE = -no-pie
$(APART): tests/scenes/life.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,,-Wl$(comma)-z$(comma)max-page-size=0x200000 $(NO_PIE))

# Programs with their own malloc or hwloc, and our library next to a libsspapi-topo.so that sees a
# machine with GPUs.
MALLOCS	:= $(addprefix $(T)/scenes/mallocs-,own own-uses own-other)
$(T)/scenes/mallocs-own: MALLOC = -DOWN_MALLOC
$(T)/scenes/mallocs-own-uses: MALLOC = -DOWN_MALLOC -DUSES_HWLOC
$(T)/scenes/mallocs-own-other: MALLOC = -DOWN_MALLOC -DOTHER_HWLOC -rdynamic
$(MALLOCS): tests/scenes/mallocs.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,,$(MALLOC)) $(if $(findstring USES,$(MALLOC)),$(HWLOC_LIBS))

GPUS	:= $(T)/gpus/libsspapi.so $(T)/gpus/libsspapi-topo.so
$(T)/gpus/topo-gpus.o: topo/topo-gpus.c topo/topo-inside.h $(B)/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PIC) -DSP_TOPO_ROOT='"$(abspath tests/topo/root)"' -c -o $@ $<
$(T)/gpus/libsspapi-topo.so: $(filter-out $(B)/topo/topo-gpus.o,$(TOPO)) $(T)/gpus/topo-gpus.o $(TOPO_CORE)
	$(call say,LINK)
	$(Q)$(TOPO_LINK)
$(T)/gpus/libsspapi.so: $(B)/libsspapi.so
	@mkdir -p $(@D); cp $< $@

# A wrapper of a third party, linked before libpapi, or preloaded.
OPENS	:= $(addprefix $(T)/scenes/,libopens.so one-opens)
$(T)/scenes/libopens.so: tests/scenes/plugin/opens.c
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -shared -fPIC -Wl,-soname,$(@F) -o $@ $< -ldl
$(T)/scenes/one-opens: tests/scenes/one.c $(T)/scenes/libopens.so $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<)

# A library that measures before all others start and after they end.
$(T)/scenes/moments: $(T)/scenes/libmoments.so
$(T)/scenes/libmoments.so: tests/scenes/plugin/moments.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,,-shared -fPIC -Wl$(comma)-soname$(comma)$(@F))

$(filter %-5.7,$(VERSIONS)): $(FAKE)/5.7/libpapi.so.5
$(filter %-6.0,$(VERSIONS)): $(FAKE)/6.0/libpapi.so.6.0
$(filter %-7.1,$(VERSIONS)) $(T)/scenes/plugin-7.1.so: $(FAKE)/7.1/libpapi.so.7.1
$(filter %-7.2,$(VERSIONS)): $(FAKE)/7.2/libpapi.so.7.2
$(T)/scenes/plugin-7.0.so: $(FAKE)/libpapi.so.7.0

$(VERSIONS): tests/scenes/one.c tests/scenes/high5.c
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,tests/scenes/$(firstword $(subst -, ,$(@F))).c,$(lastword $(subst -, ,$(@F))))

$(PLUGINS): tests/scenes/plugin/plugin.c
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,$(patsubst plugin-%.so,%,$(filter-out plugin-7.0.so,$(@F))),-shared -fPIC)

# Plugins that make one measurement: one contains libpapi, as python-papi's wheel does; the other
# links it.
HOLDS	:= $(T)/scenes/libholds.so $(T)/scenes/liblinks.so
$(T)/scenes/libholds.so: tests/scenes/plugin/holds.c $(FAKE_DEPS)
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$< $(FAKE_SRC),,-shared -fPIC -Wl$(comma)-soname$(comma)$(@F))
$(T)/scenes/liblinks.so: tests/scenes/plugin/holds.c $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	@mkdir -p $(@D)
	$(Q)$(call SCENE,$<,,-shared -fPIC -Wl$(comma)-soname$(comma)$(@F))

$(SCENES) $(MALLOCS) $(APART) $(OPENS) $(VERSIONS) $(PLUGINS) $(HOLDS): tests/scenes/scene.h tests/scenes/now.h $(APP_H)

# Linked to libsspapi, before libpapi; its own clock overrides the kernel's (-rdynamic).
$(T)/api-random-scripted: SCRIPTED = -DSCRIPTED
$(T)/api-random $(T)/api-random-scripted: tests/api-random.c
$(T)/vectors: tests/vectors.c
$(T)/api-errors: tests/api-errors.c
$(T)/vectors $(T)/api-errors $(T)/api-random $(T)/api-random-scripted: preload/sspapi.h $(B)/libsspapi.so $(FAKE)/libpapi.so.7.0
	$(call say,SCENE)
	$(Q)$(CC) $(PLAIN) $(SCRIPTED) -rdynamic -Itests -o $@ $(filter %.c,$^) $(filter-out %.c %.h,$^) \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/..:$$ORIGIN/fake' $(JANSSON) -pthread -ldl

# ---- unit tests: cmocka, one program a file ----------------------------------

CMOCKA	:= $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null || echo -lcmocka)
JANSSON	:= $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null || echo -ljansson)
UNITS	:= $(patsubst tests/unit/%.c,$(T)/unit/%,$(wildcard tests/unit/t-*.c)) $(T)/unit/t-fake

# cmocka passes a parameter to each test, and few use it.
# The archive gives a test only the objects for which it has no stub. A program with libhwloc would
# make t-topo-dso test that one. topo-getenv.o belongs to libsspapi-topo.so alone: it overrides
# libc.
$(T)/unit/parts.a: $(CORE) $(METRIC) $(filter-out $(B)/topo/topo-getenv.o,$(TOPO))
	$(call say,AR)
	@mkdir -p $(@D)
	$(Q)rm -f $@; $(AR) rcs $@ $^

$(T)/unit/cli.a: $(filter-out $(B)/core/cli/sspapi.o,$(CLI))
	$(call say,AR)
	@mkdir -p $(@D)
	$(Q)rm -f $@; $(AR) rcs $@ $^

$(filter-out $(T)/unit/t-fake,$(UNITS)): $(T)/unit/%: tests/unit/%.c $(T)/unit/cli.a $(T)/unit/parts.a
	$(call say,UNIT)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-unused-parameter -MMD -MP -MF $@.d -o $@ $< $(filter %.o,$^) -Wl,--as-needed $(T)/unit/cli.a $(T)/unit/parts.a $(CMOCKA) $(JANSSON) $(HWLOC_LIBS) -pthread -ldl -lrt

$(T)/unit/t-window: $(B)/preload/percpu/window.o
$(T)/unit/t-event-cpus: $(B)/preload/percpu/event-cpus.o
$(T)/unit/t-target: $(B)/preload/percpu/target.o
$(T)/unit/t-rest: $(B)/preload/percpu/home-off.o $(B)/preload/percpu/window.o
$(T)/unit/t-steps: $(B)/preload/callsites/stack-hash.o
$(T)/unit/t-unwind: $(B)/preload/callsites/stack-hash.o
$(T)/unit/t-cpu-select: $(B)/preload/percpu/cpu-select.o $(B)/preload/percpu/window.o

$(T)/unit/t-fake: tests/fake/t-fake.c $(FAKE)/libpapi.so.7.0
	$(call say,UNIT)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $^ -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../fake' $(CMOCKA) -pthread -ldl

-include $(wildcard $(T)/unit/*.d)

# ---- make check ---------------------------------------------------------------

# CASES="tests/cases/4*.t" selects cases (check-long: of tests/long); PROVE_FLAGS=-v shows each
# check.
# (The longest run first, so that none of them runs alone at the end.)
LONGEST	:= $(wildcard $(addprefix tests/cases/,63-html.t 86-hostile-ends.t))
CASES	?= $(LONGEST) $(filter-out $(LONGEST),$(sort $(wildcard tests/cases/*.t)))
CHECK_UNITS ?= $(UNITS)
JOBS	?= 2
# Builds targets in parallel, unless make itself was given a number of jobs.
BUILD	= $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
.PHONY: fixtures programs
programs: all $(T)/forward/t-forward $(FAKES) $(SCENES) $(MALLOCS) $(GPUS) $(APART) $(OPENS) $(VERSIONS) $(PLUGINS) $(HOLDS) $(T)/vectors $(T)/api-errors $(T)/api-random $(T)/api-random-scripted $(T)/long/many-stores
fixtures: programs $(CHECK_UNITS)

# (Two tests on two CPUs wait a quarter of their time: run three, unless JOBS is given.)
check:
	+@$(BUILD) fixtures
	@$(PROVE) -j$(if $(filter file,$(origin JOBS)),3,$(JOBS)) $(or $(TESTS),$(CASES) $(CHECK_UNITS))

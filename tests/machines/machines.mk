# machines.mk: the tests on machines other than this one (tests/machines); included by the Makefile.
# MACHINES_SHORT=1: only eight and sixteen CPUs on the older kernel, and hardware counters on the
# newer one.

MACHINES := $(shell . tests/machines/machine.sh && echo "$$machines" | cut -d' ' -f1)
MACHINES_TESTS := $(addprefix tests/machines/,counters-new.t levels.t unpinned.t)
MACHINES_USED = $(if $(MACHINES_SHORT),aarch64-new x86-64,$(MACHINES))
MACHINES_LONG := $(sort $(wildcard tests/machines/*.t))
MACHINES_TESTED = $(if $(MACHINES_SHORT),$(MACHINES_TESTS),$(MACHINES_LONG))
WALKS	:= $(addprefix $(T)/machines/,walk walkf prices own-events steady) $(T)/apps/unpinned

$(T)/machines/walk $(T)/machines/own-events: tests/machines/unit.h tests/apps/touch.h
$(T)/machines/steady: tests/bench/measure.h
$(addprefix $(T)/machines/,walk prices own-events steady): $(T)/machines/%: tests/machines/%.c
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -o $@ $< -lpapi -pthread

$(T)/machines/walkf: tests/machines/walkf.f90 tests/machines/walkf-units.c tests/machines/unit.h tests/apps/touch.h
	$(call say,APP)
	@mkdir -p $(@D)
	$(Q)$(CC) $(PLAIN) -c -o $@.o tests/machines/walkf-units.c
	$(Q)$(FC) -O2 -I/usr/include -J$(@D) -o $@ $< $@.o -lpapi

# The files for a guest: made here for this machine's kind, and by tests/machines/cross for the
# others.
.PHONY: guest guests check-machines
guest: $(B)/libsspapi.so $(OWN) $(B)/sspapi $(B)/metrics.csv $(WALKS) $(if $(MACHINES_SHORT),,fixtures $(addprefix $(T)/long/,proven truth))

guests:
	$(Q)for m in $(MACHINES_USED); do \
		if [ "$$m" = "$$(uname -m | tr _ -)" ]; then $(MAKE) --no-print-directory guest && tests/machines/make-image $$m >/dev/null; \
		else MAKEFLAGS= tests/machines/cross $$m '$(B)'/$$m -s -j$(JOBS) MACHINES_SHORT=$(MACHINES_SHORT) guest; fi || exit 1; \
	done

check-machines: guests
	@TEST_SECONDS=3000 MACHINES_SHORT='$(MACHINES_SHORT)' $(PROVE) -j2 $(or $(filter tests/machines/%,$(TESTS) $(CASES)),$(MACHINES_TESTED))

# Programs for tests, and libraries to preload. Included by ../Makefile.
#   make -C c OUT=DIR [CC=…] [CFLAGS=…] [LDFLAGS=…] DIR/test/watcher DIR/test/lib/threads DIR/test/hangcalls.so
TEST_CFLAGS = -std=c11 -D_GNU_SOURCE -fno-strict-aliasing $(CFLAGS) $(WARN)
TEST_HEADERS = $(wildcard *.h */*.h */*/*.h) Makefile rooms.mk test/tests.mk
LINK_TEST = $(CC) $(TEST_CFLAGS) -o $@ $< $(filter %.o,$^) $(LDFLAGS) -lpthread -ldl -lm

$(OUT)/%.so: %.c $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -shared -fPIC -o $@ $< -ldl

$(OUT)/test/%: test/%.c $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(LINK_TEST)

# The library's parts as they are: of its archive only the API is to be seen.
$(addprefix $(OUT)/test/,linkwatcher torturereader watcher lib/calls lib/spoil lib/threads): $(LIB_OBJECTS)
$(addprefix $(OUT)/test/lib/,spoil threads): $(WRITER:%=$(OUT)/%.o)

# What a run of the sender reads of trees, tick by tick.
SUMS = $(addsuffix .c,$(NODE) base/sha256) $(wildcard collect/*.c sender/slow/*.c)
$(OUT)/test/sums: test/sums.c $(SUMS) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -o $@ test/sums.c $(SUMS) $(LDFLAGS) -lpthread -lm

# The unit tests: pure code by itself, with nothing but a compiler. Objects of their own; SAN=1: with sanitizers.
#   make -C c check [SAN=1] [UNITS="order keys"] [OUT=DIR]
UNITS = $(patsubst test/unit/%unit.c,%,$(wildcard test/unit/*unit.c))
UNIT_OUT = $(OUT)/unit$(if $(SAN),-san)
UNIT_CFLAGS = -O0 -g1 $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all)
UNIT_COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -DBB_INVARIANTS -fno-strict-aliasing $(DEPENDENCIES) $(UNIT_CFLAGS) $(WARN)
UNIT_OBJECTS = $(patsubst %,$(UNIT_OUT)/%.o,$(sort $(LIBRARY) $(TEXTS) $(WRITER) judge/overview judge/totals \
  $(OPTIONS) $(addprefix base/,fault hostfold hostlist startup toml wholefile)))
comma = ,

check: $(UNITS:%=$(UNIT_OUT)/%unit)
	@failed=0; for unit in $^; do $$unit || failed=1; done; exit $$failed

$(UNIT_OUT)/%.o: %.c Makefile rooms.mk test/tests.mk
	@mkdir -p $(@D)
	$(UNIT_COMPILE) -c $< -o $@

# Of all that is pure a unit takes what it calls.
$(UNIT_OUT)/units.a: $(UNIT_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(UNIT_OUT)/%unit: $(UNIT_OUT)/test/unit/%unit.o $(UNIT_OUT)/units.a
	$(CC) $(UNIT_CFLAGS) -o $@ $^ $(LDFLAGS) -lpthread -lm

.PRECIOUS: $(UNIT_OUT)/%.o
.PHONY: check
-include $(UNIT_OBJECTS:.o=.d) $(UNITS:%=$(UNIT_OUT)/test/unit/%unit.d)

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
$(addprefix $(OUT)/test/,linkwatcher torturereader watcher) $(addprefix $(OUT)/test/lib/,calls spoil threads): $(LIB_OBJECTS)
$(addprefix $(OUT)/test/lib/,spoil threads): $(WRITER:%=$(OUT)/%.o)

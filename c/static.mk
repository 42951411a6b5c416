# How a program for nodes and masters is made and installed: static, with musl, where that is. A Makefile that includes
# it says before: NAME of the program, SOURCES (relative to its folder), OURS (what its sources are compiled with beside
# CFLAGS), and LIBS, if it needs some; OUT, CFLAGS and LDFLAGS, where they are others; BIN and SECTION, where it lies in
# another folder than sbin, and its page in another section than 8.
ifeq ($(origin CC),default)
CC := $(shell command -v musl-gcc >/dev/null 2>&1 && echo musl-gcc || echo cc)
endif
# Who links, when the compiler does not know the C library.
LINK ?= $(CC)
# A static glibc would load the system's name services all the same when it looks up a user or a host, and only those of
# its own version work; so with glibc nothing is static. By name the large tables (LARGE, in text.h) come behind
# all that is small, which then shares a few pages.
ifeq ($(origin LDFLAGS),undefined)
GLIBC := $(findstring __GLIBC__,$(shell $(CC) -E -dM -include features.h -x c /dev/null 2>/dev/null))
LDFLAGS := $(if $(GLIBC),,-static -Wl,-z,noseparate-code,--sort-section=name)
endif
# Code that is made for a fixed place has to be linked for one, whatever the compiler takes for usual.
PLACE = $(filter -no-pie,$(patsubst -fno-pie,-no-pie,$(CFLAGS)))
WARN = -Wall -Wextra -Wpedantic -Werror
VERSION := $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' ../../package.json)
OBJECTS := $(patsubst %.c,$(OUT)/%.o,$(subst ../,up/,$(SOURCES)))
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -DBEOBOARD_VERSION='"$(VERSION)"' -ffunction-sections -fdata-sections \
  $(OURS) -MMD -MP $(CFLAGS) $(WARN)

# What another compiler or other flags have made in OUT is of no use: then all is made again.
SETTINGS := $(strip $(LINK) $(COMPILE) $(LDFLAGS))
ifneq ($(file <$(OUT)/settings),$(SETTINGS))
$(shell mkdir -p $(OUT))
$(file >$(OUT)/settings,$(SETTINGS))
endif

$(OUT)/$(NAME): $(OBJECTS)
	$(LINK) $(CFLAGS) $(PLACE) -Wl,--gc-sections -o $@.tmp $(OBJECTS) $(LDFLAGS) $(LIBS)
	mv $@.tmp $@

# Without symbols, by whoever links for this processor.
$(OUT)/stripped/$(NAME): $(OBJECTS)
	@mkdir -p $(@D)
	$(LINK) $(CFLAGS) $(PLACE) -Wl,--gc-sections -s -o $@.tmp $(OBJECTS) $(LDFLAGS) $(LIBS)
	mv $@.tmp $@

$(OUT)/up/%.o: ../%.c Makefile ../rooms.mk ../static.mk $(OUT)/settings
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@

$(OUT)/%.o: %.c Makefile ../rooms.mk ../static.mk $(OUT)/settings
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@

PREFIX ?= /usr/local
INSTALL ?= install
BIN ?= sbin
SECTION ?= 8

install: $(OUT)/stripped/$(NAME)
	$(INSTALL) -D -m 755 $< $(DESTDIR)$(PREFIX)/$(BIN)/$(NAME)
	$(INSTALL) -D -m 644 $(NAME).$(SECTION) $(DESTDIR)$(PREFIX)/share/man/man$(SECTION)/$(NAME).$(SECTION)

clean:
	rm -rf $(OUT)

-include $(OBJECTS:.o=.d)

.PHONY: clean install

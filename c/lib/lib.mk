# The library that schedulers link, its examples and its manual. Included by ../Makefile.
#   make -C c lib       [OUT=DIR] [CC=…] [CFLAGS=…]            shared and static, in OUT
#   make -C c install   [PREFIX=/usr/local] [LIBDIR=…] [DESTDIR=…]     then, as root: ldconfig
#   make -C c examples  [OUT=DIR]                              against the library in OUT
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
INSTALL ?= install

LIB_VERSION := $(shell set -- $$(sed -n 's/^.define BEOBOARD_VERSION_[A-Z]* *\([0-9]*\).*/\1/p' beoboard.h); \
  echo $$1.$$2.$$3)
LIB_MAJOR := $(firstword $(subst ., ,$(LIB_VERSION)))
LIB_OBJECTS = $(LIBRARY:%=$(OUT)/clib/%.o)
LIB_SHARED = $(OUT)/libbeoboard.so.$(LIB_VERSION)
LIB_SONAME = libbeoboard.so.$(LIB_MAJOR)
EXAMPLES = least-loaded may-start wait-for-node

# Words are copied out of the board as 64 bits and read as what they are: no-strict-aliasing lets them. Every section
# apart, so that what of reader.c the library does not need stays out.
LIB_CFLAGS = -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -fno-strict-aliasing -ffunction-sections -fdata-sections

lib: $(OUT)/libbeoboard.so $(OUT)/libbeoboard.a

$(OUT)/clib/%.o: %.c Makefile rooms.mk lib/lib.mk
	@mkdir -p $(@D)
	$(CC) $(LIB_CFLAGS) $(DEPENDENCIES) $(CFLAGS) $(WARN) -c $< -o $@

# Bound at once (now): a first call within a signal handler must not enter the dynamic linker.
$(LIB_SHARED): $(LIB_OBJECTS) lib/beoboard.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--version-script,lib/beoboard.map -Wl,-z,defs -Wl,-z,now \
	  -Wl,-z,relro -Wl,--gc-sections -o $@ $(LIB_OBJECTS) $(LDFLAGS)

$(OUT)/libbeoboard.so: $(LIB_SHARED)
	ln -sf $(notdir $<) $(OUT)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $@

# One object, of which nothing is seen but what the header names: a program may have a bb_board_open of its own.
$(OUT)/libbeoboard.a: $(LIB_OBJECTS)
	$(CC) -r -nostdlib -o $(OUT)/clib/beoboard.o $(LIB_OBJECTS)
	$(OBJCOPY) --localize-hidden $(OUT)/clib/beoboard.o
	rm -f $@
	$(AR) rcs $@ $(OUT)/clib/beoboard.o

$(OUT)/beoboard.pc: lib/beoboard.pc.in Makefile lib/lib.mk FORCE
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(LIB_VERSION)|' $< > $@

install: lib $(OUT)/beoboard.pc
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include
	$(INSTALL) -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -m 644 beoboard.h $(DESTDIR)$(PREFIX)/include/
	$(INSTALL) -m 755 $(LIB_SHARED) $(DESTDIR)$(LIBDIR)/
	ln -sf libbeoboard.so.$(LIB_VERSION) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(LIBDIR)/libbeoboard.so
	$(INSTALL) -m 644 $(OUT)/libbeoboard.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 644 $(OUT)/beoboard.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	$(INSTALL) -m 644 lib/man/beoboard.1 $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -m 644 lib/man/beoboard.3 $(DESTDIR)$(MANDIR)/man3/
	$(INSTALL) -m 644 lib/man/beoboard.5 lib/man/beoboard-stat.5 $(DESTDIR)$(MANDIR)/man5/

examples: $(EXAMPLES:%=$(OUT)/%)
$(EXAMPLES:%=$(OUT)/%): $(OUT)/%: examples/%.c beoboard.h $(OUT)/libbeoboard.so
	$(CC) -std=c99 -D_POSIX_C_SOURCE=200809L $(CFLAGS) $(WARN) -I. -o $@ $< -L$(OUT) -Wl,-rpath,'$$ORIGIN' \
	  $(LDFLAGS) -lbeoboard

lib-bench: $(OUT)/lib-bench
$(OUT)/lib-bench: test/lib/bench.c $(OUT)/libbeoboard.so $(OBJECTS)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 $(WARN) -I. -o $@ $< $(patsubst %,$(OUT)/%.o,board/reader $(WRITER)) \
	  -L$(OUT) -Wl,-rpath,'$$ORIGIN' -lbeoboard

FORCE:
.PHONY: lib install examples lib-bench FORCE

# Which sources go together, without a suffix and relative to c/. Tests read these lines, too.

# Where c/ is, from the folder of the Makefile.
C ?= ..

# What lays reports on a board.
WRITER = base/sha256 board/file board/linktable board/memory board/records board/rejected board/repair board/writer \
  format/validate relay/claims relay/messages relay/mirror rules/keyring rules/mac rules/order
# Texts for people.
TEXTS = base/quoting base/text base/words
# What reads command lines.
OPTIONS = $(addprefix base/,naming optionline optionvalues)
# What every program of a node does, and what reads /proc and /sys.
NODE = $(TEXTS) $(addprefix base/,address folder kernelfile notify privileges room say service startup toml wholefile) \
  $(patsubst $(C)/%.c,%,$(wildcard $(C)/collect/*.c)) $(OPTIONS)
# The library.
LIBRARY = board/reader judge/rates $(addprefix lib/,strerror problems evidence live memory node noderates open)

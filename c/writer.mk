# What lays reports on a board: without a suffix, relative to c/. Tests read this line, too.
WRITER = board_file board_links board_mirror board_refused board_repair board_writer keyring mac order sha256 validate

# Forbids system calls to itself, and then is the command behind it. `container`: those that containers usually may not
# call; `ipv4`: sockets of IPv6, as a kernel without it refuses them.

import errno
import os
import seccomp
import sys

FORBIDDEN = """unshare setns mount umount2 pivot_root bpf perf_event_open keyctl add_key request_key userfaultfd
open_by_handle_at kcmp move_mount open_tree fsopen fsmount io_uring_setup""".split()
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
AF_INET6 = 10

rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
kind, *command = sys.argv[1:]
if kind == 'container':
    for call in FORBIDDEN:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), call)
    # The C library then calls clone(), whose flags can be read.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), 'clone3')
    for flag in (CLONE_NEWUSER, CLONE_NEWNET):
        rules.add_rule(seccomp.ERRNO(errno.EPERM), 'clone', seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
elif kind == 'ipv4':
    rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), 'socket', seccomp.Arg(0, seccomp.EQ, AF_INET6))
rules.load()
os.execvp(command[0], command)

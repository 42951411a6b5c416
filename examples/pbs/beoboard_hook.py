"""A hook for OpenPBS and PBS Professional: a job does not start on a vnode that the board knows to be bad, and such
vnodes are offline until they are well. Reads the board of the server's machine, in PBS's own Python.

    qmgr -c 'create hook beoboard event="runjob,periodic",freq=30'
    qmgr -c 'import hook beoboard application/x-python default beoboard_hook.py'

For `runjob` that is in the server's own process: whoever may cut the board short (root, beoboard) could end it by
SIGBUS.

In doubt jobs start, and no vnode is changed; the server's log says why. Only what this hook has set is taken back: a
vnode whose comment is still ours. Not tried with a real PBS: events, vnodes and states are those of openpbs/openpbs,
doc/man1/pbs_module.7B, src/modules/python/pbs/v1/_svr_types.py and src/unsupported/load_balance.py.
"""

import pbs

MARK = "beoboard: "  # begins each comment of ours
MOST = 20  # as many vnodes are offline by us
NAMED = 4  # as many vnodes are named to a user
DOMAIN = ""  # what a vnode's name ends with and the board's does not, as .example.org
NAMES = {}  # a vnode's host in lower case: its name on the board, if that is another; "": leave it alone


def on_board(vnode):
    """Its name on the board. `cn7[0]` is a part of cn7."""
    host = str(vnode).partition("[")[0].lower().removesuffix(DOMAIN)
    return NAMES.get(host, host)


def fitness_of(fitness, vnode):
    """Why the vnode is bad; empty: it is well; None: who knows."""
    return fitness.get(on_board(vnode))


def chosen_vnodes(job):
    """The vnodes of `(cn7:ncpus=4)+(cn8:ncpus=2:mem=1gb+cn9:ncpus=2)`, each once."""
    chunks = str(job.exec_vnode).replace("(", "").replace(")", "").split("+")
    return list(dict.fromkeys(chunk.partition(":")[0] for chunk in chunks))


def let_run(event, fitness):
    told = [(vnode, fitness_of(fitness, vnode)) for vnode in chosen_vnodes(event.job)]
    bad = [f"{vnode} is {why}" for vnode, why in told if why]
    if bad:
        event.reject(MARK + "; ".join(bad[:NAMED]) + (f"; and {len(bad) - NAMED} more" if len(bad) > NAMED else ""))


def state_of(vnode):
    return int(vnode.state or pbs.ND_FREE)


def is_ours(vnode):
    return state_of(vnode) & pbs.ND_OFFLINE != 0 and str(vnode.comment or "").startswith(MARK)


def mark(event, fitness):
    count = sum(map(is_ours, event.vnode_list.values()))
    for name, vnode in event.vnode_list.items():
        why = fitness_of(fitness, name)
        if is_ours(vnode) and why == "":
            # What is set takes the place of both, but of no other state.
            vnode.state, vnode.comment = state_of(vnode) & pbs.ND_DOWN, None
        elif why and count < MOST and not vnode.comment and not state_of(vnode) & (pbs.ND_OFFLINE | pbs.ND_DOWN):
            vnode.state, vnode.comment = pbs.ND_OFFLINE, MARK + why
            count += 1


def main():
    event = pbs.event()
    try:
        import beoboard

        with beoboard.open() as board:
            fitness = board.fitness()
            known = event.type != pbs.PERIODIC or any(on_board(name) in board for name in event.vnode_list.keys())
        if not known:
            pbs.logmsg(pbs.LOG_WARNING, f"{MARK}no vnode is on the board, so none is guarded: see DOMAIN and NAMES")
        mark(event, fitness) if event.type == pbs.PERIODIC else let_run(event, fitness)
    except Exception as error:  # whatever is wrong with the board or this hook keeps no job
        pbs.logmsg(pbs.LOG_WARNING, f"{MARK}{error}; nothing is changed")
    event.accept()


main()

"""A stand-in for the module that PBS gives to its hooks (openpbs/openpbs: src/modules/python/pbs/v1, doc/man1/
pbs_module.7B). Run as a program, it gives a hook one event after another, as JSON on stdin, and prints what the hook did.
"""

import json
import sys

RUNJOB, PERIODIC = 0x10, 0x8000
ND_FREE, ND_OFFLINE, ND_DOWN = 0, 0x01, 0x02
LOG_WARNING = 4


class UnsetAttributeNameError(Exception):
    pass


class Vnode:
    """Only known attributes can be set, and what is set is kept apart."""

    def __init__(self, name, state, comment):
        self.__dict__.update(name=name, state=state, comment=comment, changed={})

    def __setattr__(self, name, value):
        if name not in ("state", "comment"):
            raise UnsetAttributeNameError(f"vnode attribute '{name}' not found")
        self.__dict__[name] = value
        self.changed[name] = value


class ExecVnode:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


class Job:
    def __init__(self, vnodes):
        self.id = "7.server"
        self.exec_vnode = ExecVnode(vnodes)


class Event:
    """accept() and reject() end the hook."""

    def __init__(self, given):
        self.type = PERIODIC if "vnodes" in given else RUNJOB
        self.said = None
        if self.type == RUNJOB:
            self.job = Job(given["exec_vnode"])
        else:
            self.vnode_list = {name: Vnode(name, *values) for name, values in given["vnodes"].items()}

    def accept(self):
        self.said = "accept"
        raise SystemExit(0)

    def reject(self, message=""):
        self.said = f"reject: {message}"
        raise SystemExit(255)


current = None
log = []


def event():
    return current


def logmsg(level, message):
    log.append(message)


def run(path, given):
    global current
    current = Event(given)
    log.clear()
    with open(path, encoding="utf-8") as hook:
        code = compile(hook.read(), path, "exec")
    try:
        exec(code, {"__name__": "__main__"})
    except SystemExit:
        pass
    vnodes = getattr(current, "vnode_list", {})
    changed = {name: vnode.changed for name, vnode in vnodes.items() if vnode.changed}
    return {"said": current.said, "changed": changed, "log": list(log)}


if __name__ == "__main__":
    sys.modules["pbs"] = sys.modules["__main__"]
    print(json.dumps([run(sys.argv[1], given) for given in json.load(sys.stdin)]))

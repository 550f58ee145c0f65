#!/usr/bin/env python3
# sys-sage.py: reads the counts of a run into sys-sage's tree, as attributes of its Threads.
# usage: sys-sage.py STORE
#
# Needs sspapi in PATH, and sys-sage's Python module (cmake -DPY_SYS_SAGE=ON).
# A Thread's attribute EVENT has the counts of its CPU, and "EVENT proven" the proven part of them.
# Counts of a NUMA node, a package or the machine are attributes of the Numa, Chip or Node. The tree
# is the machine on which the run was counted.
import json
import subprocess
import sys
import tempfile

import sys_sage

TYPES = {"PU": sys_sage.COMPONENT_THREAD, "NUMANode": sys_sage.COMPONENT_NUMA,
         "Package": sys_sage.COMPONENT_CHIP}


def report(store, *options):
    command = ["sspapi", "report", *options, store]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def read_topology(node, store):
    with tempfile.NamedTemporaryFile(suffix=".xml") as xml:
        xml.write(report(store, "-f", "hwloc"))
        xml.flush()
        if sys_sage.parseHwlocOutput(node, xml.name) != 0:
            sys.exit(f"{store}: sys-sage cannot read its topology")


def set_counts(node, store):
    """Sets the attributes and returns their names."""
    # Each level also has a row for the counts of larger components alone; their own level comes
    # later and has all.
    dump = json.loads(report(store, "--per-cpu", "--per-numa", "--per-package", "--per-machine",
                             "-f", "json"))
    places = {component["id"]: component for component in dump["topology"]["components"]}
    names = set()
    for row in (row for level in dump["levels"] for row in level["rows"] if row["component"] is not None):
        place = places[row["component"]]
        if place["type"] == "Machine":
            target = node
        elif place["type"] in TYPES and place.get("in_topology", True):
            target = node.GetDescendantById(place["os_index"], TYPES[place["type"]])
        else:
            continue
        for kind, counts in (("", row["total"]), (" proven", row["exact"])):
            for event, count in counts.items():
                target[event + kind] = count
                names.add(event + kind)
    return names


def attributes(component, names):
    for name in sorted(names):
        try:
            yield f"{name}={component[name]}"
        except AttributeError:      # this component has no such counts
            pass


def main(store):
    node = sys_sage.Node(sys_sage.Topology(), 1)
    read_topology(node, store)
    names = set_counts(node, store)
    for thread in node.FindDescendantsByType(sys_sage.COMPONENT_THREAD):
        print(f"Thread {thread.id}", *attributes(thread, names), sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sys-sage.py STORE")
    main(sys.argv[1])

"""sspapi dumps in Python, by the standard library alone.

    import sspapi
    for row in sspapi.read("run.sspapi"):
        print(row["cpu"], row["event"], row["total"])
    sspapi.frame("run.sspapi").groupby(["cpu", "event"])["total"].sum()     # where pandas is installed
    print(sspapi.to_hatchet("run.sspapi").tree())                           # where Hatchet is installed

A path is a store, a live file or a folder of them (read by `sspapi report`), or a CSV or JSON dump.  Several are one list.
sspapi-dump(5) says what the columns mean.
"""
import csv
import json
import os
import shutil
import subprocess

__all__ = ["read", "frame", "to_hatchet", "COLUMNS"]

COLUMNS = ("host", "rank", "pid", "tid", "thread", "relation", "event_set", "from", "to", "cpu", "core", "numa", "package",
           "event", "readings", "total", "exact")
WHOLE = ("rank", "pid", "tid", "relation", "event_set", "cpu", "core", "numa", "package", "readings")


def read(path, *more, command=None):
    """The rows of one or several dumps: a list of dicts with the keys of COLUMNS.

    Numbers are int, floating-point counts float; what is empty is None ("exact" of a gauge or a metric, "rank" of a
    process that has none).  command: the sspapi command, else the one beside this file or in PATH.
    """
    rows, stores = [], []
    for one in (path,) + more:
        kind = _kind(one)
        if kind == "store":
            stores.append(os.fspath(one))
        elif kind == "csv":
            with open(one, newline="", encoding="utf-8", errors="surrogateescape") as lines:
                rows += _from_csv(lines)
        else:
            with open(one, encoding="utf-8", errors="surrogateescape") as text:
                rows += _from_json(json.load(text), one)
    if stores:
        rows += _from_report(stores, command)
    return rows


def frame(path, *more, command=None):
    """The same rows as a pandas.DataFrame; ImportError where pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("sspapi.frame needs pandas, which is not installed; sspapi.read needs nothing") from error
    table = pandas.DataFrame(read(path, *more, command=command), columns=list(COLUMNS))
    return table.astype({name: "Int64" for name in WHOLE})


def to_hatchet(path, *more, command=None):
    """The counts by call path as a hatchet.GraphFrame; ImportError where Hatchet is not installed.

    A path is a store, a live file or a folder of them.  A node is the function in which a thread was between two PAPI
    calls, or "alpha \u2192 beta" if these lie in two functions, or "other" if no call is known.  Its columns are, for each event, "EVENT" and "EVENT (proven)":
    the counts of all CPUs and their proven part.  If CPUs count the event, "EVENT (cpus)" is the number of CPUs that counted
    it there, and "EVENT (min)", "(mean)" and "(max)" are the counts of one of these.  No column has the counts of callees:
    GraphFrame.update_inclusive_columns() adds them.
    """
    try:
        import hatchet
    except ImportError as error:
        raise ImportError("sspapi.to_hatchet needs Hatchet (llnl-hatchet), which is not installed") from error
    stores = [os.fspath(one) for one in (path,) + more]
    text = _report(stores, command, "-f", "json").decode("utf-8", "surrogateescape")
    dump = json.loads(text)
    events = [event["name"] for event in dump["events"] if event["kind"] != "gauge"]
    if not events or not any(relation["intervals"] for relation in dump["relations"]):
        raise ValueError(f"{path}: no counts by call site (SSPAPI_CALLSITES=0)")
    frame_of_calls = hatchet.GraphFrame.from_literal(_tree_of_calls(dump, events))
    frame_of_calls.exc_metrics, frame_of_calls.default_metric = events, events[0]
    return frame_of_calls


# ---- which kind of file --------------------------------------------------------------------------


def _kind(path):
    if os.path.isdir(path):
        return "store"
    with open(path, "rb") as file:
        first = file.read(len("host,rank,"))
    if first == b"host,rank,":
        return "csv"
    return "json" if first.lstrip()[:1] == b"{" else "store"


def _command():
    here = os.path.dirname(os.path.realpath(__file__))
    for place in ("../build/sspapi", "../../../bin/sspapi"):    # in the tree; installed in share/sspapi/python
        path = os.path.normpath(os.path.join(here, place))
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("sspapi")
    if not found:
        raise FileNotFoundError("the sspapi command, which reads stores, is not in PATH; read() takes its path as command=")
    return found


def _report(stores, command, *options):
    made = subprocess.run([command or _command(), "report", *options, "--", *stores], capture_output=True, check=False)
    if made.returncode:
        raise ValueError(made.stderr.decode(errors="replace").strip() or f"sspapi report: exit status {made.returncode}")
    return made.stdout


def _from_report(stores, command):
    return _from_csv(_report(stores, command, "-f", "csv").decode("utf-8", "surrogateescape").splitlines())


# ---- CSV -----------------------------------------------------------------------------------------


def _number(text):
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _from_csv(lines):
    rows = []
    for row in csv.DictReader(lines):
        # Totals do not include these counts; a note in JSON has them.
        if row["event"].endswith(" (before the first reading)"):
            continue
        for name in WHOLE + ("total", "exact"):
            row[name] = _number(row[name])
        rows.append(row)
    return rows


# ---- JSON ----------------------------------------------------------------------------------------


class _Dump:
    """What the rows of a JSON dump are made of: its lists by their ids, and which component is above which."""

    def __init__(self, dump):
        self.events = {event["id"]: event for event in dump["events"]}
        self.processes = {process["id"]: process for process in dump.get("processes", ())}
        self.process = dump["process"]
        self.component = {component["id"]: component for component in dump["topology"]["components"]}
        self.below = {}
        for component in self.component.values():
            self.below.setdefault(component["parent"], []).append(component)
        self.paths = {site["id"]: ";".join(map(_frame, site["frames"])) for site in dump["callsites"]}
        self.paths[None] = ""
        self.cpus = {}
        for component in self.component.values():
            if component["type"] == "PU" and component.get("in_topology", True):
                self.cpus.setdefault((self.machine(component), component["os_index"]), component["id"])

    def machine(self, component):
        while component["parent"] is not None and component["type"] != "Machine":
            component = self.component[component["parent"]]
        return component["id"]

    def above(self, component, kind):
        """The logical index of what of this type a component is in, or is; memory stands beside what it belongs to."""
        while component is not None:
            at = self.component[component]
            near = [at] + (self.below.get(component, []) if kind == "NUMANode" else [])
            for one in near:
                if one["type"] == kind:
                    return one["logical_index"]
            component = at["parent"]
        return None

    def pu(self, process, cpu):
        """The component of a CPU, of the machine that the process ran on."""
        machines = (c["id"] for c in self.component.values() if c["type"] == "Machine")
        return self.cpus.get((process["machine"] if "machine" in process else next(machines, None), cpu))


def _frame(frame):
    name = os.path.basename(frame["module"])
    name = "".join("_" if letter in ',;"' else letter for letter in name)
    if name[:1] in ("=", "+", "-", "@"):                        # as in the CSV dump: no text that a spreadsheet takes for a formula
        name = "_" + name[1:]
    return name + "+" + frame["offset"]


def _rows_of(dump, relation):
    process = dump.processes.get(relation.get("process"), dump.process)
    events = [dump.events[event] for event in relation["events"]]
    places = relation.get("places", [None] * len(events))

    def row(cpu, component, event, readings, total, exact, ends=(None, None)):
        return {
            "host": process["host"], "rank": process["rank"], "pid": process["pid"], "tid": relation["tid"],
            "thread": relation["thread"], "relation": relation["id"], "event_set": relation["event_set"],
            "from": dump.paths[ends[0]], "to": dump.paths[ends[1]], "cpu": cpu, "core": dump.above(component, "Core"),
            "numa": dump.above(component, "NUMANode"), "package": dump.above(component, "Package"), "event": event,
            "readings": readings, "total": total, "exact": exact}

    def counts(at, readings, ends=(None, None)):
        for i, event in enumerate(events):
            if event["kind"] == "gauge":
                continue
            if ends != (None, None) and not (ends[1] or readings or at["total"][i] or at["exact"][i]):
                continue
            cpu, component = at["cpu"], dump.pu(process, at["cpu"])
            if places[i] is not None:
                component = places[i]
                whole = dump.component[component]
                cpu = whole["os_index"] if whole["type"] == "PU" else None
            yield row(cpu, component, event["name"], readings, at["total"][i], at["exact"][i], ends)

    if relation["intervals"]:
        for at in relation["intervals"]:
            yield from counts(at, at["count"], (at["from"], at["to"]))
    else:
        for at in relation["cpus"]:
            yield from counts(at, at["readings"])
    for gauge in relation["gauges"]:
        event = dump.events[gauge["event"]]
        shown = ("last",) if event["data_type"] == "bit64" else ("last", "min", "max", "mean")    # bits have no order
        component = gauge.get("component")
        component = dump.pu(process, gauge["cpu"]) if component is None else component
        for what in shown:
            if gauge.get(what) is not None:
                yield row(gauge["cpu"], component, f"{event['name']} ({what})", gauge["readings"], gauge[what], None)


def _from_json(text, path):
    if text.get("format") != "sspapi-dump":
        raise ValueError(f"{path}: no dump of sspapi")
    if text.get("format_version") != 1:
        raise ValueError(f"{path}: a dump of format {text.get('format_version')}, and this sspapi.py reads 1")
    dump = _Dump(text)
    return [row for relation in text["relations"] for row in _rows_of(dump, relation)]


# ---- call paths ----------------------------------------------------------------------------------


def _functions(site):
    """The call path of a site, outermost function first, as pairs of a function and a place in it."""
    path = []
    for frame in site["frames"]:
        name = frame["symbol"] or os.path.basename(frame["module"]) + "+" + frame["offset"]
        path.append((name, frame["offset"]))
        path += [(outer["symbol"], outer.get("line")) for outer in frame.get("inlined_into", ())]
    return path[::-1] or [(site.get("name", "?"), None)]


def _between(begin, end):
    """The path of the function that ran between two calls: the innermost that both calls were in."""
    path = []
    if end is None:
        return ("other",)               # no call site is known
    for one, other in zip(begin or end, end):
        if one[0] != other[0]:
            return (*path, f"{one[0]} \u2192 {other[0]}")
        path.append(one[0])
        if one[1] != other[1]:          # the calls were made from two places of this function
            break
    return tuple(path)


def _tree_of_calls(dump, events):
    """The list of dicts that GraphFrame.from_literal() takes."""
    sites = {site["id"]: _functions(site) for site in dump["callsites"]}
    lists = _Dump(dump)
    columns = [name + kind for name in events for kind in ("", " (proven)", " (cpus)", " (min)", " (mean)", " (max)")]
    roots, nodes, cpus = [], {}, {}

    def node(path):
        if path not in nodes:
            nodes[path] = {"frame": {"name": path[-1], "type": "function"}, "metrics": dict.fromkeys(columns, 0), "children": []}
            (node(path[:-1])["children"] if path[1:] else roots).append(nodes[path])
        return nodes[path]

    for relation in dump["relations"]:
        host = lists.processes.get(relation.get("process"), lists.process)["host"]
        places = relation.get("places", [None] * len(relation["events"]))
        for at in relation["intervals"]:
            path = _between(sites.get(at["from"]), sites.get(at["to"]))
            metrics = node(path)["metrics"]
            for event, place, total, exact in zip(relation["events"], places, at["total"], at["exact"]):
                name = lists.events[event]["name"]
                if name not in metrics or total is None:        # a gauge
                    continue
                metrics[name] += total
                metrics[name + " (proven)"] += exact
                if place is None and at["cpu"] is not None:
                    of_cpu = cpus.setdefault((path, name), {})
                    of_cpu[host, at["cpu"]] = of_cpu.get((host, at["cpu"]), 0) + total
    for (path, name), of_cpu in cpus.items():
        counts = of_cpu.values()
        nodes[path]["metrics"].update({
            name + " (cpus)": len(counts), name + " (min)": min(counts), name + " (mean)": sum(counts) / len(counts),
            name + " (max)": max(counts)})
    return roots

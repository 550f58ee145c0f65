# Tests scripts/sspapi.py: the same rows from a store, a CSV and a JSON dump; clear errors; pandas,
# Hatchet and pip if they are installed; and the example for sys-sage.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
command -v python3 >/dev/null || skip_all "there is no python3"
PYTHONPATH=$root/scripts PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
cd "$tmp" || exit 1

cat >same.py <<'END'
import sys, sspapi
def rows(path):
    return sorted(map(str, sspapi.read(path, command=sys.argv[1])))
for base in sys.argv[2:]:
    of = [rows(base + end) for end in (".sspapi", ".csv", ".json")]
    print(base, len(of[0]) > 0, of[0] == of[1], of[1] == of[2])
END
# dumps NAME: makes the other two from a store
dumps() {
	"$sspapi" report -f csv "$1.sspapi" >"$1.csv" &&
		"$sspapi" report -f json "$1.sspapi" >"$1.json"
}
# A process and a merged run with gauges, bits, fractions, several kinds of places and call sites
# (tests/stores).
for kind in process merged; do
	newest=$(ls "$root"/tests/stores/v*-"$kind".sspapi.gz | sort -V | tail -1)
	gunzip -c "$newest" >"$kind.sspapi"
	dumps "$kind"
done
is "a store, CSV and JSON have the same rows" "$(python3 same.py "$sspapi" process merged 2>&1 |
	paste -sd,)" \
	"process True True True,merged True True True"
if [ "$REAL_PAPI" = yes ]; then
	run counted env LD_PRELOAD="$B/libsspapi.so${REAL_PAPI_PRELOAD:+:$REAL_PAPI_PRELOAD}" \
		SSPAPI_OUTPUT="$tmp/counted" \
		SSPAPI_FORMAT=store,csv,json "$apps/basics" perf::PAGE-FAULTS
	is "of a program that has just counted, as it wrote them itself" \
		"$(python3 same.py "$sspapi" counted 2>&1)" "counted True True True"
fi

# Two machines, whose CPUs 1 are in other cores.
SSPAPI_OUTPUT=$tmp/here.sspapi SSPAPI_TOPOLOGY='synthetic:pack:1 core:2 pu:1' run_shim here \
	"$scenes/one" EV_A
SSPAPI_OUTPUT=$tmp/there.sspapi SSPAPI_TOPOLOGY='synthetic:pack:2 core:1 pu:2' run_shim there \
	"$scenes/one" EV_A
"$sspapi" merge -o machines.sspapi here.sspapi there.sspapi
dumps machines
is "of two machines: each process has its own machine's places" \
	"$(python3 same.py "$sspapi" machines 2>&1)" "machines True True True"

cat >kinds.py <<'END'
import sys, sspapi
rows = sspapi.read("process.csv")
print(list(rows[0]) == list(sspapi.COLUMNS), all(type(r["cpu"]) in (int, type(None)) for r in rows),
      any(type(r["total"]) is float for r in rows), any(r["exact"] is None for r in rows))
print(len(sspapi.read("process.csv", "process.json")) == 2 * len(rows),
      len(sspapi.read("process.sspapi", "merged.csv", command=sys.argv[1])) == len(rows) + len(sspapi.read("merged.csv")))
END
is "types, and several files" "$(python3 kinds.py "$sspapi" 2>&1 | paste -sd' ')" \
	"True True True True True True"

# says WORDS CODE
says() {
	python3 -c "import sspapi; $2" >says.out 2>&1
	check "$1" grep -qE "$1" says.out
}
echo nothing >text.txt
echo '{"format": "other"}' >other.json
echo '{"format": "sspapi-dump", "format_version": 99}' >newer.json
says 'FileNotFoundError.*none.csv' 'sspapi.read("none.csv")'
says 'ValueError: .*text.txt: a text, not a store' "sspapi.read('text.txt', command='$sspapi')"
says 'ValueError: other.json: no dump of sspapi' 'sspapi.read("other.json")'
says 'ValueError: newer.json: a dump of format 99' 'sspapi.read("newer.json")'
# Only the standard library; and the system's packages if the first python in PATH lacks them.
python3 -S -c 'import sspapi; sspapi.frame("process.csv")' >says.out 2>&1
check "without pandas: an ImportError that says so" \
	grep -q 'ImportError: sspapi.frame needs pandas' says.out
is "and read() needs nothing" "$(python3 -S \
	-c 'import sspapi; print(len(sspapi.read("process.csv")) > 0)' 2>&1)" True
pandas=
for python in python3 /usr/bin/python3; do
	[ -n "$pandas" ] || ! $python -c 'import pandas' 2>/dev/null || pandas=$python
done
if [ -n "$pandas" ]; then
	is "pandas: the same numbers" "$($pandas -c 'import sspapi
table = sspapi.frame("process.csv"); rows = sspapi.read("process.csv")
print(len(table) == len(rows), list(table.columns) == list(sspapi.COLUMNS),
      int(table["readings"].sum()) == sum(r["readings"] for r in rows), table["cpu"].dtype)' \
      2>&1)" "True True True Int64"
else
	skip "pandas: the same numbers" "no python3 here has pandas"
fi

# ---- Hatchet -----------------------------------------------------------------------------------
python3 -S -c 'import sspapi; sspapi.to_hatchet("process.sspapi")' >says.out 2>&1
check "without Hatchet: an ImportError that says so" \
	grep -q 'ImportError: sspapi.to_hatchet needs Hatchet' says.out
# A module in Hatchet's place, with the part of its interface that to_hatchet() uses: a list of
# dicts with frame, metrics and children.
mkdir stand-in
cat >stand-in/hatchet.py <<'END'
class GraphFrame:
    @staticmethod
    def from_literal(roots):
        self, self.rows = GraphFrame(), {}
        def add(node, path):
            assert set(node) == {"frame", "metrics", "children"} and node["frame"]["type"] == "function"
            path += (node["frame"]["name"],)
            assert path not in self.rows
            self.rows[path] = node["metrics"]
            for child in node["children"]:
                add(child, path)
        for root in roots:
            add(root, ())
        return self
END
cat >calls.py <<'END'
import sys, sspapi
graph = sspapi.to_hatchet(sys.argv[2], command=sys.argv[1])
if hasattr(graph, "dataframe"):         # Hatchet itself
    table = graph.dataframe
    graph.rows = {tuple(n.frame["name"] for n in node.path()): dict(table.loc[node]) for node in table.index}
    graph.update_inclusive_columns()
print(graph.exc_metrics[:2], graph.default_metric)
for path, row in sorted(graph.rows.items()):
    print(";".join(path), *(f"{row['EV_A' + kind]:g}" for kind in ("", " (proven)", " (cpus)", " (min)", " (mean)", " (max)")),
          f"{row['rapl:::PACKAGE_ENERGY:PACKAGE1']:g} {row['rapl:::PACKAGE_ENERGY:PACKAGE1 (cpus)']:g}")
END
# The sums are those of the text; no CPU counts the energy of a package.
cat >calls.expected <<'END'
['EV_A', 'rapl:::PACKAGE_ENERGY:PACKAGE1'] EV_A
main 12 7 2 5 6 7 3000 0
main;count 24 10 2 10 12 14 0 0
main → kinds+0x161c 0 0 1 0 0 0 0 0
END
export PYTHONIOENCODING=utf-8
PYTHONPATH=stand-in:$PYTHONPATH python3 calls.py "$sspapi" merged.sspapi >calls.out 2>&1
check "to_hatchet: call paths, sums and statistics of CPUs" diff calls.expected calls.out
SSPAPI_CALLSITES=0 SSPAPI_OUTPUT=$tmp/siteless.sspapi run_shim siteless "$scenes/one" EV_A
SSPAPI_OUTPUT=$tmp/sites.sspapi run_shim sites "$scenes/one" EV_A
says 'ValueError: siteless.sspapi: no counts by call site' \
	"import sys; sys.path.insert(0, 'stand-in'); sspapi.to_hatchet('siteless.sspapi', command='$sspapi')"
is "to_hatchet: of processes with call sites and without: all counts" "$(PYTHONPATH=stand-in:$PYTHONPATH python3 \
	-c "import sspapi; print(sum(row['EV_A'] for row in sspapi.to_hatchet('sites.sspapi', 'siteless.sspapi', command='$sspapi').rows.values()))" 2>&1)" 24
cat >between.py <<'END'
from sspapi import _between
for calls in (([("main", 1), ("a", 2)], [("main", 1), ("b", 3)]), ([("main", 1), ("a", 2)], [("main", 1), ("a", 4)]),
              ([("main", 1), ("reads", 2)], [("main", 5), ("reads", 2)]), (None, [("main", 1), ("a", 2)])):
    print(*_between(*calls), sep=";")
END
is "two calls in two functions, in one, of a helper from two places, and one call alone" \
	"$(python3 between.py 2>&1 | paste -sd,)" "main;a → b,main;a,main,main;a"
says 'ValueError: .*other.json: .*not a store' \
	"import sys; sys.path.insert(0, 'stand-in'); sspapi.to_hatchet('other.json', command='$sspapi')"
hatchet=
for python in python3 /usr/bin/python3; do
	[ -n "$hatchet" ] || ! $python -c 'import hatchet' 2>/dev/null || hatchet=$python
done
if [ -n "$hatchet" ]; then
	$hatchet calls.py "$sspapi" merged.sspapi >calls.out 2>&1
	check "Hatchet: the same" diff calls.expected calls.out
else
	skip "Hatchet: the same" "no python3 here has Hatchet"
fi

# ---- pip ---------------------------------------------------------------------------------------
pip=
for python in python3 /usr/bin/python3; do
	[ -n "$pip" ] || ! $python -c 'import setuptools, wheel, pip
raise SystemExit(int(setuptools.__version__.split(".")[0]) < 61)' 2>/dev/null || pip=$python
done
if [ -n "$pip" ]; then
	mkdir -p tree/scripts	# pip writes into it
	cp "$root/Makefile" tree
	cp "$root"/scripts/sspapi.py "$root"/scripts/pyproject.toml "$root"/scripts/setup.py tree/scripts
	PYTHONPATH='' $pip -m pip install --no-build-isolation --no-index --no-deps \
		--target installed ./tree/scripts >pip.out 2>&1 || cat pip.out
	is "pip install" "$(PYTHONPATH=installed $pip -c 'import sspapi, importlib.metadata as m
print(sspapi.__file__.endswith("/installed/sspapi.py"), len(sspapi.read("process.csv")) > 0,
      [r for r in m.requires("sspapi") or [] if "extra" not in r], m.version("sspapi"))' 2>&1)" \
		"True True [] $(sed -n 's/^VERSION[[:space:]]*:= //p' "$root/Makefile")"
else
	skip "pip install" "no python3 here has pip, wheel and setuptools 61"
fi

# ---- sys-sage ----------------------------------------------------------------------------------
# A module in its place: its Threads, Numas and Chips are the objects of the XML.
cat >stand-in/sys_sage.py <<'END'
import xml.etree.ElementTree
COMPONENT_THREAD, COMPONENT_NUMA, COMPONENT_CHIP = "PU", "NUMANode", "Package"
class Topology:
    pass
class Node:
    def __init__(self, parent, id, type="Machine"):
        self.id, self.type, self.attrib, self.below = id, type, {}, []
    def __setitem__(self, name, value):
        self.attrib[name] = value
    def __getitem__(self, name):
        if name not in self.attrib:
            raise AttributeError(name)
        return self.attrib[name]
    def FindDescendantsByType(self, type):
        return [one for one in self.below if one.type == type]
    def GetDescendantById(self, id, type):
        return [one for one in self.below if (one.id, one.type) == (id, type)][0]
def parseHwlocOutput(root, path):
    root.below = [Node(None, int(at.get("os_index", -1)), at.get("type"))
                  for at in xml.etree.ElementTree.parse(path).iter("object")]
    return 0
END
printf 'Thread %d\tEV_A=%d\tEV_A proven=%d\n' 0 7 7 1 5 0 >threads.expected
# example NAME PYTHON PATH
example() {
	PATH=${sspapi%/*}:$PATH PYTHONPATH=$3 $2 "$root/tests/examples/sys-sage.py" \
		process.sspapi >threads.out 2>threads.err || cat threads.err
	cut -f1-3 threads.out | diff threads.expected - >threads.diff
	is "$1: the Threads have the counts of their CPUs" "$(cat threads.diff)" ""
}
example "sys-sage's stand-in" python3 stand-in
sage=
for python in python3 /usr/bin/python3; do
	[ -n "$sage" ] || ! PYTHONPATH=${SYS_SAGE-}/build/src $python -c 'import sys_sage' \
		2>/dev/null || sage=$python
done
if [ -n "$sage" ]; then
	example "sys-sage" "$sage" "${SYS_SAGE-}/build/src"
else
	skip "sys-sage: the Threads have the counts of their CPUs" \
		"no python3 here has sys-sage (SYS_SAGE=clone, built in build with -DPY_SYS_SAGE=ON)"
fi
done_testing

# What the command says when it is asked what it does, and when it is asked wrongly: the subject first, then what there is.
. tests/lib/lib.sh
sspapi=$B/sspapi
cd "$tmp" || exit 1
for name in a b; do
	SSPAPI_OUTPUT=$tmp/$name.sspapi run_shim run "$scenes/one"
done

"$sspapi" --help >help
"$sspapi" report --help >report
"$sspapi" --version >version
for as in -h help; do
	check "$as: the verbs" sh -c '"$1" "$2" | cmp - help' sh "$sspapi" "$as"
done
check "help report, report -h: the verb" sh -c '"$1" help report | cmp - report && "$1" report -h | cmp - report && "$1" --help report | cmp - report' sh "$sspapi"
check "-V, report -V: the version" sh -c '"$1" -V | cmp - version && "$1" report -V | cmp - version' sh "$sspapi"
check "each verb knows -h" sh -c 'for verb in $("$1" help | sed -n "s/^  sspapi \([a-z]*\) .*/\1/p" | grep -v "^help$"); do
	"$1" $verb -h | grep -q "^  sspapi $verb" || { echo "$verb"; exit 1; }; done' sh "$sspapi"
check "run -h of the program is the program's" sh -c '"$1" run --verbose=0 -- echo -h | grep -qx -e -h' sh "$sspapi"

# sspapi(1), OPTIONS: each verb's as its help has them, in both directions; each level; and examples come first.
sed -n '/^\.SH OPTIONS/,/^\.SH COUNTING/p' "$root/man/sspapi.1" | sed -e 's/\\f.//g' -e 's/\\-/-/g' |
	awk '/^\.SS/ { verb = $2 } head { head = 0; while (match($0, /--?[a-zA-Z][a-z-]*/)) { print verb, substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }
		/^\.TP/ { head = 1 }' >page
for verb in $("$sspapi" help | sed -n 's/^  sspapi \([a-z]*\) .*/\1/p' | grep -v '^help$'; echo env); do
	is "sspapi(1): the options of $verb" "$(sed -n "s/^$verb //p" page | grep -v -e '^--per-' -e '^--\(output\|format\|readings-max\)$' | sort | tr '\n' ' ')" \
		"$("$sspapi" $verb --help | sed -n '/^options:/,/^$/s/^  \(--*[a-zA-Z][a-z-]*\).*/\1/p' | grep -vx -e -h -e -V -e -m -e --per-thread | sort | tr '\n' ' ')"
done
is "sspapi(1): each level" "$(sed -n 's/^For \(--per-\)/\1/p' page | sort -u | tr '\n' ' ')" \
	"$(sed -n 's/^  \(--per-[a-z]*\) .*/\1/p' report | sort -u | tr '\n' ' ')"
is "sspapi(1): examples come first" "$(sed -n 's/^\.SH //p' "$root/man/sspapi.1" | head -n 5 | tr '\n' ' ')" "NAME SYNOPSIS EXAMPLES VERBS OPTIONS "

# says STATUS LINE ARGUMENT...: one line on standard error, which begins so
says() {
	says_status=$1 says_line=$2
	shift 2
	run says "$sspapi" "$@"
	is "$*" "$(status_of says) $(wc -l <says.err) $(cut -c "1-${#says_line}" says.err)" "$says_status 1 $says_line"
}
says 2 "sspapi: nope: no such verb" nope
says 2 "sspapi: nope: no such verb" help nope
says 1 "sspapi report: nothere: No such file or directory" report nothere
says 2 "sspapi diff: nothere: No such file or directory" diff nothere a.sspapi
says 2 "sspapi report: NOPE: no such event; there are EV_A, EV_B" report --events NOPE a.sspapi --per-cpu
says 2 "sspapi report: NOPE: --sort takes place, readings or an event; there are EV_A, EV_B" report --per-cpu --sort NOPE a.sspapi
says 2 "sspapi diff: NOPE: neither has such an event; there are EV_A, EV_B" diff --events NOPE a.sspapi b.sspapi
says 2 "sspapi report: -m: 'NOPE' is neither a file nor a metric of $B/metrics.csv; there are IPC, " report -m NOPE a.sspapi
says 2 "sspapi report: '': " report --events '' -f '' a.sspapi
says 2 "sspapi report: --nope: unrecognized option" report --nope a.sspapi
done_testing

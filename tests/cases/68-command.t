# Compares the command's help with sspapi(1). (Wrong usage: 68-wrong-inputs.t.)
. tests/lib/lib.sh
cd "$tmp" || exit 1

"$sspapi" --help >help
"$sspapi" report --help >report
"$sspapi" --version >version
for as in -h help; do
	check "$as: the verbs" sh -c '"$1" "$2" | cmp - help' sh "$sspapi" "$as"
done
check "help report, report -h: the verb" \
	sh -c '"$1" help report | cmp - report && "$1" report -h | cmp - report && "$1" --help report | cmp - report' sh "$sspapi"
check "-V, report -V: the version" \
	sh -c '"$1" -V | cmp - version && "$1" report -V | cmp - version' sh "$sspapi"
check "each verb accepts -h" sh \
	-c 'for verb in $("$1" help | sed -n "s/^  sspapi \([a-z]*\) .*/\1/p" | grep -v "^help$"); do
	"$1" $verb -h | grep -q "^  sspapi $verb" || { echo "$verb"; exit 1; }; done' sh "$sspapi"
for verb in $("$sspapi" help | sed -n 's/^  sspapi \([a-z]*\) .*/\1/p'); do
	"$sspapi" help "$verb"
done >helps 2>&1
"$sspapi" env >>helps
is "help, env: in 80 columns" "$(grep -E '^.{81}' help helps)" ""
check "run PROGRAM -h is the program's option" \
	sh -c '"$1" run -e SSPAPI_VERBOSE=0 -- echo -h | grep -qx -e -h' sh "$sspapi"

# sspapi(1), OPTIONS: each verb's options as in its help, in both directions; each level; examples
# come first.
sed -n '/^\.SH OPTIONS/,/^\.SH COUNTING/p' "$root/man/sspapi.1" |
	sed -e 's/\\f.//g' -e 's/\\-/-/g' |
	awk '/^\.SS/ { verb = $2 } head { head = 0; while (match($0, /--?[a-zA-Z][a-z-]*/)) { print verb, substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }
		/^\.TP/ { head = 1 }' >page
for verb in $("$sspapi" help | sed -n 's/^  sspapi \([a-z]*\) .*/\1/p' |
	grep -v '^help$'; echo env); do
	is "sspapi(1): the options of $verb" \
		"$(sed -n "s/^$verb //p" page |
		grep -v -e '^--per-' -e '^--\(output\|format\|readings-max\)$' | sort |
		tr '\n' ' ')" \
		"$("$sspapi" $verb --help |
		sed -n '/^options:/,/^$/s/^  \(--*[a-zA-Z][a-z-]*\).*/\1/p' |
		grep -vx -e -h -e -V -e -m -e --per-thread | sort | tr '\n' ' ')"
done
is "sspapi(1): each level" "$(sed -n 's/^For \(--per-\)/\1/p' page | sort -u | tr '\n' ' ')" \
	"$(sed -n 's/^  \(--per-[a-z]*\) .*/\1/p' report | sort -u | tr '\n' ' ')"
is "sspapi(1): examples come first" "$(sed -n 's/^\.SH //p' "$root/man/sspapi.1" | head -n 5 |
	tr '\n' ' ')" "NAME SYNOPSIS EXAMPLES VERBS OPTIONS "

done_testing

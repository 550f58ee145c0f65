# Tests shell completion: verbs, options, formats and files, as the command itself lists them.
. tests/lib/lib.sh
command -v bash >/dev/null || skip_all "there is no bash"
cd "$tmp" || exit 1
touch run.sspapi run.json a.live
mkdir folder

# completes WORD...: prints bash's completions of the last word, one per line, sorted
cat >complete.bash <<'END'
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sspapi
printf '%s\n' "${COMPREPLY[@]}" | sort -u
END
completes() {
	bash --norc complete.bash "$root/scripts/completion/sspapi.bash" "$sspapi" "$@" 2>&1
}
offers() {
	offers_name=$1 offers_wanted=$2
	shift 2
	is "$offers_name" "$(completes "$@" | tr '\n' ' ')" "$offers_wanted "
}

verbs=$({ echo help; sed -n 's/^	{ "\([a-z]*\)", sp_cmd.*/\1/p' \
	"$root/core/cli/sspapi.c"; } | sort | tr '\n' ' ')
is "every verb" "$(completes '' | grep -v '^--' | tr '\n' ' ')" "$verbs"
is "help of each" "$(completes help '' | tr '\n' ' ')" "$verbs"
offers "a verb begun" "recover report" re
offers "an unknown verb" "" xyz

# Each long and short option that a verb's code reads is offered.
for verb in run stat report merge diff recover top; do
	file=$root/core/cli/$verb/cmd-$verb.c
	completes "$verb" - >got
	short=$(sed -n 's/.*getopt[a-z_]*(argc, argv, "+\{0,1\}\([a-z:]*\)".*/\1/p' "$file" |
		tr -d : | sed 's/./-& /g')
	for option in $short $(sed -n \
		's/.*{ "\([a-z-]*\)", \(no\|required\|optional\)_argument.*/--\1/p' "$file"); do
		check "$verb $option" grep -qx -e "$option" got
	done
done
for level in cpu core package socket node machine thread; do
	offers "report --per-$level" "--per-$level" report "--per-$level"
done

forms() { sed -nE "s/^	($1)\(([a-z]+), \".*/\2/p" "$root/core/base/format.h" | sort |
	tr '\n' ' ' | sed 's/ $//'; }
offers "-f of report: each format of the list" "$(forms 'FIRST|NEXT|PAGE')" report -f ''
offers "-f of run: each format that the library writes" "$(forms 'FIRST|NEXT')" run -f ''

# Files and programs.
offers "files" "run.json run.sspapi" report run
offers "folders" "folder" merge -o fold
check "programs" sh -c 'grep -qx true "$1"' sh "$(completes run tru >programs; echo programs)"
check "after an option's value and --" sh -c 'grep -qx true "$1"' \
	sh "$(completes run -o x -- tru >programs; echo programs)"
offers "a program's files" "run.json" run -- cat run.j
offers "live files" "a.live" recover a
check "bash -n" bash -n "$root/scripts/completion/sspapi.bash"

if command -v zsh >/dev/null; then
	check "zsh -n" zsh -n "$root/scripts/completion/_sspapi"
	cat >complete.zsh <<'END'
# The arguments of compadd and similar builtins, without a line editor.
compadd() { while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done; [[ $1 == -- ]] && shift; print -l -- "$@"; }
_files() { print files; }; _normal() { print "normal $words[*] $CURRENT"; }; _pids() { print pids; }; _command_names() { print commands; }
_describe() { print -l -- ${(P)2}; }
compset() { :; }
file=$1
shift
words=("$@") CURRENT=$#
. $file
END
	zshell() {
		zsh -f complete.zsh "$root/scripts/completion/_sspapi" "$sspapi" "$@" 2>&1
	}
	is "zsh: every verb" "$(zshell '' | cut -d: -f1 | sort | tr '\n' ' ')" \
		"$(completes '' | grep -v '^--' | tr '\n' ' ')"
	check "zsh: the whole description of a verb" grep -q \
		"^diff:compare two runs, .* of two programs; exit status: 0 same, 1 different, 2 error$" <<EOF
$(zshell '')
EOF
	is "zsh: options as in bash" "$(zshell report - | sort | tr '\n' ' ')" \
		"$(completes report - | tr '\n' ' ')"
	is "zsh: help of each" "$(zshell help '' | cut -d: -f1 | sort | tr '\n' ' ')" "$verbs"
	is "zsh: files" "$(zshell report run)" files
	is "zsh: the program's own completion" "$(zshell run -o x -- cat run)" "normal cat run 2"
else
	skip "zsh" "there is no zsh"
fi

done_testing

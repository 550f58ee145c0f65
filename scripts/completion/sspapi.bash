# bash completion for sspapi: asks the command itself, so that it knows what that knows.
# Installed as share/bash-completion/completions/sspapi; or: . sspapi.bash
# (LC_ALL=C: in Turkish "i" is not in [a-z].)

_sspapi_verbs() {
	"$1" --help 2>/dev/null | LC_ALL=C sed -n 's/^  sspapi \([a-z][a-z]*\).*/\1/p'
}

# Options that `sspapi VERB --help` names.
_sspapi_options() {
	"$1" "$2" --help 2>/dev/null | LC_ALL=C grep -oE '(^|[][ ,|])--?[a-z][a-z-]*' | LC_ALL=C grep -oE -- '--?[a-z][a-z-]*' | sort -u
}

# The values of a variable's option, where they are words: --attribution of SSPAPI_ATTRIBUTION.
_sspapi_values() {
	local name
	name=SSPAPI_$(printf '%s' "${2#--}" | LC_ALL=C tr 'a-z-' 'A-Z_')
	"$1" env 2>/dev/null | LC_ALL=C grep -A2 "^$name=" | LC_ALL=C sed -n 's/^ *values: \(.*\); default.*/\1/p' |
		LC_ALL=C grep -vE '(^| )(an?|to|path) ' | LC_ALL=C tr -c 'A-Za-z0-9_\n' ' '
}

# Events by each of their names: in tables that say so, perf's stand in the second column.
_sspapi_events() {
	"$1" list 2>/dev/null | LC_ALL=C awk -F '  +' '/^not here/ { exit } /^[^ ]/ { both = /perf call them/ }
		/^  / { print $2; n = both ? split($3, perf, ", ") : 0; for (i = 1; i <= n; i++) print perf[i] }'
}

# The word before the cursor as blanks part it: bash has it in pieces, at each : and =.
_sspapi_whole() {
	local line=${COMP_LINE:0:COMP_POINT}

	printf '%s' "${line##*[ =]}"
}

# An event behind the last comma.  What stands before the last : bash has already.
_sspapi_event() {
	local whole=$2 before='' name

	[[ $whole != *,* ]] || before=${whole%,*},
	COMPREPLY=()
	while read -r name; do
		name=$before$name
		[[ $name != "$whole"* ]] || COMPREPLY+=("${name#"${whole%"${whole##*:}"}"}")
	done < <(_sspapi_events "$1")
}

_sspapi_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_sspapi_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# What stands behind an option of its own; false: nothing special.
_sspapi_behind() {
	local command=$1 verb=$2 option=$3 current=$4

	case $verb:$option in
	run:-f | run:--format) _sspapi_words "text json csv store" "$current" ;;
	stat:-f | report:-f) _sspapi_words "text json csv hwloc html store" "$current" ;;
	diff:-f) _sspapi_words "text csv markdown" "$current" ;;
	*:-m)
		_sspapi_words "default $("$command" report --help 2>/dev/null | LC_ALL=C sed -n 's/^  \([A-Z][A-Z0-9_]*\) .*/\1/p')" "$current"
		[ ${#COMPREPLY[@]} -gt 0 ] || _sspapi_files "$current" ;;
	stat:-e) _sspapi_event "$command" "$current" ;;
	stat:-p) mapfile -t COMPREPLY < <(compgen -W "$(pgrep -u "$(id -u)" 2>/dev/null)" -- "$current") ;;
	stat:-t) mapfile -t COMPREPLY < <(compgen -W "$(ps -u "$(id -u)" -L -o tid= 2>/dev/null)" -- "$current") ;;
	run:-e) _sspapi_words "$("$command" env 2>/dev/null | LC_ALL=C sed -n 's/^\(SSPAPI_[A-Z_]*\)=.*/\1=/p')" "$current" ;;
	*:-o | run:--output | run:--topology | run:--live) _sspapi_files "$current" ;;
	*:--sort) _sspapi_words "place readings" "$current" ;;
	run:--?*) _sspapi_words "$(_sspapi_values "$command" "$option")" "$current" ;;
	*:-n | *:-d | *:--events | *:--color-by | stat:--cgroup) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_sspapi() {
	local command=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}
	local before=${COMP_WORDS[COMP_CWORD - 1]} i

	COMPREPLY=()
	if [ "$COMP_CWORD" -le 1 ]; then
		_sspapi_words "$(_sspapi_verbs "$command") --help --version" "$current"
		return
	fi
	if [ "$verb" = help ]; then
		[ "$COMP_CWORD" -gt 2 ] || _sspapi_words "$(_sspapi_verbs "$command")" "$current"
		return
	fi
	# An event's name, and a list of them, comes in several words.
	if [ "$verb" = stat ] && [[ ${COMP_LINE:0:COMP_POINT} =~ \ -e\ +[^\ ]*$ ]]; then
		_sspapi_event "$command" "$(_sspapi_whole)"
		return
	fi
	# --name=value comes in three words.
	if [ "$current" = = ]; then
		current=''
		_sspapi_behind "$command" "$verb" "$before" "$current"
		return
	fi
	if [ "$before" = = ] && [ "$COMP_CWORD" -ge 3 ]; then
		_sspapi_behind "$command" "$verb" "${COMP_WORDS[COMP_CWORD - 2]}" "$current"
		return
	fi
	_sspapi_behind "$command" "$verb" "$before" "$current" && return
	if [ "$verb" = run ] || [ "$verb" = stat ]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [ "${COMP_WORDS[i]}" = -- ]; then
				if declare -F _command_offset >/dev/null; then
					_command_offset $((i + 1))
				elif [ "$i" -eq $((COMP_CWORD - 1)) ]; then
					mapfile -t COMPREPLY < <(compgen -c -- "$current")
				else
					_sspapi_files "$current"
				fi
				return
			fi
		done
	fi
	case $verb:$current in
	*:-*) _sspapi_words "$(_sspapi_options "$command" "$verb")" "$current" ;;
	run:* | stat:* | doctor:*) mapfile -t COMPREPLY < <(compgen -c -- "$current"); compopt -o filenames 2>/dev/null ;;
	top:*) mapfile -t COMPREPLY < <(compgen -W "$(ls /dev/shm/sspapi.*.live 2>/dev/null) $(pgrep -u "$(id -u)" 2>/dev/null)" -- "$current") ;;
	recover:*) _sspapi_words "$(ls /dev/shm/sspapi.*.live 2>/dev/null) $(compgen -f -X '!*.live' -- "$current")" "$current" ;;
	report:* | merge:* | diff:*) _sspapi_files "$current" ;;
	esac
}
complete -F _sspapi sspapi

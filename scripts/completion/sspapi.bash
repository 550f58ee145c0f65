# bash completion for sspapi: the command itself lists its verbs and options.
# Installed as share/bash-completion/completions/sspapi; or: . sspapi.bash
# (LC_ALL=C: in Turkish "i" is not in [a-z].)

_sspapi_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_sspapi() {
	local command=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}

	COMPREPLY=()
	if [ "$COMP_CWORD" -le 1 ] || [ "$verb" = help ]; then
		_sspapi_words "$("$command" --help 2>/dev/null | LC_ALL=C sed -n 's/^  sspapi \([a-z][a-z]*\).*/\1/p')" "$current"
		return
	fi
	case $verb:${COMP_WORDS[COMP_CWORD - 1]}:$current in
	run:-f:*) _sspapi_words "text json csv store" "$current" ;;
	stat:-f:* | report:-f:*) _sspapi_words "text json csv hwloc html trace store" "$current" ;;
	diff:-f:*) _sspapi_words "text csv markdown" "$current" ;;
	*:*:-*) _sspapi_words "$("$command" "$verb" --help 2>/dev/null | LC_ALL=C grep -oE '(^|[][ ,|])--?[a-z][a-z-]*' |
		LC_ALL=C grep -oE -- '--?[a-z][a-z-]*' | sort -u)" "$current" ;;
	run:* | stat:* | doctor:*) mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current") ;;
	top:* | recover:*) _sspapi_words "$(ls /dev/shm/sspapi.*.live 2>/dev/null) $(compgen -f -X '!*.live' -- "$current")" "$current" ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	esac
	compopt -o filenames 2>/dev/null
}
complete -F _sspapi sspapi

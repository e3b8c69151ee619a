# bash completion for edcsync                              -*- shell-script -*-
# Asks the program itself: commands and options are those of its --help, so
# they are right for the version that is installed.

# Commands, one a line ("audit verify" is one).
_edcsync_commands()
{
	"$1" --help 2>/dev/null | sed -n \
		'/^Commands:/,/^$/s/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)  *[^ ].*/\1/p' |
		sed 's/  *$//'
}

# Options of a command, "=" behind those that take a value.
_edcsync_options()
{
	local program=$1
	shift
	"$program" "$@" --help 2>/dev/null |
		sed -n 's/^  \(--[a-z-]*=\{0,1\}\).*/\1/p'
}

# Names that stand in the configuration or in the program.
_edcsync_values()
{
	case $2 in
	--color) echo auto always never ;;
	--transport) echo ok timeout reset refused dns tls truncated ;;
	--idempotency) echo key natural lookup none ;;
	--kind) echo send poll probe ;;
	--target) echo same other ;;
	--environment) echo production test training ;;
	--credential) echo none basic headers bearer \
		oauth2_client_credentials ;;
	--client-auth) echo basic post ;;
	--meaning) echo review approval responsibility authorship ;;
	--role) echo viewer on-call data-manager auditor administrator ;;
	--profile) "$1" profile list 2>/dev/null |
		sed -n '2,$s/^\([a-z0-9][a-z0-9-]*\).*/\1/p' ;;
	esac
}

_edcsync()
{
	local program=${COMP_WORDS[0]} cur prev word value i
	local -a found=()
	COMPREPLY=()
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD-1]}

	# "--name=value" arrives as three words where "=" breaks words.
	if [[ $cur == = ]]; then
		cur='' value=$prev
	elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
		value=${COMP_WORDS[COMP_CWORD-2]}
	elif [[ $cur == --*=* ]]; then
		value=${cur%%=*}
		cur=${cur#*=}
	elif [[ $prev == --* && $prev != --json ]]; then
		value=$prev
	fi

	# What was said so far, without options and their values.
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--config | --store | --color | -c | -s)
			[[ ${COMP_WORDS[i+1]-} == = ]] && ((i++))
			((i++)) ;;
		-* | =) ;;
		*) found+=("$word") ;;
		esac
		[[ ${#found[@]} -eq 2 ]] && break
	done

	local commands command=
	commands=$(_edcsync_commands "$program")
	if [[ ${#found[@]} -ge 2 ]] &&
		grep -qxF "${found[0]} ${found[1]}" <<<"$commands"; then
		command="${found[0]} ${found[1]}"
	elif [[ ${#found[@]} -ge 1 ]] &&
		grep -qxF "${found[0]}" <<<"$commands"; then
		command=${found[0]}
	fi

	local words
	words=$(_edcsync_values "$program" "${value-}")
	if [[ -n $words ]]; then
		:
	elif [[ $cur == -* ]]; then
		# shellcheck disable=SC2086
		words=$(_edcsync_options "$program" $command)
	elif [[ -z $command && ${#found[@]} -eq 0 ]]; then
		words=$(cut -d' ' -f1 <<<"$commands" | sort -u)
	elif [[ -z $command && ${#found[@]} -eq 1 ]]; then
		words=$(sed -n "s/^${found[0]//[^a-z-]/} //p" <<<"$commands")
	elif [[ $command == profile* ]]; then
		words=$(_edcsync_values "$program" --profile)
	fi
	if [[ -n $words ]]; then
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] &&
			compopt -o nospace 2>/dev/null
	else
		local IFS=$'\n'
		# shellcheck disable=SC2207
		COMPREPLY=($(compgen -f -- "$cur"))
		compopt -o filenames 2>/dev/null
	fi
	return 0
}

complete -F _edcsync edcsync

# bash completion for memunreachable(1)                    -*- shell-script -*-

_memunreachable() {
	local cur prev words cword split i
	_init_completion -s -n = || return

	# Behind -- it is the command's own business.
	for ((i = 1; i < cword; i++)); do
		if [[ ${words[i]} == -- ]]; then
			_command_offset $((i + 1))
			return
		fi
	done

	case $prev in
	-p | --pid | --doctor)
		_pids
		return
		;;
	--core | --exe | -o | --output | --heap-dump | --diff | --leaktracer | \
		--html | --baseline | --suppressions | --write-suppressions | --core-out | --write-baseline | --save | --since | --symbolize | --csv | --from | --prometheus)
		_filedir
		return
		;;
	--sysroot | --symbols | --source-root)
		_filedir -d
		return
		;;
	--stop)
		mapfile -t COMPREPLY < <(compgen -W 'auto fork read' -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W 'text json html sarif junit github gitlab folded pprof lsan markdown' -- "$cur")
		return
		;;
	--report)
		mapfile -t COMPREPLY < <(compgen -S : -W 'text json html sarif junit github gitlab folded pprof lsan markdown' -- "$cur")
		return
		;;
	--unchecked)
		mapfile -t COMPREPLY < <(compgen -W 'fail ok' -- "$cur")
		return
		;;
	--color)
		mapfile -t COMPREPLY < \
			<(compgen -W 'auto always never' -- "$cur")
		return
		;;
	--signal)
		mapfile -t COMPREPLY < <(compgen -A signal -- "$cur")
		return
		;;
	--use-globals | --use-stacks | --use-registers | --use-tls | \
		--use-root-regions | --use-unaligned)
		mapfile -t COMPREPLY < <(compgen -W '0 1' -- "$cur")
		return
		;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'stack shape type module block' -- "$cur")
		return
		;;
	--pointer-mask | --timeout | --max-pause | --only-program | --only-module | --only-function | --limit | --max-memory | --workers | --backtrace-size | --why | \
		--unit | --stale | --every | --count | --duration | --round | --rounds)
		return
		;;
	esac
	$split && return
	# The second of --diff A B.
	if [[ $cur != -* && ${words[cword - 2]-} == --diff ]]; then
		_filedir
		return
	fi

	# The first word may be one of ours.
	if [[ $cword -eq 1 && $cur == w* ]]; then
		COMPREPLY=(watch)
		return
	fi

	[[ $cur == -* ]] || _filedir # a saved look
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '--pid= --core= --exe= --sysroot=
		--doctor --stop= --timeout= --max-pause= --max-memory= --workers= --signal=
		--confirm --pointer-mask= --use-unaligned --use-globals=
		--use-stacks= --use-registers= --use-tls= --use-root-regions=
		--children --unchecked= --backtrace --backtrace-size= --limit= --by= --contents
		--retained --why= --all --in-use --core-out= --baseline= --write-baseline= --suppressions= --write-suppressions= --only-module= --only-function= --save= --since=
		--only-program= --format= --report= --source-root= --output= --quiet --color= --heap-dump= --diff=
		--leaktracer= --symbolize --symbols= --html= --unit= --stale= --syslog --every= --count= --duration= --round= --rounds= --csv= --from= --prometheus= --help --version' -- "$cur")
	[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
} &&
	complete -F _memunreachable memunreachable

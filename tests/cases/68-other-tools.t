# Verbs and options of other tools: each gets one line that names what to use here. Each row:
# status|line|command
. tests/lib/lib.sh
cd "$tmp" || exit 1
printf '#!/bin/sh\n' >app
chmod +x app
SSPAPI_OUTPUT=$tmp/a.sspapi run_shim a "$scenes/one"
# shellcheck disable=SC2086 # words
while IFS='|' read -r status line command; do
	run other "$sspapi" $command
	is "sspapi $command" "$(status_of other) $(cat other.err) $(wc -c <other.out)" \
		"$status sspapi${line} 0"
done <<'END'
2|: ./app: not a verb; to count this program: sspapi stat ./app; if it uses PAPI: sspapi run -- ./app|./app
2|: ls: not a verb; to count this program: sspapi stat ls; if it uses PAPI: sspapi run -- ls|ls -l
2|: record: not a verb; to store the counts of a run: sspapi run -- PROGRAM|record ./app
2|: ./nothing: no such verb (sspapi --help lists them)|./nothing
125| stat: -a: a program is counted; to count the whole machine: sspapi stat --cgroup / PROGRAM|stat -a ./app
125| stat: --all-cpus: a program is counted; to count the whole machine: sspapi stat --cgroup / PROGRAM|stat --all-cpus ./app
125| stat: -A: not needed: each CPU has a row|stat -A ./app
125| stat: -C: each CPU has a row; to use some CPUs only: taskset -c LIST sspapi stat PROGRAM|stat -C 0 ./app
125| stat: --cpu=0: each CPU has a row; to use some CPUs only: taskset -c LIST sspapi stat PROGRAM|stat --cpu=0 ./app
125| stat: -x: not supported; for CSV: -f csv|stat -x , ./app
125| stat: -j: not supported; for JSON: -f json|stat -j ./app
125| stat: -d: not supported; name the events: -e cache-misses,... (sspapi list)|stat -d ./app
125| stat: -M: not supported; use -m NAME,...|stat -M IPC ./app
125| stat: -G: not supported; use --cgroup NAME|stat -G / ./app
125| stat: --no-inherit: not supported: threads and child processes are counted|stat --no-inherit ./app
125| stat: x.json: this extension means json, but -f is 'csv': use one of the two|stat -o x.json -f csv ./app
125| stat: --repeat=3: not supported; use -r RUNS|stat --repeat=3 ./app
125| stat: --per-host: not supported; use --per-machine|stat --per-host ./app
125| stat: 2: not a program; several numbers: -p PID,PID|stat -p 1 2
2| report: --json: not supported; use -f json|report --json a.sspapi
2| report: --csv: not supported; use -f csv|report --csv a.sspapi
2| report: --per-host: not supported; use --per-machine|report --per-host a.sspapi
2| report: --top: not supported: tables have ten rows, with --all all rows|report --top 3 a.sspapi
2| report: x.json: this extension means json, but -f is 'csv': use one of the two|report -o x.json -f csv a.sspapi
2| run: x.json: this extension means json, but -f is 'csv': use one of the two|run -o x.json -f csv -- ./app
2| run: --callsites: not an option; set the variable: -e SSPAPI_CALLSITES=VALUE|run --callsites -- ./app
2| run: --readings-max=5: not an option; set the variable: -e SSPAPI_READINGS_MAX=VALUE|run --readings-max=5 -- ./app
2| run: perf::PAGE-FAULTS: -e sets a variable; the program selects its events (sspapi stat -e does for any)|run -e perf::PAGE-FAULTS ./app
2| run: -q: not supported; use -e SSPAPI_VERBOSE=0|run -q ./app
2| run: --calls: unrecognized option (sspapi help run lists the options)|run --calls -- ./app
2| env: SSPAPI_OUTPUTS: no such variable; do you mean SSPAPI_OUTPUT?|env SSPAPI_OUTPUTS
END
check "nothing was written" not test -e x.json
is "one file may have several formats" "$("$sspapi" run -o y.txt -f json,csv -- "$scenes/one" >/dev/null 2>&1; ls y.*)" "y.csv
y.json"
is "report -e is --events" "$("$sspapi" report -e EV_A -f csv --per-cpu a.sspapi)" \
	"$("$sspapi" report --events EV_A -f csv --per-cpu a.sspapi)"
is "env NAME is one variable, also without SSPAPI_" \
	"$("$sspapi" env callsites | head -n 1) $("$sspapi" env SSPAPI_LIVE OUTPUT | grep -c '^SSPAPI_')" \
	"SSPAPI_CALLSITES= 2"
done_testing

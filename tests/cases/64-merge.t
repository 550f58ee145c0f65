# Checks merge: the same bytes in any order and grouping, nothing lost; unreadable files are named
# and left out.
. tests/lib/lib.sh
cd "$tmp" || exit 1


# one NUMBER HOST-LIKE TOPOLOGY: makes a store of rank NUMBER
one() {
	SSPAPI_OUTPUT=$tmp/s$1.sspapi run_shim s env OMPI_COMM_WORLD_RANK="$1" \
		SSPAPI_TOPOLOGY="$root/tests/topo/$2.xml" "$scenes/one" "$3"
}
one 0 hybrid EV_A
one 1 v1-numa EV_A
one 2 hybrid EV_B
one 3 holes EV_C
one 4 hybrid EV_A

# Prints the sum of each event's totals by these columns of a CSV, one per line.
sums() {
	perl -e 'my @by = split /,/, shift; my (%s, @head);
		while (<STDIN>) { chomp; my @f = split /,/, $_, -1; if (/^host,/) { @head = @f;
		next }
			my %r; @r{@head} = @f; my $k = join " ", map { "$_=$r{$_}" } @by, "event";
			$s{$k}[0] += $r{total}; $s{$k}[1] += $r{exact}; $s{$k}[2] += $r{readings} }
		print "$_: @{$s{$_}}\n" for sort keys %s' "$1"
}

check "merge prints nothing" sh \
	-c "[ -z \"\$($sspapi merge -o all.sspapi s0.sspapi s1.sspapi s2.sspapi s3.sspapi s4.sspapi 2>&1)\" ]"
for s in s?.sspapi; do "$sspapi" report -f csv $s; done >each.csv
"$sspapi" report -f csv all.sspapi >all.csv
for by in host,rank,pid,tid,thread,from,to,cpu,core,numa,package rank host cpu thread; do
	sums $by <each.csv >wanted
	sums $by <all.csv >got
	check "sums by $by are those of the stores" cmp wanted got
done
check "(and there are some)" test "$(wc -l <wanted)" -gt 0

"$sspapi" merge -o back.sspapi s4.sspapi s3.sspapi s2.sspapi s1.sspapi s0.sspapi
check "the same bytes in another order" cmp all.sspapi back.sspapi
"$sspapi" merge -o g1.sspapi s3.sspapi s0.sspapi
"$sspapi" merge -o g2.sspapi s4.sspapi s1.sspapi
"$sspapi" merge -o g3.sspapi g2.sspapi s2.sspapi
"$sspapi" merge -o groups.sspapi g3.sspapi g1.sspapi
check "the same bytes in groups of groups" cmp all.sspapi groups.sspapi
"$sspapi" merge -o again.sspapi groups.sspapi
check "a merged store alone is unchanged" cmp all.sspapi again.sspapi

# One process, merged, looks like its own store.
"$sspapi" merge -o just.sspapi s2.sspapi
for form in text csv hwloc; do
	"$sspapi" report -f $form s2.sspapi | sed '/^more:/d' >wanted
	"$sspapi" report -f $form just.sspapi | sed '/^more:/d' >got
	check "one process as $format: as from its store" cmp wanted got
done

# With everything that a dump can contain (gauges, doubles, counts of packages, permanent readings):
# with names for ids, the JSON of one merged process is that of its own store.
SSPAPI_OUTPUT=$tmp/k.sspapi run_shim s env SSPAPI_READINGS=permanent \
	SSPAPI_TOPOLOGY='synthetic:pack:2 [numa] core:1 pu:1' "$scenes/kinds"
"$sspapi" merge -o kinds.sspapi k.sspapi
cat >names.pl <<'END'
	my @name = map { $_->{name} } @{$d->{events}};
	my %site = map { $_->{id} => JSON::PP->new->canonical->encode([$_->{name}, $_->{frames}]) } @{delete $d->{callsites}};
	delete @$d{qw(calls self)};
	$d->{notes} = [sort @{$d->{notes}}];
	for my $r (@{$d->{relations}}) {
		$_ = $name[$_] for @{$r->{events}};
		$_->{event} = $name[$_->{event}] for @{$r->{gauges}}, @{$r->{entries}};
		for my $i (@{$r->{intervals}}, grep { exists $_->{to} } map { @{$_->{list}} } @{$r->{entries}}) { $_ = defined $_ ? $site{$_} : '' for @$i{qw(from to)} }
		$r->{intervals} = [sort map { JSON::PP->new->canonical->encode($_) } @{$r->{intervals}}];
	}
	$d->{events} = [sort { $a->{name} cmp $b->{name} } map { delete $_->{id}; $_ } @{$d->{events}}];
	JSON::PP->new->canonical->pretty->encode($d)
END
for store in k kinds; do
	"$sspapi" report -f json $store.sspapi >$store.json
	perl -MJSON::PP "$root/tests/lib/json.pl" $store.json "$(cat names.pl)" >$store.names
done
check "every kind of value: as from its own store" diff k.names kinds.names
check "(and there are gauges and readings)" \
	sh -c 'grep -q "\"mean\"" kinds.names && grep -q "\"permanent\" : true" kinds.names && grep -q offset kinds.names'
"$sspapi" merge -o x.sspapi s1.sspapi kinds.sspapi
"$sspapi" merge -o y.sspapi k.sspapi s1.sspapi
check "every kind of value: the same bytes, merged before or not" cmp x.sspapi y.sspapi
# The process has call sites; the readings of the other have none.
SSPAPI_OUTPUT=$tmp/nosites.sspapi run_shim s env SSPAPI_READINGS=permanent SSPAPI_CALLSITES=0 \
	"$scenes/kinds"
SSPAPI_OUTPUT=$tmp/sites.sspapi run_shim s "$scenes/one"
"$sspapi" merge -o both.sspapi nosites.sspapi sites.sspapi
"$sspapi" merge -o two.sspapi g1.sspapi both.sspapi
"$sspapi" merge -o three.sspapi g1.sspapi nosites.sspapi sites.sspapi
check "readings without call sites: the same bytes in groups" cmp two.sspapi three.sspapi

# The merged store in each format.
for form in text json csv store; do
	run form "$sspapi" report -f $form all.sspapi
	is "as $format" "$(status_of form) $(cat form.err)" "0 "
	cp form.out all.$form
done
check "its store format is itself" cmp all.sspapi all.store
check "JSON has the keys and types of sspapi-dump(5)" perl "$root/tests/lib/check-dump.pl" \
	json all.json
is "JSON: the processes" "$(json all.json 'map { $_->{rank} } @{$d->{processes}}' | tr '\n' ' ')" \
	"0 1 2 3 4 "
is "JSON: the common fields" "$(json all.json '$d->{process}{rank} // "null", $d->{process}{pid},
	$d->{process}{end}' | tr '\n' ' ')" "null 0 exit "
is "JSON: a tree above the machines" \
	"$(json all.json 'map { "$_->{type}:" . ($_->{parent} // "") }
	grep { $_->{type} =~ /Job|Machine/ } @{$d->{topology}{components}}' | tr '\n' ' ')" \
	"Job: Machine:0 Machine:0 Machine:0 "
is "JSON: the root's sum is all" \
	"$(json all.json 'my ($c) = grep { $_->{component} == 0 } @{$d->{components}}; $c->{total}{EV_A}')" \
	"$(awk -F, '$14 == "EV_A" && $11 != "" { n += $16 } END { print n }' all.csv)"
check "text: has their number and owners" grep -qE '^one: 5 ranks on .*, [0-9]' all.text
check "text: each rank" sh -c "grep -qE '^~? ?rank 1 on .* 12 ' all.text && grep -qE '^ *max .max/mean [0-9.]+. ' all.text"
check "text: each host" grep -qE '^~? ?host .* [0-9]+ +[0-9]+ %' all.text

# Several files shown as one run equal their merged store.
for form in text json csv store; do
	"$sspapi" report -f $form s4.sspapi s2.sspapi s0.sspapi s1.sspapi s3.sspapi >got
	"$sspapi" report -f $form all.sspapi >wanted
	sed -i '/^more:/d' got wanted
	check "report of them all as $form: as of the merged store" cmp got wanted
done
# hwloc supports one machine only.
run xml "$sspapi" report -f hwloc all.sspapi
is "hwloc: several machines are refused, in one line" \
	"$(status_of xml) $(wc -c <xml.out) $(cat xml.err)" \
	"2 0 sspapi report: several machines, but hwloc's XML describes one: write a file of each with -o FOLDER"
run xml "$sspapi" report -o all.xml all.sspapi
is "hwloc: nor into one file" "$(status_of xml) $(ls all.xml 2>/dev/null) $(grep -c FOLDER \
	xml.err)" "2  1"
run xml "$sspapi" report -f hwloc -o made/machines all.sspapi
is "hwloc: a folder has one of each" \
	"$(status_of xml) $(cat xml.err) $(grep -l '<topology' made/machines/*.xml | wc -l)" \
	"0  $("$sspapi" report -f json all.sspapi | grep -c '"type": "Machine"')"
is "hwloc: with all counts" "$(perl -0777 -ne \
	'$n += $1 while /<object type="Machine".*?name="EV_A" value="(\d+)"/gs; END { print $n }' \
	made/machines/*.xml)" \
	"$(json all.json 'my ($c) = grep { $_->{component} == 0 } @{$d->{components}};
	$c->{total}{EV_A}')"
"$sspapi" report -f csv --events EV_A all.sspapi >some.csv
check "--events: only these, and no count of them is lost" \
	sh -c 'grep ",EV_A," all.csv | sed "s/,[0-9]*,/,/g" | sort >w; sed 1d some.csv | sed "s/,[0-9]*,/,/g" | sort >g; cmp w g'

"$sspapi" report -f csv --per-callsite all.sspapi | sums from,to | sed 's/ [0-9]*$//' >got
sums from,to <each.csv | sed 's/ [0-9]*$//' >wanted
check "per call site: the sums of the stores" cmp wanted got
check "(and there are sites)" grep -q 'to=[^ ]*+0x' got

# Per level: a row per machine, packages of each; threads with their rank.
"$sspapi" report -f csv --per-thread all.sspapi >threads.csv
sums rank,pid,tid,thread <each.csv >wanted
sums rank,pid,tid,thread <threads.csv >got
check "per thread and rank: the sums of the stores" cmp wanted got
"$sspapi" report -f csv --per-machine all.sspapi | sums host >got
sums host <each.csv >wanted
check "per machine: the sums of the stores" cmp wanted got
if command -v sqlite3 >/dev/null; then
	sqlite3 :memory: '.mode csv' '.import all.csv run' \
		"select numa, package, event, sum(total), sum(exact) from run
		where package <> '' group by numa, package, event order by numa, package, event" \
			>sql
	"$sspapi" report -f csv --per-package all.sspapi | grep -v '^host\|,,EV' |
		awk -F, '{ t[$12 "," $13 "," $14] += $16; x[$12 "," $13 "," $14] += $17 }
		END { for (k in t) print k "," t[k] "," x[k] }' | LC_ALL=C sort >got
	check "SQL of the tidy CSV, per package: report's sums" \
		sh -c "tr -d '\r' <sql | LC_ALL=C sort | diff - got"
	check "(and there are some)" test -s sql
else
	skip "SQL of the tidy CSV" "no sqlite3"
fi

# Unreadable files among the good ones.
: >empty.sspapi
echo "not a store" >foreign.sspapi
head -c 3000 s0.sspapi >short.sspapi
head -c "$(($(wc -c <all.sspapi) - 100))" all.sspapi >cut.sspapi
cp s0.sspapi future.sspapi
printf '\377\377\377\377' | dd of=future.sspapi bs=1 seek=12 conv=notrunc 2>dd.err
mkfifo fifo
run bad "$sspapi" merge -o good.sspapi s0.sspapi empty.sspapi s1.sspapi foreign.sspapi \
	missing.sspapi s2.sspapi short.sspapi cut.sspapi future.sspapi s3.sspapi fifo s4.sspapi
is "bad ones: exit 1, a line each" "$(status_of bad) $(wc -l <bad.err)" "1 7"
for bad in empty foreign missing short cut future; do
	check "bad ones: $bad is named" grep -q "^sspapi merge: $bad.sspapi: " bad.err
done
check "bad ones: the newer one needs a newer sspapi" grep -q "future.*newer sspapi" bad.err
check "bad ones: the rest is merged as without them" cmp all.sspapi good.sspapi
run none "$sspapi" merge -o nothing.sspapi empty.sspapi foreign.sspapi
is "only bad ones: exit 1, and no file" "$(status_of none) $(ls nothing* 2>/dev/null)" "1 "

# Where the output goes.
run usage "$sspapi" merge s0.sspapi s1.sspapi -o behind.sspapi
is "-o may follow the files" "$(status_of usage) $(cat usage.err) $(ls behind.sspapi)" \
	"0  behind.sspapi"
run over "$sspapi" merge -o foreign.sspapi s0.sspapi s1.sspapi
is "over what is no store: refused" "$(status_of over) $(cat foreign.sspapi)" "1 not a store"
run over "$sspapi" merge -o g1.sspapi s0.sspapi s1.sspapi s2.sspapi s3.sspapi s4.sspapi
check "over a store: replaced" cmp all.sspapi g1.sspapi
for by in 1 2 15 24; do
	run ended env LD_PRELOAD="$preloads/ended.so" ENDED_BY=$by "$sspapi" merge -o ended.sspapi \
		s0.sspapi s1.sspapi
	is "ended by signal $by: by that signal, and nothing is left" \
		"$(status_of ended) $(ls | grep -c 'part\|ended.sspapi')" "$((128 + by)) 0"
done
run ended sh -c "trap '' HUP; LD_PRELOAD=$preloads/ended.so ENDED_BY=1 $sspapi merge -o ended.sspapi s0.sspapi"
is "a signal that was to be ignored (nohup) is ignored" "$(status_of ended) $(ls ended.sspapi)" \
	"0 ended.sspapi"
is "no other file is left" "$(ls | grep -c part)" 0

# One process counts once, however many files contain it: copies, snapshots, a process killed before
# it removed its live file.
"$sspapi" merge -o none.sspapi s0.sspapi
cp s0.sspapi copy.sspapi
run twice "$sspapi" merge -o twice.sspapi copy.sspapi s0.sspapi
is "a copy: merge takes it" "$(status_of twice) $(cat twice.err)" "0 "
check "and it counts once" cmp none.sspapi twice.sspapi
"$sspapi" merge -o twice.sspapi all.sspapi s0.sspapi g3.sspapi s3.sspapi 2>twice.err
check "also merged ones: as without the others" cmp all.sspapi twice.sspapi
run quiet "$sspapi" report -f csv s0.sspapi all.sspapi
check "report: the same, without a message" sh -c '[ ! -s quiet.err ] && cmp all.csv quiet.out'
run same "$sspapi" diff s0.sspapi copy.sspapi
is "diff of a copy: the two sides are separate" "$(status_of same) $(cat same.err)" "0 "
for repeats in "s0.sspapi copy.sspapi -- s4.sspapi" "s0.sspapi -- s4.sspapi s4.sspapi"; do
	# shellcheck disable=SC2086 # words
	"$sspapi" diff $repeats >got 2>&1
	"$sspapi" diff s0.sspapi s4.sspapi >wanted 2>&1
	check "diff $repeats: a copy is no repeat" cmp wanted got
done

# A snapshot next to the final store: the most complete one counts, in any order.
mkfifo tell
env LD_PRELOAD="$SHIM" SSPAPI_LIVE="$tmp" SSPAPI_SIGNAL=USR2 SSPAPI_OUTPUT="$tmp/final.sspapi" \
	"$scenes/steered" <tell >told 2>&1 &
pid=$!
exec 3>tell
echo 5 >&3
await grep -q counted told
kill -USR2 $pid
await test -s final.sspapi
cp final.sspapi snapshot.sspapi
echo 7 >&3
exec 3>&-
wait $pid
total() {
	"$sspapi" report -f json "$@" >total.json
	json total.json '$d->{components}[0]{total}{EV_A}, scalar @{$d->{relations}}, $d->{process}{end}' | tr '\n' ' '
}
is "a snapshot and the final store" \
	"$(total snapshot.sspapi; total snapshot.sspapi final.sspapi; total final.sspapi \
	snapshot.sspapi)" \
	"5 1 snapshot 12 1 exit 12 1 exit "

# Killed when the dump has its name, and the live file still has its own.
case $(uname -m) in x86_64) unlink=263 ;; *) unlink=35 ;; esac
mkdir killed live
for form in json,store json; do
	MORE=$preloads/faults.so SSPAPI_OUTPUT=$tmp/killed/x.sspapi SSPAPI_FORMAT=$form \
		run_shim killed env SSPAPI_LIVE="$tmp/live" \
		FAULT=$unlink:$((1 + $(echo $form | tr ',' '\n' | wc -l))):kill "$scenes/one"
	is "killed before its live file was removed ($form)" \
		"$(status_of killed) $(ls killed | wc -l) $(ls live | wc -l)" \
		"137 $(echo $form | tr ',' '\n' | wc -l) 1"
	if [ $form != json ]; then
		"$sspapi" report -f csv killed/x.sspapi >wanted
		"$sspapi" report -f csv killed/x.sspapi live/*.live >got
		check "report of both: it is counted once" cmp wanted got
	fi
	run again "$sspapi" recover live/*.live
	is "recover finds the dump ($format)" \
		"$(status_of again) $(cat again.err) $(sed 's,.*/,,' again.out |
		tr '\n' ' ')$(ls killed | wc -l) $(ls live | wc -l)" \
		"0  $(ls killed | tr '\n' ' ')$(ls killed | wc -l) 0"
	rm killed/*
done
# Only one of its formats was written, or only a snapshot.
MORE=$preloads/faults.so SSPAPI_OUTPUT=$tmp/killed/x.sspapi SSPAPI_FORMAT=json,store \
	run_shim killed env SSPAPI_LIVE="$tmp/live" FAULT=$unlink:1:kill "$scenes/one"
is "killed after the first format" "$(status_of killed) $(ls killed)" "137 x.json"
"$sspapi" recover live/*.live >recovered
is "recover writes the other" "$(ls killed | tr '\n' ' ')$(ls live | wc -l)" "x.json x.sspapi 0"

if [ "$(id -u)" = 0 ]; then
	skip "merge -o of an own file that cannot be read" "root can read all"
else
	echo precious >unread
	chmod 200 unread
	run unread "$sspapi" merge -o unread "$tmp"/*.sspapi
	chmod 600 unread
	is "merge -o of an own file that cannot be read" "$(status_of unread) $(cat unread)" \
		"1 precious"
fi
done_testing

# Checks P and E cores: a metric of both together belongs to neither.
. tests/lib/lib.sh
cd "$tmp" || exit 1
[ "$(nproc)" -gt 1 ] || skip_all "one CPU"

# Present the scene's two CPUs of this machine as CPU 0 (P) and CPU 8 (E) of another.
MORE=$preloads/elsewhere.so
export ELSEWHERE=0,8 SSPAPI_TOPOLOGY=$root/tests/topo/alder.xml
printf 'event adl_glc::INST_RETIRED:ANY\nevent adl_grt::INST_RETIRED:ANY\n' >script
export FAKE_PAPI_SCRIPT=$tmp/script
count() {
	to=$1
	shift
	SSPAPI_OUTPUT=$tmp/$to.json SSPAPI_FORMAT=text,json,csv,store run_shim "$to" \
		"$scenes/ops" "$@"
}
P=adl_glc::INST_RETIRED:ANY E=adl_grt::INST_RETIRED:ANY
count v set=PAPI_TOT_INS,PAPI_TOT_CYC,$P,$E cpu=0 start show=9000,3000,9000,0 read cpu=1 \
	show=10000,4000,9100,900 stop
is "the program ran" "$(status_of v)" 0
for form in json text; do
	check "$format: as sspapi-dump(5) has it" perl "$root/tests/lib/check-dump.pl" $form \
		"v.$(echo $form | sed s/text/txt/)" v.json
done

SSPAPI_TOPOLOGY='synthetic:core:2 pu:8' count plain set=PAPI_TOT_INS,PAPI_TOT_CYC cpu=0 start \
	show=5,5 stop

is "JSON: CPUs have the number of their kind" \
	"$(json v.json 'map { $_->{cpu_kind} }
	grep { $_->{type} eq "PU" } @{$d->{topology}{components}}' | uniq -c | tr -s ' \n' ' ')" \
	" 8 1 8 0 "
"$sspapi" report --per-package -m IPC v.sspapi >per
check "no metric of both kinds together" grep -qE '^~ package 0 .* - +2$' per
"$sspapi" report --per-core -m IPC v.sspapi >per
check "those of one process are" grep -qE '^~ core 4 .* 1\.000 +1$' per
"$sspapi" report -m IPC v.sspapi | tr -s ' ' >per
check "the text has no metric of both kinds together" \
	sh -c "grep -qx '~ all CPUs .* -' per && grep -qx '~ CPU 0 (core 0) .* 3\.000' per"
"$sspapi" report -f json -m IPC --per-machine v.sspapi >per.json
is "JSON says which are mixed" \
	"$(json per.json '(map { $_->{mixed_cpu_kinds} ? 1 : 0 } @{$d->{levels}[0]{rows}}), scalar
	grep { $_->{mixed_cpu_kinds} } @{$d->{components}}' | tr '\n' ' ')" "1 4 "
"$sspapi" report -f csv -m IPC --per-machine v.sspapi >/dev/null 2>said
check "CSV has no column for it: a line on standard error" grep -q 'several kinds' said

# Stores of machines with and without kinds.
"$sspapi" merge -o m.sspapi v.sspapi plain.sspapi
"$sspapi" merge -o back.sspapi plain.sspapi v.sspapi
check "merge: in any order" cmp m.sspapi back.sspapi
"$sspapi" report -m IPC --per-package m.sspapi >per
check "merge: kinds stay" grep -qE "^~ package 0 on .* 4,000 .* -\$" per
done_testing

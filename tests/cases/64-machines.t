# Checks which machines count as one: by host or boot id, for any containers and any change of
# memory.
. tests/lib/lib.sh
cd "$tmp" || exit 1

boot=$(cat /proc/sys/kernel/random/boot_id)
host_at=$(sed -nE 's/^ *([0-9]+) +8 +(process\.)?host .*/\1/p' "$root/man/sspapi-store.5" |
	head -n 1)
# as HOST BOOT FROM TO: changes the store's host name (shifts its letters HOST times) and boot id
# (shifts its digits BOOT times)
as() {
	perl -0777 -e 'my ($host, $boot, $at, $id) = @ARGV; local $/; $_ = <STDIN>;
		my $off = unpack("Q", substr($_, $at, 8)); my $n = unpack("L", substr($_,
		$off + 8, 4));
		substr($_, $off + 12, $n) = chr(97 + $host) x $n;
		my $new = $id; $new =~ tr/0-9a-f/1-9a-f0/ for 1 .. $boot; s/\Q$id\E/$new/g; print' \
		"$1" "$2" "$host_at" "$boot" <"$3.sspapi" >"$4.sspapi"
}
for i in 1 2 3 4; do
	SSPAPI_OUTPUT=$tmp/p$i.sspapi run_shim "p$i" env PMI_RANK="$i" "$scenes/one" EV_A
done
as 0 0 p1 a0
as 1 0 p2 b0
as 1 1 p3 b1
as 2 2 p4 c2
# machines FILE...: prints their hosts, and the number of processes of each
machines() {
	"$sspapi" report -f json "$@" >m.json
	json m.json 'sub { my %n; $n{$_->{machine}}++ for @{$d->{processes}};
		map { "$_->{name}:$n{$_->{id}}" } sort { $a->{name} cmp $b->{name} }
		grep { $_->{type} eq "Machine" } @{$d->{topology}{components}} }->()' |
		sed -E 's/(.)\1*:/\1:/' | tr '\n' ' '
}
is "two containers of one boot: one machine" "$(machines a0.sspapi b0.sspapi | sed 's/^[^:]*//')" \
	":2 "
is "another host of another boot: two machines" "$(machines a0.sspapi c2.sspapi)" "a:1 c:1 "
is "one host that was booted again: one machine" \
	"$(machines b0.sspapi b1.sspapi | sed 's/^[^:]*//')" ":2 "
is "by the one or by the other" "$(machines a0.sspapi b1.sspapi c2.sspapi)" "a:1 b:1 c:1 "
is "both: they have the first name" "$(machines a0.sspapi b1.sspapi c2.sspapi b0.sspapi)" "a:3 c:1 "
is "its processes keep their host names" \
	"$(json m.json 'map { substr $_->{host}, 0, 1 } @{$d->{processes}}' | tr '\n' ' ')" \
	"a b b c "
"$sspapi" merge -o ab.sspapi a0.sspapi b1.sspapi
"$sspapi" merge -o bc.sspapi c2.sspapi b0.sspapi
"$sspapi" merge -o cb.sspapi b1.sspapi bc.sspapi
for files in "a0 b0 b1 c2" "c2 b1 b0 a0" "ab bc" "bc ab" "cb a0"; do
	"$sspapi" merge -o all.sspapi $(for f in $files; do echo "$f.sspapi"; done)
	[ -e first.sspapi ] || cp all.sspapi first.sspapi
	check "in any order and groups ($files)" cmp all.sspapi first.sspapi
done
is "also sums" "$("$sspapi" report --per-machine -f csv first.sspapi |
	grep -o 'EV_A,[0-9]*,[0-9]*' | cut -d, -f 3 | tr '\n' ' ')" \
	"$(($("$sspapi" report --per-machine -f csv a0.sspapi | grep -o 'EV_A,[0-9]*,[0-9]*' |
	cut -d, -f 3) * 3)) $("$sspapi" report --per-machine -f csv a0.sspapi |
	grep -o 'EV_A,[0-9]*,[0-9]*' | cut -d, -f 3) "

# A virtual machine that gained and lost memory: less, more, less.
for gb in 1 3 2; do
	sed "s/local_memory=\"1073741824\"/local_memory=\"$((gb << 30))\"/" \
		"$root/tests/topo/v1-numa.xml" >machine.xml
	SSPAPI_TOPOLOGY=$tmp/machine.xml SSPAPI_OUTPUT=$tmp/m$gb.sspapi run_shim \
		m env PMI_RANK=$gb "$scenes/one" EV_A
done
is "memory that changes makes no other machine" \
	"$("$sspapi" report -f json m1.sspapi m2.sspapi m3.sspapi >m.json; json m.json 'scalar
	grep { $_->{type} eq "Machine" } @{$d->{topology}{components}}')" 1
"$sspapi" merge -o x.sspapi m3.sspapi m1.sspapi m2.sspapi
"$sspapi" merge -o y.sspapi m2.sspapi m3.sspapi
"$sspapi" merge -o z.sspapi m1.sspapi y.sspapi
check "in any order" cmp x.sspapi z.sspapi
sed '/os_index="1"/s/L1Cache/L2Cache/; s/<object type="PU" os_index="7"[^>]*>//' \
	"$root/tests/topo/v1-no-numa.xml" >machine.xml
SSPAPI_TOPOLOGY=$tmp/machine.xml SSPAPI_OUTPUT=$tmp/other.sspapi run_shim m env PMI_RANK=4 \
	"$scenes/one" EV_A
is "other CPUs do" "$("$sspapi" report -f json m1.sspapi other.sspapi >m.json; json m.json 'scalar
	grep { $_->{type} eq "Machine" } @{$d->{topology}{components}}')" 2
done_testing

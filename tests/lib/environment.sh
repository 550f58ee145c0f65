# environment.sh [NAMES]: prints a program's environment (without the variables NAMES, A|B), limits,
# signals and descriptors.
env | sort | grep -Ev "^(_${1:+|$1})="
ulimit -Sn
ulimit -Hn
grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status
ls /proc/self/fd

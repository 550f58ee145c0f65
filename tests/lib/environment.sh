# environment.sh [NAMES]: what a program finds around it: its environment, but for the variables NAMES (A|B), limits, signals, descriptors.
env | sort | grep -Ev "^(_${1:+|$1})="
ulimit -Sn
ulimit -Hn
grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status
ls /proc/self/fd

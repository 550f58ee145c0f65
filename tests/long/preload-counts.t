# Counts programs without PAPI by a preload (tests/preload/beside.c) while their threads are moved
# every 0.3 ms: they behave as without both. Programs that are not installed are skipped.
. tests/lib/lib.sh
[ -z "${SANITIZE-}" ] || skip_all "sanitized"
need_real_papi
LIMIT=60
mover=$B/tests/long/mover
BESIDE=$SHIM${MORE:+:$MORE}:$preloads/beside.so
cd "$tmp" || exit 1

cat >python3.sh <<-'END'
	exec "$1" env LD_PRELOAD="$COUNTED" python3 -c '
	import hashlib, subprocess, threading
	out = [0] * 4
	def work(i):
	    b = bytearray()
	    for k in range(500):
	        b += bytes([(i * k) % 256]) * 1000
	    out[i] = hashlib.sha256(b).hexdigest()
	threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
	[t.start() for t in threads]
	[t.join() for t in threads]
	print(out, subprocess.run(["sh", "-c", "exit 3"]).returncode)
	raise SystemExit(5)'
END

cat >redis-server.sh <<-'END'
	rm -rf redis
	mkdir redis
	"$1" env LD_PRELOAD="$COUNTED" redis-server --port 0 --unixsocket "$PWD/redis/s" --save '' --dir "$PWD/redis" --io-threads 2 \
		--enable-debug-command yes >redis/log 2>&1 &
	until [ -S redis/s ] || ! kill -0 $!; do sleep 0.01; done
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "set k$i $i"; echo "rpush l $i$i"; echo "zadd z $i m$i"; echo "hset h f$i v$i"
	done | redis-cli -s redis/s
	redis-cli -s redis/s eval 'local s = 0 for i = 1, 100000 do s = s + i end return s' 0
	redis-cli -s redis/s debug digest
	redis-cli -s redis/s shutdown nosave
	wait $!
	echo "status $?"
END

cat >nginx.sh <<-'END'
	rm -rf nginx
	mkdir -p nginx/www
	chmod -R 755 nginx
	head -c 300000 /dev/zero | tr '\0' x >nginx/www/large
	temp=''
	for what in client_body proxy fastcgi uwsgi scgi; do temp="$temp ${what}_temp_path $PWD/nginx/$what;"; done
	echo "daemon off; pid $PWD/nginx/pid; error_log $PWD/nginx/errors; worker_processes 2; events { }
		http { access_log off; $temp gzip on; gzip_types *; server { listen unix:$PWD/nginx/s; root $PWD/nginx/www; } }" >nginx/conf
	"$1" env LD_PRELOAD="$COUNTED" nginx -c "$PWD/nginx/conf" >nginx/log 2>&1 &
	until [ -S nginx/s ] || ! kill -0 $!; do sleep 0.01; done
	for path in large none large none; do
		curl -s --compressed -w '%{http_code}' --unix-socket nginx/s "http://localhost/$path" | cksum
	done
	kill -QUIT "$(cat nginx/pid)"
	wait $!
	echo "status $?"
END

# $COUNTED is what the program must preload; other tools do not.
for program in python3 redis-server nginx; do
	case $program in nginx) tool=curl ;; *) tool=$program ;; esac
	command -v $program >/dev/null && command -v $tool >/dev/null ||
		{ skip "$program" "not installed"; continue; }
	run native env COUNTED= sh $program.sh "$mover"
	check "$program: it did something" test -s native.out
	for mode in auto exact; do
		rm -rf dumps
		run shim env COUNTED="$BESIDE" SSPAPI_ATTRIBUTION=$mode \
			SSPAPI_OUTPUT="$tmp/dumps/%p.json" sh $program.sh "$mover"
		check "$program, $mode: it sees no difference" same_as_native native shim
		check "$program, $mode: it was counted" grep -qE '"total": ?\[[1-9]' -r dumps
	done
done
done_testing

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
redis-cli -s redis/s shutdown save
wait $!
echo "status $?"

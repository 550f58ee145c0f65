rm -rf nginx
mkdir -p nginx/www
head -c 300000 /dev/zero | tr '\0' x >nginx/www/large
temp=''
for what in client_body proxy fastcgi uwsgi scgi; do temp="$temp ${what}_temp_path $PWD/nginx/$what;"; done
echo "daemon off; pid $PWD/nginx/pid; error_log $PWD/nginx/errors; worker_processes 2; user $(id -un) $(id -gn);
events { } http { access_log off; $temp gzip on; gzip_types *; server { listen unix:$PWD/nginx/s; root $PWD/nginx/www; } }" >nginx/conf
"$1" env LD_PRELOAD="$COUNTED" nginx -c "$PWD/nginx/conf" >nginx/log 2>&1 &
until [ -S nginx/s ] || ! kill -0 $!; do sleep 0.01; done
for path in large none large none; do
curl -s --compressed -w '%{http_code} %{size_download}\n' --unix-socket nginx/s "http://localhost/$path" | cksum
done
kill -QUIT "$(cat nginx/pid)"
wait $!
echo "status $?"

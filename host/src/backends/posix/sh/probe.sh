# Looks at the place once: where the root really is, and what there is to work with.
printf 'ok\n'
for tool in cat chmod chown dd env find grep head id ln ls mkdir mv od readlink rm rmdir sleep stat tail unlink; do
    command -v "$tool" >/dev/null || printf 'lacks %s\n' "$tool"
done
sleep 0.01 2>/dev/null && printf 'has fraction\n'
[ -e /proc/self/fd/0 ] && printf 'has proc\n'
grep -q '^mnt_id:' /proc/self/fdinfo/0 2>/dev/null && printf 'has mounts\n'
if bash --posix -c 'set -m; wait -f 2>/dev/null' 2>/dev/null; then
    printf 'has bash\n'
fi
if command -v setsid >/dev/null && command time -o /dev/null true >/dev/null 2>&1; then
    printf 'has time\n'
fi
if [ "$1" != "${1#/}" ] && cd -P -- "$1" 2>/dev/null; then
    printf 'root\n%s' "$PWD"
else
    printf 'no root\n'
fi

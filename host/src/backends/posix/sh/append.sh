# Adds what is on standard input to a file. Arguments as for a write.
begin "$path"
if [ -z "$found" ]; then
    check_version "$7" "$6"
    stage "$4" "$5"
    settle 644 ''
    place
    printf 'made\n'
    exit 0
fi
check_version "$7" "$6"
# Readable too, for the version: what cannot be told is not begun.
[ -r "./$name" ] || fault denied
length_before=$size mode_before=$mode
# First beside it, so that an input that is cut leaves no part of it.
stage "$4" "$5"
{ command exec 4>>"./$name"; } || fault system
is_named 4 || fault unsteady
cat "$staged" >&4 || {
    dd if=/dev/null of="./$name" bs=1 seek="$length_before" count=0 2>/dev/null
    fault system
}
if has executable; then
    bits=$((0$mode_before))
    chmod "$(printf %o $((bits | ((bits & 0444) >> 2))))" "./$name" || fault system
fi
rm -f "$staged"
temporary= made=
open_file || fault unsteady
send "$7" ok

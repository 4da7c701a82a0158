# Starts the resident for this machine; takes it from standard input first where it is not there as it should be.
#
# Before this stand `mark`, which begins every line that is an answer, `arguments` for the resident, and `residents`,
# three words for each: a machine, a SHA-256, a size in bytes. All of it is one compound command, which a shell reads to its end before it
# does any of it: so what comes on standard input afterwards is the resident's bytes, or its stream, and never a
# command. Whatever fails once bytes were asked for ends the shell.

say() { printf '%s %s\n' "$mark" "$*"; }
fail() { say failed "$@"; exit 1; }

set -f
umask 077
LC_ALL=C
export LC_ALL
cd / || fail folder

machine="$(uname -s) $(uname -m)"
hash= size=
set -- $residents
while [ $# -ge 3 ]; do
	[ "Linux $1" != "$machine" ] || { hash=$2 size=$3; }
	shift 3
done
[ -n "$hash" ] || fail machine "$machine"

if command -v sha256sum >/dev/null 2>&1; then
	sum=sha256sum
elif command -v shasum >/dev/null 2>&1; then
	sum='shasum -a 256'
elif command -v openssl >/dev/null 2>&1; then
	sum='openssl dgst -sha256 -r'
else
	fail no-hash
fi
is_right() {
	set -- $($sum <"$1")
	[ "${1-}" = "$hash" ]
}

folder=${XDG_CACHE_HOME-}
case $folder in
/*) ;;
*) folder=${HOME-}/.cache ;;
esac
folder=$folder/belljar/residents
mkdir -p "$folder" && [ ! -h "$folder" ] && cd "$folder" || fail folder
# Of its user alone: what others can write, they could put in place of what was checked. From here on it is the one that
# is checked, whatever its path comes to mean: others may write to what it lies in.
set -- $(ls -ldn .)
case "${1-} ${3-}" in
drwx------*" $(id -u)") ;;
*) fail folder ;;
esac

program=./$hash
if ! { [ -f "$program" ] && [ ! -h "$program" ] && is_right "$program"; }; then
	# What was begun a day ago and more is nobody's any more.
	find . -name '*.part' -mtime +0 -exec rm -f {} +
	part=./$mark.part
	trap 'rm -f "$part"' EXIT
	trap 'exit 1' HUP INT PIPE TERM
	: >"$part" || fail write
	say need "$hash"
	head -c "$size" >"$part" || fail write
	is_right "$part" || fail hash
	chmod 700 "$part" && mv -f "$part" "$program" || fail write
	trap - EXIT
fi
say run
# Not by the shell itself: some look for what they start by the path that the folder had.
exec env "$program" $arguments

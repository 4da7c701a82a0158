# Copies a file. $4: the target's path; $5: words that say how it is found; the rest as for a write from its $4 on.
open_path "$path"
exec 6<&3
source_mode=$mode source_owner=$owner
source=${identity%"${identity#*:*:}"}
source_identity=$identity source_size=$size
who=2 flags=$5
begin "$4"
check_version "$9" "$8"
if [ -n "$found" ] && [ "${identity%"${identity#*:*:}"}" = "$source" ]; then
    exec 3<&6
    size=$source_size identity=$source_identity
    send "$9" ok
    exit 0
fi
owner_before=
[ -n "$found" ] && owner_before=$owner
exec 0<&6
stage "$6" ''
# A program that runs as the source's owner must not come to run as another.
[ "${owner_before:-$mine}" = "$source_owner" ] || source_mode=$(printf %o $((0$source_mode & 01777)))
settle "$source_mode" "$owner_before"
place
open_file || fault unsteady
send "$9" ok

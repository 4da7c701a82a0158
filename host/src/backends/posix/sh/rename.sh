# Moves what has a path. $4: the target's path; $5: words for it; $6: what the old target was recognized by; $7: the
# most bytes of a content.
look() {
    shape=none
    if [ -L "./$last" ]; then
        shape=link
    elif [ -d "./$last" ]; then
        shape=directory
    elif [ -f "./$last" ]; then
        shape=file
    elif [ -e "./$last" ]; then
        shape=other
    fi
    if [ "$shape" != none ] && [ "$shape" != directory ] && has must_be_directory; then
        fault not_directory
    fi
    device=$(stat -c %d .) || fault unsteady
}
# Sets `mount` to the one that descriptor $1 is in; a bind mount has the device of what it shows. Empty where that is
# not told.
mount_of() {
    mount=
    [ -r "/proc/self/fdinfo/$1" ] || return 0
    while read -r key value; do
        [ "$key" = mnt_id: ] && mount=$value
    done <"/proc/self/fdinfo/$1"
    return 0
}

holder "$path"
look
[ "$shape" = none ] && fault missing
from=$shape from_at=${at:+$at/}$last from_device=$device from_name=$last
moved=$PWD/$last mount=
# A handle: the path may lead elsewhere when it is used.
if { command exec 6<.; } 2>/dev/null && [ -e /proc/self/fd/6 ]; then
    moved=/proc/self/fd/6/$last
    mount_of 6
fi
from_mount=$mount
who=2 flags=$5
holder "$4"
look
if [ "$shape" = none ] && has must_be_directory && [ "$from" != directory ]; then
    fault not_directory
fi
if has absent && [ "$shape" != none ]; then
    fault exists
fi
if has version; then
    case $from:$shape in
    *:none) fault version_gone ;;
    directory:file) fault not_directory ;;
    *:file) ;;
    directory:*) fault changed_kind ;;
    *:directory) fault directory ;;
    *) fault changed_kind ;;
    esac
    name=$last found=1
    facts "./$name" || fault changed
    check_version "$7" "$6"
fi
to_at=${at:+$at/}$last
[ "$from_at" = "$to_at" ] && { printf 'done\n'; exit 0; }
case $to_at/ in "$from_at"/*) fault into_itself ;; esac
[ "$from_device" = "$device" ] || fault across
if [ -n "$from_mount" ] && { command exec 7<.; } 2>/dev/null; then
    mount_of 7
    # Else the utility would copy, and then remove.
    [ -z "$mount" ] || [ "$from_mount" = "$mount" ] || fault across
fi
case $from:$shape in
directory:directory)
    # An empty one gives way in the same step.
    mv -f -T "$moved" "./$last" 2>/dev/null && { printf 'done\n'; exit 0; }
    [ -d "./$last" ] && [ -r "./$last" ] && [ -n "$(ls -A "./$last" 2>/dev/null)" ] && fault not_empty
    ;;
*:directory) fault directory ;;
directory:file | directory:link | directory:other) fault not_directory ;;
*:file | *:link | *:other)
    one=$(stat -c '%d:%i' "$moved") two=$(stat -c '%d:%i' "./$last")
    if [ "$one" = "$two" ]; then
        # The system does nothing when both are names of one file, and both names stay.
        unlink "$moved" || fault system
        printf 'done\n'
        exit 0
    fi
    ;;
esac
mv -f -T "$moved" "./$last" || fault system
printf 'done\n'

# Says what a program sees of itself and of what it runs in, as the kernel says it. $1 is a word that nobody can guess,
# which begins each part; $2 the workspace; $3 the most bytes of a text and $4 those of a word, each and one more; $5 the
# name of a file that nobody has.
# A part is a kind, a space, a name, a line end, and what there is to say.
LC_ALL=C
export LC_ALL
word=$1 workspace=$2 text=$3 few=$4 nobodys=$5
cgroups=/sys/fs/cgroup

part() {
    printf '%s%s %s\n' "$word" "$1" "$2"
}

tell() {
    if [ ! -e "$2" ]; then
        part absent "$1"
        return
    fi
    part text "$1"
    head -c "$text" "$2" 2>/dev/null || part unknown "$1"
}

# The limit in file $2 of controller $1 (the files are those that a resident looks at, too), whose name is empty in the second version of cgroups: where a container sees
# its own group as the root of all, and where the kernel says that its own is.
limit() {
    own=
    if [ -r /proc/self/cgroup ]; then
        while IFS=: read -r _ controllers place; do
            case ,$controllers, in
            *,"$1",*)
                own=$place
                break
                ;;
            esac
        done </proc/self/cgroup
    fi
    case $own/ in / | // | */../*) own= ;; esac
    folder=$cgroups${1:+/$1}
    for file in "$folder/$2" ${own:+"$folder$own/$2"}; do
        [ -r "$file" ] || continue
        part limit "$file"
        head -c "$few" "$file" 2>/dev/null
    done
}

# Whether a file can be made in directory $2; it is removed at once.
try() {
    file=$2/$nobodys
    if said=$( (
        set -C
        : >"$file"
    ) 2>&1); then
        rm -f "$file"
        part possible "$1"
    else
        part refused "$1"
        printf '%s' "$said"
    fi
}

printf 'ok\n'
part pid ''
printf '%s' "$$"
part machine ''
cat /proc/sys/kernel/arch 2>/dev/null || uname -m 2>/dev/null
tell status /proc/self/status
tell mounts /proc/self/mountinfo
tell interfaces /proc/self/net/dev
tell routes /proc/self/net/route
tell ipv6-routes /proc/self/net/ipv6_route
for name in pids.max memory.max memory.swap.max cpu.max; do
    limit '' "$name"
done
limit pids pids.max
limit memory memory.limit_in_bytes
limit memory memory.memsw.limit_in_bytes
limit cpu cpu.cfs_quota_us
limit cpu cpu.cfs_period_us
try root /
try workspace "$workspace"
try tmp /tmp
part end ''

# What every script begins with. Arguments are data and never text of a shell: $1 is the root's physical path
# without a slash at its end, $2 a path below it, $3 words that say how.
LC_ALL=C
export LC_ALL
unset CDPATH
umask 022
newline='
'
base=$1 path=$2 flags=$3
who=1 temporary= made= made_in= found= final_look=

has() {
    case " $flags " in *" $1 "*) return 0 ;; esac
    return 1
}

# Says what is wrong, and ends. The word is one of a closed set.
fault() {
    tidy
    printf 'fault %s %s\n' "$1" "$who"
    exit 0
}

# Takes away what was made for a change that failed.
tidy() {
    if [ -n "$temporary" ]; then
        rm -f "$temporary"
        temporary=
    fi
    if [ -n "$made" ]; then
        at=$made_in
        if cd -P -- "$base/$at" 2>/dev/null && is_here; then
            # What somebody has put something in stays.
            rmdir -p "./$made" 2>/dev/null
        fi
        made=
    fi
}

# Whether the working directory is where the names from the root on say.
is_here() {
    if [ -n "$at" ]; then
        [ "$PWD" = "$base/$at" ]
    else
        [ "${PWD%/}" = "$base" ]
    fi
}

# Makes a directory on the way, or takes the one that another has made meanwhile.
make_directory() {
    if mkdir "./$1" 2>/dev/null; then
        if [ -n "$made" ]; then
            made=$made/$1
        else
            made=$1 made_in=$at
        fi
    elif [ -d "./$1" ] && [ ! -L "./$1" ]; then
        # Somebody works in what we have made: it is no longer ours alone.
        made=
    else
        is_gone && return 1
        mkdir "./$1" || fault system
    fi
    return 0
}

# Whether the working directory was removed while we are in it.
is_gone() {
    [ ! -e "$PWD/." ]
}

# Follows a path from the root, every link on the way, and never out. Afterwards the working directory is a
# handle of what holds `name` (or, with kind=directory, of the directory itself), and `at` its path.
follow() {
    tries=0
    until follow_once "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 16 ] || fault unsteady
    done
}

follow_once() {
    rest=$1 inner= links=0 at= name= kind=directory
    cd -P -- "$base/" 2>/dev/null || fault gone
    is_here || fault gone
    while [ -n "$inner$rest" ]; do
        # What a link says comes before what is left of the path.
        if [ -n "$inner" ]; then
            own= next=$inner
            case $inner in
            */*) next=${inner%%/*} inner=${inner#*/} ;;
            *) inner= ;;
            esac
        else
            own=1 next=$rest
            case $rest in
            */*) next=${rest%%/*} rest=${rest#*/} ;;
            *) rest= ;;
            esac
        fi
        case $next in
        '' | .) continue ;;
        ..)
            # Not by the directory's own `..`: it may have been moved meanwhile.
            [ -n "$at" ] || fault leaves
            case $at in
            */*) at=${at%/*} ;;
            *) at= ;;
            esac
            cd -P -- "$base/$at" 2>/dev/null && is_here || return 1
            continue
            ;;
        esac
        if [ -L "./$next" ]; then
            has no_links && fault link
            links=$((links + 1))
            [ "$links" -le 40 ] || fault loop
            text=$(readlink "./$next" && printf x) || return 1
            text=${text%x} text=${text%"$newline"}
            case $text in
            '') fault dangling ;;
            /*) fault leaves ;;
            # Only a directory may end with a slash.
            */) text=$text. ;;
            esac
            inner=$text${inner:+/$inner}
            continue
        fi
        if [ -d "./$next" ]; then
            if cd -P "./$next" 2>/dev/null; then
                at=${at:+$at/}$next
                is_here || return 1
                continue
            fi
            { [ -d "./$next" ] && [ ! -L "./$next" ]; } || return 1
            name=$next
            has make_last && [ -z "$inner$rest" ] && return 0
            fault denied
        fi
        if [ -e "./$next" ]; then
            # It came in between.
            { [ -d "./$next" ] || [ -L "./$next" ]; } && return 1
            [ -z "$inner$rest" ] || fault not_directory
            name=$next kind=entry
            return 0
        fi
        is_gone && return 1
        if [ -z "$own" ]; then
            [ -z "$rest" ] && fault dangling_last
            fault dangling
        fi
        if [ -z "$inner$rest" ]; then
            name=$next kind=missing
            has make_last || return 0
        elif [ -n "$final_look" ]; then
            kind=nowhere
            return 0
        elif ! has make; then
            fault missing
        fi
        make_directory "$next" || return 1
        if cd -P "./$next" 2>/dev/null; then
            at=${at:+$at/}$next
            is_here || return 1
            kind=directory name=
        else
            return 1
        fi
    done
    return 0
}

# The directory that holds a path's last name, which is not looked at.
holder() {
    case $1 in
    */*) follow "${1%/*}" ;;
    *) follow '' ;;
    esac
    last=${1##*/}
    case $kind in
    entry) fault not_directory ;;
    missing) [ -n "$final_look" ] || fault missing ;;
    esac
}

# What `stat` says of a file: mode, owner, and what it is recognized by.
facts() {
    seen=$(stat -L -c '%a %u:%g %s %d:%i:%s:%y:%z' "$1") || return 1
    mode=${seen%% *} seen=${seen#* }
    owner=${seen%% *} seen=${seen#* }
    size=${seen%% *} identity=${seen#* }
}

# Whether an open file is the one that the name was: a link may have been put there before it was opened.
is_named() {
    [ -e "/proc/self/fd/$1" ] || return 0
    opened=$(readlink "/proc/self/fd/$1" && printf x) || return 1
    opened=${opened%x} opened=${opened%"$newline"}
    right=$base/${at:+$at/}$name
    [ "$opened" = "$right" ] || [ "$opened" = "$right (deleted)" ]
}

# Opens the regular file at `name` as descriptor 3, with its facts; fails when it was swapped meanwhile.
open_file() {
    [ -L "./$name" ] && return 1
    [ -f "./$name" ] || {
        [ -e "./$name" ] && fault not_file
        return 1
    }
    [ -r "./$name" ] || {
        [ -e "./$name" ] || return 1
        fault denied
    }
    { command exec 3<"./$name"; } 2>/dev/null || return 1
    is_named 3 || return 1
    if [ -e /proc/self/fd/3 ]; then
        facts /proc/self/fd/3
    else
        facts "./$name"
    fi
}

# Opens what a path leads to.
open_path() {
    rounds=0
    while :; do
        follow "$1"
        case $kind in
        directory) fault directory ;;
        missing) fault missing ;;
        esac
        has must_be_directory && fault not_directory
        open_file && return 0
        rounds=$((rounds + 1))
        [ "$rounds" -lt 16 ] || fault unsteady
    done
}

# Gives the opened file: its facts, and its content when it has no more than $1 bytes.
send() {
    printf '%s %s %s\n' "$2" "$size" "$identity"
    [ "$size" -gt "$1" ] || cat <&3
}

# The beginning and the end of every change to one file.

# With `absent`, whatever has the name is too much; a link is not followed for it.
refuse_anything() {
    [ -n "$1" ] || fault exists
    final_look=1
    holder "$1"
    final_look=
    case $kind in nowhere | missing) return 0 ;; esac
    if [ -e "./$last" ] || [ -L "./$last" ]; then
        if has must_be_directory && { [ -L "./$last" ] || [ ! -d "./$last" ]; }; then
            fault not_directory
        fi
        fault exists
    fi
}

# Finds the file to change, and checks that it may be changed. `found` says whether it is there.
begin() {
    has absent && refuse_anything "$1"
    follow "$1"
    [ "$kind" = directory ] && fault directory
    has must_be_directory && fault not_directory
    found=
    [ "$kind" = entry ] || return 0
    has absent && fault exists
    [ -f "./$name" ] || fault not_file
    facts "./$name" || fault unsteady
    found=1
    [ $((0$mode & 0200)) -ne 0 ] || fault unwritable
    [ -w "./$name" ] || fault denied
}

# With a version: gives the content to look at when it was not looked at yet; else it must be the same file still.
check_version() {
    has version || return 0
    [ -n "$found" ] || fault version_gone
    if [ -z "$2" ]; then
        open_file || fault changed
        send "$1" old
        exit 0
    fi
    [ "$identity" = "$2" ] || fault changed
}

# Takes what is on descriptor 0 into a new file beside the place, whole or not at all. $1 is its name, $2 the
# length, empty when any is right.
stage() {
    trap 'tidy; exit 1' TERM HUP INT
    # Before it is there: a signal may come in between.
    temporary=$PWD/$1
    staged=./$1
    umask 077
    set -C
    { command exec 5>"./$1"; } || fault system
    set +C
    umask 022
    cat >&5 || fault system
    exec 5>&-
    seen=$(stat -c '%s %u:%g' "$staged") || fault system
    [ -z "$2" ] || [ "${seen%% *}" = "$2" ] || fault cut
    mine=${seen#* }
}

# Gives the staged file the mode $1, and the owner $2 where that is another.
settle() {
    bits=$((0$1))
    if [ -n "$2" ] && [ "$mine" != "$2" ]; then
        # A program of theirs must not become one that runs as us.
        chown "$2" "$staged" 2>/dev/null || bits=$((bits & 01777))
    fi
    has executable && bits=$((bits | ((bits & 0444) >> 2)))
    chmod "$(printf %o "$bits")" "$staged" || fault system
}

# The staged file takes the place.
place() {
    if has absent; then
        # A second name can only be given where there is none.
        if ln -n "$staged" "./$name" 2>/dev/null; then
            rm -f "$staged"
            temporary= made=
            return 0
        fi
        { [ -e "./$name" ] || [ -L "./$name" ]; } && fault exists
    fi
    mv -f -T "$staged" "./$name" || {
        [ -d "./$name" ] && fault directory
        fault system
    }
    temporary= made=
}

# Becomes the program. Its variables come first on standard input, then what it is to read. Names with _b_ are ours, and no
# variable of a process has one.
_b_word=$1 _b_input=$2 _b_tools=$3
shift 3

_b_say() {
    trap - EXIT
    printf '\n%s fault %s\n' "$_b_word" "$1" >&2
    exit 125
}

# Sets `_b_shown` to what must be the same in the headers of two programs.
_b_kind() {
    _b_shown=${1# 7f 45 4c 46}
    _b_shown=${_b_shown%"${_b_shown# ?? ??}"}${1#"${1% ?? ??}"}
}

unset SHLVL OLDPWD _b_path
IFS= read -r _b_count || _b_say cut
while [ "$_b_count" -gt 0 ]; do
    IFS= read -r _b_name && IFS= read -r _b_lines && IFS= read -r _b_value || _b_say cut
    while [ "$_b_lines" -gt 0 ]; do
        IFS= read -r _b_line || _b_say cut
        _b_value=$_b_value'
'$_b_line
        _b_lines=$((_b_lines - 1))
    done
    case $_b_name in
    PATH) _b_path=$_b_value ;;
    *) export "$_b_name=$_b_value" ;;
    esac
    _b_count=$((_b_count - 1))
done

_b_file=
_b_reason=program_not_found
case $1 in
*/*)
    _b_file=$1
    case $1 in
    /*) ;;
    *) _b_file=./$1 ;;
    esac
    if [ -e "$_b_file" ]; then
        { [ -f "$_b_file" ] && [ -x "$_b_file" ]; } || _b_say not_executable
    else
        _b_say program_not_found
    fi
    ;;
*)
    _b_rest=$_b_path:
    while [ -n "$_b_rest" ]; do
        _b_place=${_b_rest%%:*} _b_rest=${_b_rest#*:}
        _b_candidate=${_b_place:-.}/$1
        case $_b_candidate in
        /*) ;;
        *) _b_candidate=./$_b_candidate ;;
        esac
        if [ -f "$_b_candidate" ] && [ -x "$_b_candidate" ]; then
            _b_file=$_b_candidate
            break
        elif [ -f "$_b_candidate" ]; then
            _b_reason=not_executable
        fi
    done
    [ -n "$_b_file" ] || _b_say "$_b_reason"
    ;;
esac

# A shell runs what has neither `#!` nor a header as its own text, and what is for another machine too.
if [ -r "$_b_file" ]; then
    _b_head=$(PATH=$_b_tools od -An -tx1 -N20 "$_b_file")
    case $_b_head in
    ' 23 21'*) ;;
    ' 7f 45 4c 46'*)
        # Class, byte order and machine are those of a program that runs.
        if [ -r /proc/self/exe ]; then
            _b_own=$(PATH=$_b_tools od -An -tx1 -N20 /proc/self/exe)
            _b_kind "$_b_head"
            _b_right=$_b_shown
            _b_kind "$_b_own"
            [ "$_b_right" = "$_b_shown" ] || _b_say not_executable
        fi
        ;;
    *) _b_say not_executable ;;
    esac
fi
shift
[ "$_b_input" = pipe ] || exec </dev/null
# What does not become the program comes here.
trap '_b_say not_executable' EXIT
[ -n "$BASH_VERSION" ] && shopt -s execfail
PATH=$_b_path
export PATH
exec "$_b_file" "$@"
_b_say not_executable

# Runs a program. $2 is its directory; $4 a word that nobody can guess, by which what we say on standard error is told
# from what the program says; $5 the marker of the process; $6 its time limit in seconds; $7 how the way in which it ends is
# learned; $8 the script that becomes the program; $9 what its standard input is; the rest the program and its arguments.
word=$4 marker=$5 limit=$6 how=$7 leader=$8 input=$9
shift 9
tools=$PATH

fault() {
    printf '\n%s fault %s\n' "$word" "$1" >&2
    exit 0
}

follow "$path"
case $kind in
missing) fault missing ;;
entry) fault not_directory ;;
esac
# What this shell has to say of its children is not the program's.
exec 3>&1 4>&2 2>/dev/null

become() {
    exec env -i sh -c "$leader" sh "$word" "$input" "$tools" "$@"
}

(
    trap 'kill "$sleeper"; exit 0' TERM
    sleep "$limit" &
    sleeper=$!
    wait "$sleeper"
    trap 'exit 9' TERM
    end_kin "$marker" none 5
    exit 9
) <&- >/dev/null 3>&- 4>&- &
watch=$!

case $how in
bash)
    report=$(
        set -m
        trap jobs CHLD
        become "$@" <&0 >&3 2>&4 3>&- 4>&- &
        child=$!
        until wait -f "$child"; code=$?; ! kill -0 "$child"; do :; done
        wait "$child"
        printf 'group %s\ncode %s\n' "$child" "$?"
    )
    ;;
time)
    report=$(
        exec 5>&1
        command time -o /dev/fd/5 setsid sh -c 'printf "group %s\n" "$$" >&5; exec 5>&-; exec env -i sh "$@"' \
            sh -c "$leader" sh "$word" "$input" "$tools" "$@" >&3 2>&4 3>&- 4>&-
        printf 'code %s\n' "$?"
    )
    ;;
*)
    report=$(
        (become "$@" >&3 2>&4 3>&- 4>&-)
        printf 'code %s\n' "$?"
    )
    ;;
esac
code=${report##*code }
group=none
case $report in *"group "*) group=${report##*group } group=${group%%"$newline"*} ;; esac
how_ended=exited
case $how:$report in
time:*' terminated by signal '*)
    how_ended=signalled code=${report##* terminated by signal } code=${code%%"$newline"*}
    ;;
time:* | bash:*'  Done'* | bash:*'  Exit'*) ;;
*)
    # Without a witness, a code over 128 can be either; a signal is what it usually is.
    [ "$code" -gt 128 ] && [ "$code" -le 192 ] && how_ended=signalled code=$((code - 128))
    ;;
esac
kill "$watch"
# Nothing that it left in the background outlives it.
end_kin "$marker" "$group" 0
wait "$watch"
[ "$?" = 9 ] && how_ended=timed-out
printf '\n%s %s %s\n' "$word" "$how_ended" "$code" >&4

# Finds and ends all of a process: what has its marker in the environment, what is in its groups, and what they have started.

# Sets `kin` to the ids of what has the marker $1 or the group $2, and of all below. Needs /proc.
find_kin() {
    kin=' ' table= groups=" $2 "
    for seen in $(grep -l -s -z -F -e "BELLJAR_PROCESS=$1" /proc/[0-9]*/environ 2>/dev/null); do
        seen=${seen#/proc/}
        kin="$kin${seen%/environ} "
    done
    # Without one of them there is none below.
    if [ "$kin" = ' ' ] && { [ "$2" = none ] || ! kill -0 "-$2" 2>/dev/null; }; then
        kin=
        return 0
    fi
    for seen in /proc/[0-9]*/stat; do
        { read -r line <"$seen"; } 2>/dev/null || continue
        line=${line##*) }
        seen=${seen#/proc/} seen=${seen%/stat}
        case $line in
        Z* | X*)
            case $kin in *" $seen "*) kin="${kin%%" $seen "*} ${kin#*" $seen "}" ;; esac
            ;;
        *)
            line=${line#* }
            parent=${line%% *} line=${line#* }
            group=${line%% *} line=${line#* }
            session=${line%% *}
            table="$table$seen $parent $group $session
"
            ;;
        esac
    done
    grown=1
    while [ -n "$grown" ]; do
        grown=
        while read -r seen parent group session; do
            [ -n "$seen" ] || continue
            case $kin in *" $seen "*) continue ;; esac
            case $kin$groups in
            *" $parent "* | *" $group "* | *" $session "*) ;;
            *) continue ;;
            esac
            # Never ourselves.
            [ "$seen" = "$$" ] && continue
            kin="$kin$seen " grown=1
        done <<TABLE
$table
TABLE
    done
    kin=${kin# }
}

# Sets `now` to hundredths of a second since the system began.
look_at_clock() {
    read -r now line </proc/uptime
    now=${now%.*}${now#*.}
}

# Whether any of what was found runs still.
any_lives() {
    for seen in $kin; do
        { read -r line <"/proc/$seen/stat"; } 2>/dev/null || continue
        case ${line##*) } in
        Z* | X*) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

# Ends all of it. $3 is the time between SIGTERM and SIGKILL, in hundredths of a second.
end_kin() {
    find_kin "$1" "$2"
    [ -n "$kin" ] || return 0
    ended=1
    if [ "$3" -gt 0 ]; then
        kill -TERM $kin 2>/dev/null
        look_at_clock
        until=$((now + $3))
        while [ "$now" -lt "$until" ] && any_lives; do
            sleep 0.01 2>/dev/null || sleep 1
            look_at_clock
        done
        # What was started since then has the marker, too.
        find_kin "$1" "$2"
    fi
    rounds=0
    while [ -n "$kin" ] && [ "$rounds" -lt 100 ]; do
        kill -KILL $kin 2>/dev/null
        any_lives && sleep 0.01 2>/dev/null
        find_kin "$1" "$2"
        rounds=$((rounds + 1))
    done
}

# Looks commands up: $4 is where, the rest are their names. Gives a line for each: the number of its directory in the
# list, from 1, or 0.
looked=$4
shift 4
follow ''
printf 'ok\n'
for wanted do
    rest=$looked: number=0 right=0
    while [ -n "$rest" ]; do
        place=${rest%%:*} rest=${rest#*:} number=$((number + 1))
        if [ -f "${place:-.}/$wanted" ] && [ -x "${place:-.}/$wanted" ]; then
            right=$number
            break
        fi
    done
    printf '%s\n' "$right"
done

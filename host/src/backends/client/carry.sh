# Runs a program, and prints how it ended and what it printed.
# $1: what the names of this call's files begin with; $2: where its input is: file, own (this script's), or null;
# $3: bytes kept of each output; $4: bytes of both that are printed at once as text, or raw; then the program.
b=$1 k=$3 m=$4
case $2 in
file) exec <"$b.in" ;;
null) exec </dev/null ;;
esac
shift 4
umask 077
# To append is to lose nothing where a program opens /dev/stderr anew: that one would write from the file's beginning.
"$@" >>"$b.out" 2>>"$b.err"
c=$?
rm -f "$b.in" "$b.sh"
kept() {
    n=$(wc -c <"$1") || exit 70
    n=$((n)) s=$n
    [ "$n" -gt "$k" ] || return 0
    h=$((k / 2)) s=$k
    { head -c "$h" "$1" && tail -c "$((k - h))" "$1"; } >"$b.cut" && mv -f "$b.cut" "$1" || exit 70
}
kept "$b.out"
o=$n p=$s
kept "$b.err"
if [ "$m" = raw ]; then
    echo "belljar $c $o $n $p $s" && cat "$b.out" "$b.err" || exit 70
    rm -f "$b.out" "$b.err"
    exit 0
fi
echo "belljar $c $o $n"
if [ "$((p + s))" -gt "$m" ]; then
    echo files
else
    od -An -v -tx1 <"$b.out" && echo and && od -An -v -tx1 <"$b.err" && echo end || exit 70
    rm -f "$b.out" "$b.err"
fi
exit 0

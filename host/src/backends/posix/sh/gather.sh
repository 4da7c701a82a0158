# Gives the content of many files below a directory: $4 is a word that nobody can guess, which stands before and after each; $5 the most
# bytes of one; the rest are their paths, each after a `=`, or escaped for `printf` after a `%`.
follow "$path"
[ "$kind" = directory ] || fault missing
word=$4 most=$5
shift 5
printf 'ok\n'
for file do
    case $file in
    %*) file=$(printf '%b.' "${file#%}") file=${file%.} ;;
    *) file=${file#=} ;;
    esac
    printf '%s' "$word"
    if [ -L "./$file" ]; then
        printf l
    elif [ ! -e "./$file" ]; then
        printf n
    elif [ ! -f "./$file" ]; then
        printf s
    elif [ ! -r "./$file" ]; then
        printf u
    else
        printf f
        # What fails in the middle is told after it.
        head -c "$most" "./$file" || printf '%sx' "$word"
    fi
done 2>/dev/null
printf '%s.' "$word"

# Says what a path is. A directory need not let us in for that.
name=.
if [ -n "$path" ]; then
    holder "$path"
    name=$last
    if [ -L "./$name" ]; then
        follow "$path"
        case $kind in
        directory) name=. ;;
        missing) fault missing ;;
        esac
    elif [ ! -e "./$name" ]; then
        fault missing
    fi
else
    follow ''
    name=.
fi
has must_be_directory && [ ! -d "./$name" ] && fault not_directory
seen=$(stat -c '%f %s %Y %y' "./$name") || fault unsteady
printf 'ok %s\n' "$seen"

# Says what a path is, a link not followed.
if [ -z "$path" ]; then
    printf 'ok directory\n'
    exit 0
fi
holder "$path"
if [ -L "./$last" ]; then
    printf 'ok link\n'
elif [ -d "./$last" ]; then
    printf 'ok directory\n'
elif [ -f "./$last" ]; then
    printf 'ok file\n'
elif [ -e "./$last" ]; then
    printf 'ok other\n'
else
    fault missing
fi

# Removes what has a path; a link itself.
holder "$path"
if [ -L "./$last" ] || { [ -e "./$last" ] && [ ! -d "./$last" ]; }; then
    has must_be_directory && fault not_directory
    unlink "./$last" || {
        { [ -e "./$last" ] || [ -L "./$last" ]; } || fault missing
        fault system
    }
elif [ -d "./$last" ]; then
    if ! rmdir "./$last" 2>/dev/null; then
        [ -e "./$last" ] || fault missing
        if has recursive; then
            rm -rf "./$last" || fault system
        elif [ -n "$(ls -A "./$last" 2>/dev/null)" ]; then
            fault not_empty
        else
            rmdir "./$last" || fault system
        fi
    fi
else
    fault missing
fi
printf 'done\n'

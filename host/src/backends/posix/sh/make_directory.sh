# Makes a directory and its missing parents.
follow "$path"
if [ "$kind" = entry ]; then
    has must_be_directory && fault not_directory
    fault exists
fi
made=
printf 'done\n'

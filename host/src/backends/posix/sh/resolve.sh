# Gives a path without its links.
follow "$path"
if [ "$kind" != directory ]; then
    [ "$kind" = entry ] && has must_be_directory && fault not_directory
    at=${at:+$at/}$name
fi
printf 'ok %s\n%s' "$kind" "$at"

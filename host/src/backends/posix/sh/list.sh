# Lists a directory, or with $4 = deep all that is below it: `//`, mode, size and path of each, and a line's end. No path has two
# slashes in a row, so that none can look like the beginning of another.
follow "$path"
[ "$kind" = directory ] || { [ "$kind" = missing ] && fault missing; fault not_directory; }
[ -r . ] || fault denied
printf 'ok\n//base 0 %s\n' "$at"
if [ "$4" = deep ]; then
    find . -exec stat -c '//%f %s %n' {} + 2>/dev/null
    # Whom mode bits bind may be kept out.
    if [ "$(id -u)" != 0 ]; then
        find . -type d -exec sh -c 'for d do
            { [ -r "$d" ] && [ -x "$d" ]; } || printf "//denied 0 %s\n" "$d"
        done' sh {} + 2>/dev/null
    fi
else
    find . -maxdepth 1 -exec stat -c '//%f %s %n' {} + 2>/dev/null
fi
printf '//'

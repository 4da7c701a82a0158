# Reads a file. $4: the most bytes of a content; $5 and $6: offset and length of the part of a larger file.
if has change; then
    has absent && refuse_anything "$path"
    begin "$path"
    [ -n "$found" ] || { has version && fault version_gone; fault missing; }
fi
open_path "$path"
send "$4" ok
if [ "$size" -gt "$4" ] && [ -n "$5" ]; then
    tail -c "+$(($5 + 1))" <&3 | head -c "$6"
fi

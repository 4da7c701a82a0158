# Makes what is on standard input the content of a file. $4: the temporary's name; $5: the length; $6: what the old
# file was recognized by; $7: the most bytes of a content.
begin "$path"
if [ -n "$found" ]; then
    before=$mode owner_before=$owner
else
    before=644 owner_before=
fi
check_version "$7" "$6"
stage "$4" "$5"
settle "$before" "$owner_before"
place
printf 'done\n'

# Ends what has the marker $4. $5: the time between SIGTERM and SIGKILL, in hundredths of a second. Says whether there was any.
ended=
end_kin "$4" none "$5"
printf 'ok %s\n' "${ended:-0}"

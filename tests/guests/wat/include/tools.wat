  ;; Exports the interface `tools`: `describe` of $described and `call` of $code.
  (type $capability (enum
    "read" "write" "run" "start" "user" "modes" "links" "raw-names" "out-of-memory"))
  (type $kind (enum
    "not-found" "already-exists" "is-a-directory" "not-a-directory" "not-a-file" "not-empty"
    "access-denied" "read-only" "unsupported" "invalid-argument" "too-large" "not-utf8" "no-match"
    "several-matches" "stale" "program-not-found" "not-executable" "timed-out" "cancelled" "closed"
    "busy" "no-space" "backend-unavailable" "backend-failed"))
  (type $description (record
    (field "name" string) (field "description" string) (field "input-schema" string)
    (field "output-schema" (option string)) (field "read-only" bool) (field "destructive" bool)
    (field "idempotent" bool) (field "needs" (list $capability))))
  (type $data (record (field "media-type" string) (field "bytes" (list u8))))
  (type $content (variant (case "text" string) (case "data" $data)))
  (type $answer (record (field "content" (list $content)) (field "structured" (option string))))
  (type $failure (record (field "message" string) (field "kind" (option $kind))))
  (type $call-error (variant
    (case "unknown-tool" string) (case "invalid-arguments" string) (case "failed" $failure)))
  (func $describe (result (list $description))
    (canon lift (core func $described "describe") (memory $memory)))
  (func $call
    (param "name" string) (param "arguments" string)
    (result (result $answer (error $call-error)))
    (canon lift (core func $code "call") (memory $memory) (realloc $realloc)))
  (instance (export "belljar:sandbox/tools@0.1.0")
    (export "capability" (type $capability))
    (export "error-kind" (type $kind))
    (export "description" (type $description))
    (export "data" (type $data))
    (export "content" (type $content))
    (export "answer" (type $answer))
    (export "failure" (type $failure))
    (export "call-error" (type $call-error))
    (export "describe" (func $describe))
    (export "call" (func $call)))

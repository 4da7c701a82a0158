;; Gives the host a list of 100,000 texts that are all the same mebibyte: 2 MiB here, 98 GiB there.
(component
  (import "belljar:sandbox/session@0.1.0" (instance $session
    (type $kind-definition (enum
      "not-found" "already-exists" "is-a-directory" "not-a-directory" "not-a-file" "not-empty"
      "access-denied" "read-only" "unsupported" "invalid-argument" "too-large" "not-utf8"
      "no-match" "several-matches" "stale" "program-not-found" "not-executable" "timed-out"
      "cancelled" "closed" "busy" "no-space" "backend-unavailable" "backend-failed"))
    (export "error-kind" (type $kind (eq $kind-definition)))
    (type $error-definition (record
      (field "kind" $kind) (field "operation" string) (field "path" (option string))
      (field "message" string)))
    (export "error" (type $error (eq $error-definition)))
    (type $command-info-definition (record
      (field "name" string) (field "path" (option string)) (field "version" (option string))))
    (export "command-info" (type $command-info (eq $command-info-definition)))
    (export "find-commands"
      (func (param "names" (list string)) (result (result (list $command-info) (error $error)))))))
  ;;include memory
  (alias export $session "find-commands" (func $find-commands))
  (core func $find-commands
    (canon lower (func $find-commands) (memory $memory) (realloc $realloc)))
  (core module $code
    (import "described" "memory" (memory 1))
    (import "session" "find-commands" (func $find-commands (param i32 i32 i32)))
    ;; The one text, of zeros, is at the second page; the list is behind it.
    (global $text i32 (i32.const 65536))
    (global $text-size i32 (i32.const 1048576))
    (global $list i32 (i32.const 1114112))
    (global $count i32 (i32.const 100000))
    (func (export "call") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      ;; 16 pages for the text, 13 for the list.
      (if (i32.eq (memory.grow (i32.const 29)) (i32.const -1)) (then unreachable))
      (local.set $at (global.get $list))
      (loop $next
        (i32.store (local.get $at) (global.get $text))
        (i32.store offset=4 (local.get $at) (global.get $text-size))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $next
          (i32.lt_u
            (local.get $at)
            (i32.add (global.get $list) (i32.mul (global.get $count) (i32.const 8))))))
      ;; The answer goes to 512; nobody looks at it.
      (call $find-commands (global.get $list) (global.get $count) (i32.const 512))
      unreachable))
  (core instance $code (instantiate $code
    (with "described" (instance $described))
    (with "session" (instance (export "find-commands" (func $find-commands))))))
  ;;include tools@0.1.0
)

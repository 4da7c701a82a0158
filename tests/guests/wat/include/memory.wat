  ;; A memory with the description of one tool, `run`, that takes any object.
  (core module $described
    (memory (export "memory") 1)
    ;; list<description>: one, at 32.
    (data (i32.const 16) "\20\00\00\00\01\00\00\00")
    ;; name (3 bytes at 96), description (7 at 100), input-schema (17 at 112), no output-schema,
    ;; neither read-only nor destructive nor idempotent, no needs.
    (data (i32.const 32)
      "\60\00\00\00\03\00\00\00" "\64\00\00\00\07\00\00\00" "\70\00\00\00\11\00\00\00"
      "\00\00\00\00\00\00\00\00\00\00\00\00" "\00\00\00\00" "\00\00\00\00\00\00\00\00")
    (data (i32.const 96) "run")
    (data (i32.const 100) "A test.")
    (data (i32.const 112) "{\22type\22:\22object\22}")
    (func (export "describe") (result i32) (i32.const 16))
    ;; Where the caller puts the arguments: at 1024, aligned to 8, never freed, up to the page's end.
    (global $free (mut i32) (i32.const 1024))
    (func (export "realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (global.get $free))
      (global.set $free
        (i32.and
          (i32.add (i32.add (local.get $at) (local.get $size)) (i32.const 7))
          (i32.const -8)))
      (if (i32.gt_u (global.get $free) (i32.const 65536)) (then unreachable))
      (local.get $at)))
  (core instance $described (instantiate $described))
  (alias core export $described "memory" (core memory $memory))
  (alias core export $described "realloc" (core func $realloc))

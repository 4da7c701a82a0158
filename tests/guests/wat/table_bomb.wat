;; Grows a table by a million entries at a time; traps when it gets no more.
(component
  ;;include memory
  (core module $code
    (table $table 0 funcref)
    (func (export "call") (param i32 i32 i32 i32) (result i32)
      (loop $again
        (br_if $again
          (i32.ne
            (table.grow $table (ref.null func) (i32.const 1000000))
            (i32.const -1))))
      unreachable))
  (core instance $code (instantiate $code))
  ;;include tools@0.1.0
)

;; Traps while it is instantiated.
(component
  ;;include memory
  (core module $code
    (func $start unreachable)
    (start $start)
    (func (export "call") (param i32 i32 i32 i32) (result i32) unreachable))
  (core instance $code (instantiate $code))
  ;;include tools@0.1.0
)

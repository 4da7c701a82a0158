;; Never ends being instantiated.
(component
  ;;include memory
  (core module $code
    (func $start (loop $again (br $again)))
    (start $start)
    (func (export "call") (param i32 i32 i32 i32) (result i32) unreachable))
  (core instance $code (instantiate $code))
  ;;include tools@0.1.0
)

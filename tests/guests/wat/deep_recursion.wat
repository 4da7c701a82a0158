;; Calls itself until its stack is used up.
(component
  ;;include memory
  (core module $code
    (func $descend (param i32) (result i32)
      (i32.add (call $descend (i32.add (local.get 0) (i32.const 1))) (local.get 0)))
    (func (export "call") (param i32 i32 i32 i32) (result i32)
      (call $descend (i32.const 0))))
  (core instance $code (instantiate $code))
  ;;include tools@0.1.0
)

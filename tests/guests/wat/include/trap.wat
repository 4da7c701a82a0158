  ;; A `call` that no test is to reach: the component is refused before.
  (core module $code
    (func (export "call") (param i32 i32 i32 i32) (result i32) unreachable))
  (core instance $code (instantiate $code))
